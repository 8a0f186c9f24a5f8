// Package rbac has the kinds of the group rbac.authorization.k8s.io: roles and their bindings. The package above,
// client/builtin, says what holds for all of these packages.
package rbac

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups rbac.authorization.k8s.io -functions
