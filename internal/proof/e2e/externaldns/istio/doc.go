// Package istio has the fields of Istio that package externaldns reads.
package istio

//go:generate go run github.com/bowline-go/bowline/client/typegen -o gateways.go -kinds Gateway -fields metadata.annotations,spec.selector,spec.servers.hosts ../definitions/istio.yaml
//go:generate go run github.com/bowline-go/bowline/client/typegen -o virtualservices.go -kinds VirtualService -fields metadata.annotations,spec.hosts,spec.gateways ../definitions/istio.yaml
