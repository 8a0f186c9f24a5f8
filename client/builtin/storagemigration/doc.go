// Package storagemigration has the kinds of the group storagemigration.k8s.io: migrations of stored objects. The
// package above, client/builtin, says what holds for all of these packages.
package storagemigration

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups storagemigration.k8s.io -functions
