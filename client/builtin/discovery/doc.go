// Package discovery has the kinds of the group discovery.k8s.io: endpoint slices. Package client/builtin describes what
// all of these packages have in common.
package discovery

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups discovery.k8s.io -functions
