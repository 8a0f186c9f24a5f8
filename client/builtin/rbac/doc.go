// Package rbac has the kinds of the group rbac.authorization.k8s.io: roles and their bindings. Package client/builtin
// describes what all of these packages have in common.
package rbac

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups rbac.authorization.k8s.io -functions
