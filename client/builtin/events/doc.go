// Package events has the kinds of the group events.k8s.io: records of what happens to objects. Package client/builtin
// describes what all of these packages have in common.
package events

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups events.k8s.io -import io.k8s.api.core.v1=github.com/bowline-go/bowline/client/builtin/core -functions
