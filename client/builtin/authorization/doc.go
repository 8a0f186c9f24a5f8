// Package authorization has the kinds of the group authorization.k8s.io: reviews of permissions. Package client/builtin
// describes what all of these packages have in common.
package authorization

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups authorization.k8s.io -functions
