// Package networking has the kinds of the group networking.k8s.io: ingresses, network policies and others. Package
// client/builtin describes what all of these packages have in common.
package networking

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups networking.k8s.io -import io.k8s.api.core.v1=github.com/bowline-go/bowline/client/builtin/core -functions
