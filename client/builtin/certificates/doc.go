// Package certificates has the kinds of the group certificates.k8s.io: requests of certificates, and bundles of
// authorities. The package above, client/builtin, says what holds for all of these packages.
package certificates

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups certificates.k8s.io -functions
