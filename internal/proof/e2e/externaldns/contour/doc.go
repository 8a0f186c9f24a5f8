// Package contour has the fields of Contour that package externaldns reads.
package contour

//go:generate go run github.com/bowline-go/bowline/client/typegen -o httpproxies.go -kinds HTTPProxy -fields metadata.annotations,spec.virtualhost.fqdn,status.currentStatus,status.loadBalancer ../definitions/contour.yaml
