// Package discovery has the kinds of the group discovery.k8s.io: endpoint slices. The package above, client/builtin,
// says what holds for all of these packages.
package discovery

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups discovery.k8s.io -functions
