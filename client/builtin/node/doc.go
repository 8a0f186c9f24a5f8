// Package node has the kinds of the group node.k8s.io: runtime classes. Package client/builtin describes what all of
// these packages have in common.
package node

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups node.k8s.io -import io.k8s.api.core.v1=github.com/bowline-go/bowline/client/builtin/core -functions
