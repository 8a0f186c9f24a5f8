// Package scheduling has the kinds of the group scheduling.k8s.io: priority classes. Package client/builtin describes
// what all of these packages have in common.
package scheduling

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups scheduling.k8s.io -functions
