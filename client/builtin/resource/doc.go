// Package resource has the kinds of the group resource.k8s.io: claims, classes and slices of devices. Package
// client/builtin describes what all of these packages have in common.
package resource

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups resource.k8s.io -import io.k8s.api.core.v1=github.com/bowline-go/bowline/client/builtin/core -functions
