// Package storagemigration has the kinds of the group storagemigration.k8s.io: migrations of stored objects. Package
// client/builtin describes what all of these packages have in common.
package storagemigration

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups storagemigration.k8s.io -functions
