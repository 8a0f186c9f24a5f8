// Package discovery finds out what a server serves: its groups and resources, the resource of a kind, the resource that
// a typed name means, the server's version, and its OpenAPI v3 documents.
//
// A [Catalog] sends only the requests that a call needs, and remembers the answers. Typed clients do not need it,
// because their descriptors name kind and resource. It is for programs that learn their kinds at run time:
//
//	catalog := discovery.New(c, discovery.Options{})
//	r, err := catalog.Resource(ctx, meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"})
//	deployments := client.For(c, r.Type())
//
// # Requests
//
// A server of Kubernetes 1.27 or later describes everything in two answers, /api and /apis (aggregated discovery, KEP
// 3352); a call that names its group needs only one of them. An older server lists only the groups in these two
// answers. The Catalog then requests the resources of each group version that the call needs. It recognizes the form of
// each answer.
//
// # Memory
//
// An answer is used for Options.TTL, a minute. After that the next call asks whether it has changed, by its ETag: if
// not, the server sends only a header. So the Catalog notices a removed group or version within a minute, or at once
// after [Catalog.Invalidate].
//
// Only an answer younger than Options.MissTTL, 10 s, proves that something does not exist. So a
// CustomResourceDefinition is seen within 10 s of its creation, without a restart, and a loop that asks for missing
// definitions makes one small request in 10 s, whatever it asks for. A program that creates a definition itself should
// wait until it is established, and then call Invalidate. Answers that the server marks as stale are requested again as
// often as negative ones.
//
// A failed request is not remembered, so the next call repeats it, unless the server's answer would be the same:
// forbidden, not found, or not the requested document. Concurrent calls for the same document share one request; each
// waits no longer than its own context allows. The Catalog does not use an expired answer when the server cannot be
// reached.
//
// A request fails when the server makes no progress with it; see client.Config.StallTimeout.
//
// The server's content bounds the memory, and a document of more than 64 MiB is an error.
package discovery
