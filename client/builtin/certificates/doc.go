// Package certificates has the kinds of the group certificates.k8s.io: requests of certificates, and bundles of
// authorities. Package client/builtin describes what all of these packages have in common.
package certificates

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups certificates.k8s.io -functions
