// Package admissionregistration has the kinds of the group admissionregistration.k8s.io: configurations of webhooks,
// and admission policies. Package client/builtin describes what all of these packages have in common.
package admissionregistration

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups admissionregistration.k8s.io -functions
