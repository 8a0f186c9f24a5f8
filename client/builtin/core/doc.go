// Package core has the kinds of the group without a name: pods, services, nodes, config maps, secrets, volumes and
// others. The package above, client/builtin, says what holds for all of these packages.
package core

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups core -functions
