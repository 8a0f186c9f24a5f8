// Package resource has the kinds of the group resource.k8s.io: claims, classes and slices of devices. The package
// above, client/builtin, says what holds for all of these packages.
package resource

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups resource.k8s.io -import io.k8s.api.core.v1=github.com/bowline-go/bowline/client/builtin/core -functions
