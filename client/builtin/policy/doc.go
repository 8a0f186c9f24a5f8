// Package policy has the kinds of the group policy: pod disruption budgets. The package above, client/builtin, says
// what holds for all of these packages.
package policy

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups policy -functions
