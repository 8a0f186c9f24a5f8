// Package policy has the kinds of the group policy: pod disruption budgets. Package client/builtin describes what all
// of these packages have in common.
package policy

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups policy -functions
