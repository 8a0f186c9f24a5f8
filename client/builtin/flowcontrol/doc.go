// Package flowcontrol has the kinds of the group flowcontrol.apiserver.k8s.io: flow schemas and priority levels.
// Package client/builtin describes what all of these packages have in common.
package flowcontrol

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups flowcontrol.apiserver.k8s.io -functions
