// Package openshift has the fields of OpenShift that package externaldns reads.
package openshift

//go:generate go run github.com/bowline-go/bowline/client/typegen -o routes.go -kinds Route -fields metadata.annotations,spec.host,status.ingress ../definitions/openshift.yaml
