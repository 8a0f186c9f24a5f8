// Package authentication has the kinds of the group authentication.k8s.io: reviews of tokens, and of who the caller
// is. The package above, client/builtin, says what holds for all of these packages.
package authentication

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups authentication.k8s.io -functions
