// Package scheduling has the kinds of the group scheduling.k8s.io: priority classes. The package above,
// client/builtin, says what holds for all of these packages.
package scheduling

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups scheduling.k8s.io -functions
