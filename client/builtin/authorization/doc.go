// Package authorization has the kinds of the group authorization.k8s.io: reviews of what somebody may do. The package
// above, client/builtin, says what holds for all of these packages.
package authorization

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups authorization.k8s.io -functions
