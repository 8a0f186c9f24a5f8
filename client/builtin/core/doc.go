// Package core has the kinds of the group without a name: pods, services, nodes, config maps, secrets, volumes and
// others. Package client/builtin describes what all of these packages have in common.
package core

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups core -functions
