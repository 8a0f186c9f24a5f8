// Package admissionregistration has the kinds of the group admissionregistration.k8s.io: configurations of webhooks,
// and admission policies. The package above, client/builtin, says what holds for all of these packages.
package admissionregistration

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups admissionregistration.k8s.io -functions
