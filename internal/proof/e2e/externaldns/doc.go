// Package externaldns is a controller like ExternalDNS: it reads hosts and addresses from the objects of many APIs, and
// makes the records of a DNS provider agree with them. It is here to test Bowline with an operator that reads many
// foreign types.
//
//	group := externaldns.New(c, provider, externaldns.Options{Owner: "cluster-a", Policy: externaldns.Sync})
//	err := group.Run(ctx)
//
// The sources are Services, Ingresses, the routes and gateways of the Gateway API, Gateways and VirtualServices of
// Istio, HTTPProxies of Contour, IngressRoutes of Traefik, Routes of OpenShift, and DNSEndpoints. Each source has a
// separate informer. A source whose definition is not installed, or that the server refuses, does not hold up the
// others, and begins when the server serves it.
//
// # Ownership
//
// For each record that it makes, the controller makes a TXT record that names the owner and the object. It changes and
// deletes only records whose TXT record names this owner. It does not delete a record while the source of the record is
// incomplete, such as after a restart while a definition is missing.
//
// # Files that are made
//
// client/typegen writes the types from definitions/*.yaml. A test writes role.yaml from the accesses that the program
// asks for in the tests. The definitions have the shapes of those projects, and only some of the members.
//
// # Limits
//
// Compared with ExternalDNS there are no headless Services and no node ports, which need Pods and Nodes, no weights of
// records, no TCP, UDP and TLS routes, and no provider but one in memory.
package externaldns

//go:generate go run github.com/bowline-go/bowline/client/typegen -o dnsendpoints.go definitions/dnsendpoints.yaml
