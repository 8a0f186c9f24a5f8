// Package authentication has the kinds of the group authentication.k8s.io: reviews of tokens, and of the caller's
// identity. Package client/builtin describes what all of these packages have in common.
package authentication

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups authentication.k8s.io -functions
