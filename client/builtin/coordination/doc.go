// Package coordination has the kinds of the group coordination.k8s.io: leases. The package above, client/builtin, says
// what holds for all of these packages.
package coordination

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups coordination.k8s.io -functions
