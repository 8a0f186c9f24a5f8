// Package apiextensions has the kinds of the group apiextensions.k8s.io: definitions of custom resources. Package
// client/builtin describes what all of these packages have in common.
package apiextensions

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups apiextensions.k8s.io -functions
