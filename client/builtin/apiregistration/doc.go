// Package apiregistration has the kinds of the group apiregistration.k8s.io: API services. Package client/builtin
// describes what all of these packages have in common.
package apiregistration

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups apiregistration.k8s.io -functions
