// Package apps has the kinds of the group apps: deployments, stateful sets, daemon sets, replica sets and controller
// revisions. The package above, client/builtin, says what holds for all of these packages.
package apps

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups apps -import io.k8s.api.core.v1=github.com/bowline-go/bowline/client/builtin/core -functions
