// Package gatewayapi has the fields of the Gateway API that package externaldns reads.
package gatewayapi

//go:generate go run github.com/bowline-go/bowline/client/typegen -o gateways.go -kinds Gateway -fields metadata.annotations,spec.listeners.name,spec.listeners.hostname,status.addresses ../definitions/gatewayapi.yaml
//go:generate go run github.com/bowline-go/bowline/client/typegen -o httproutes.go -kinds HTTPRoute -fields metadata.annotations,spec.hostnames,spec.parentRefs,status.parents.parentRef,status.parents.conditions ../definitions/gatewayapi.yaml
//go:generate go run github.com/bowline-go/bowline/client/typegen -o grpcroutes.go -kinds GRPCRoute -fields metadata.annotations,spec.hostnames,spec.parentRefs,status.parents.parentRef,status.parents.conditions ../definitions/gatewayapi.yaml
