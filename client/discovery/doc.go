// Package discovery says what a server serves: its groups and resources, which resource holds the objects of a kind, what the
// names mean that people type, the server's version, and its OpenAPI v3 documents.
//
// A [Catalog] asks when it is called, for as little as the question needs, and remembers. Typed clients do without it: their
// descriptors say everything. It is for programs that learn their kinds at run time:
//
//	catalog := discovery.New(c, discovery.Options{})
//	r, err := catalog.Resource(ctx, meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"})
//	deployments := client.For(c, r.Type())
//
// # What is asked
//
// A server of Kubernetes 1.27 or later tells everything in two answers, /api and /apis (aggregated discovery, KEP 3352); a question
// that names its group needs only one of them. An older one tells the groups there, and of each group version only those
// resources are asked for that the question is about. Which it is shows in each answer.
//
// # What is remembered
//
// An answer is taken to be true for Options.TTL, a minute. After that the next question asks whether it has changed, by its ETag:
// if not, nothing but a header comes. So a group or version that went away is noticed within a minute, or after
// [Catalog.Invalidate] at once.
//
// That something does not exist is believed only of an answer that is younger than Options.MissTTL, 10 s. So a
// CustomResourceDefinition is seen within 10 s of its creation, without a restart, and a loop that asks for a
// missing one makes one small request in 10 s, whatever it asks for. A program that creates a definition itself waits until
// that is established, and calls Invalidate. Answers that say of themselves that they are stale are asked for again as
// often as those that say no.
//
// A request that failed is not remembered, so the next question makes it again, unless the server's answer would be the same:
// that it is forbidden, not there, or not the document that was asked for. Many callers of the same question make one
// request; each waits no longer than its own context allows. An answer that is too old is not used when the server cannot
// be asked.
//
// A request is given up when the server makes no progress with it; see client.Config.StallTimeout.
//
// What is remembered is bounded by what the server has, and each document by Options.MaxDocument while it is read.
package discovery
