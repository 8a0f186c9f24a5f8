// Package flowcontrol has the kinds of the group flowcontrol.apiserver.k8s.io: flow schemas and priority levels. The
// package above, client/builtin, says what holds for all of these packages.
package flowcontrol

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups flowcontrol.apiserver.k8s.io -functions
