// Package apps has the kinds of the group apps: deployments, stateful sets, daemon sets, replica sets and controller
// revisions. Package client/builtin describes what all of these packages have in common.
package apps

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups apps -import io.k8s.api.core.v1=github.com/bowline-go/bowline/client/builtin/core -functions
