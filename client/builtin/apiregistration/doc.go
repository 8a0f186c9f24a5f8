// Package apiregistration has the kinds of the group apiregistration.k8s.io: API services. The package above,
// client/builtin, says what holds for all of these packages.
package apiregistration

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups apiregistration.k8s.io -functions
