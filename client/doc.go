// Package client is a typed client of the Kubernetes API: bytes on the wire to values of your own type, and back.
//
// A [Config] says where the server is, [New] makes a [Client] of it without any I/O, and [For] binds the client to a
// resource:
//
//	var Pods = client.Type[*Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}
//
//	pods := client.For(c, Pods)
//	pod, err := pods.Get(ctx, meta.Key{Namespace: "web", Name: "a"})
//
// # Guarantees
//
// Reads are live: nothing here caches, and nothing runs in the background. Each call makes the requests that its
// documentation names. Every call ends soon after its context does, and leaves no goroutine behind; connections that are
// idle are kept for later calls until [Client.Close].
//
// Objects are decoded one by one as they arrive, into exactly the fields that T names. A list is never held as a whole,
// unless the caller asks for it with [Resource.List]. metadata.managedFields is cut from lists and watches unless asked for.
//
// Names and namespaces are checked as path segments before anything is sent. Credentials are sent to the configured
// server only: a redirect to another origin is an error.
//
// # Errors
//
// A call that fails returns an [*OpError], which says which verb, resource and object it was. What the server said is in
// it as an *errors.StatusError of this module's package errors, so that
//
//	errors.Is(err, apierrors.NotFound)
//
// works. A call that cannot be right, and so was not sent, is a [*UsageError]; an object that does not decode is a [*DecodeError], an answer of another kind a [*KindError], an answer that is not
// JSON at all, such as a proxy's HTML page, a [*BodyError], and a watch event that cannot be used an [*EventError].
package client
