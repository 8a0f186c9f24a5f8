// Package traefik has the fields of Traefik that package externaldns reads.
package traefik

//go:generate go run github.com/bowline-go/bowline/client/typegen -o ingressroutes.go -kinds IngressRoute -fields metadata.annotations,spec.routes.match ../definitions/traefik.yaml
