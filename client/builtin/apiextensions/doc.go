// Package apiextensions has the kinds of the group apiextensions.k8s.io: definitions of custom resources. The package
// above, client/builtin, says what holds for all of these packages.
package apiextensions

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups apiextensions.k8s.io -functions
