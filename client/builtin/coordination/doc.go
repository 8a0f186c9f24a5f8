// Package coordination has the kinds of the group coordination.k8s.io: leases. Package client/builtin describes what
// all of these packages have in common.
package coordination

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups coordination.k8s.io -functions
