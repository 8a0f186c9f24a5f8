// Package client is a typed client of the Kubernetes API. It decodes objects from the wire into your own types, and
// encodes them back.
//
// A [Config] says where the server is. [New] makes a [Client] from a Config without any I/O, and [For] binds the client
// to a resource:
//
//	var Pods = client.Type[*Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}
//
//	pods := client.For(c, Pods)
//	pod, err := pods.Get(ctx, meta.Key{Namespace: "web", Name: "a"})
//
// # Choosing a call
//
// The operations that the API has for every resource are methods of its handle, a [Resource]:
//
//	list, err := pods.List(ctx, client.ListOptions{Namespace: "web", LabelSelector: "app=a"}) // All streams instead
//	pod, err := pods.Create(ctx, &Pod{...})
//	pod, err := pods.Modify(ctx, key, func(p *Pod) error { ... }) // reads, changes and writes; again after a conflict
//	pod, did, err := pods.Ensure(ctx, &Pod{...})                  // creates the object, or sets the fields that differ
//	pod, err := pods.Patch(ctx, key, patch.Merge(...))            // sends the change without reading
//	pod, err := pods.With(client.WriteOptions{FieldManager: "me"}).Apply(ctx, key, config, client.ApplyOptions{})
//	pod, err := pods.AddFinalizer(ctx, key, "example.com/cleanup") // and RemoveFinalizer
//	err := pods.Delete(ctx, key, client.DeleteOptions{})          // DeleteCollection deletes what a selector matches
//	for event, err := range pods.Watch(ctx, client.WatchOptions{Namespace: "web"}) { ... }
//	table, err := pods.Table(ctx, client.ListOptions{})           // the columns that kubectl prints; also WatchTable
//	n, known, err := pods.Count(ctx, client.ListOptions{})
//
// A subresource has its own handle, a [Sub], with the methods that concern one object. [Resource.Status] and
// [Resource.Sub] return the handle of a subresource that reads and writes the object itself. [ScaleOf] and [SubOf]
// return the handle of one that has its own type:
//
//	pod, err := pods.Status().Modify(ctx, key, func(p *Pod) error { ... })
//	scale, err := client.ScaleOf(deployments).Modify(ctx, key, func(s *client.Scale) error {
//		s.Spec.Replicas = 3
//		return nil
//	})
//	csr, err := requests.Sub("approval").Modify(ctx, key, func(r *Request) error { ... })
//
// Some methods return a changed handle and leave the original as it is. [Resource.In] binds a handle to a namespace,
// [Resource.One] to one object, [Resource.With] sets options for writes, and [Resource.As] acts for another user. The
// new settings also hold for handles that are made from the new one, and for functions that take it. [Metadata] returns
// a handle that reads only the metadata.
//
// Some operations are functions, because only some resources support them, because their objects have another type than
// the handle's, or because the API has no verb for them:
//
//	err := client.Evict(ctx, pods, key, client.DeleteOptions{}) // and Bind
//	token, err := client.RequestToken(ctx, serviceAccounts, key, client.TokenOptions{})
//	pod, err := client.WaitFor(ctx, pods, key, client.UntilPodReady())
//	answer, err := client.CanI(ctx, c, client.Access{Verb: "list", Resource: Pods.GVR()}) // and Can, Rules, WhoAmI
//	err := client.SetController(pod, client.OwnerOf(Jobs, job)) // a reference in pod, before it is written
//
// The Client itself sends HTTP requests that are not about objects: [Client.Proxy] reaches services and pods through
// the API server, and [Client.Raw] reaches every other path.
//
// For a resource that is known only when the program runs, use meta.Unstructured as T. Package client/discovery lists
// the server's resources, and package client/kubeconfig finds the Config:
//
//	things := client.For(c, client.Type[*meta.Unstructured]{
//		Group: "example.com", Version: "v1", Kind: "Thing", Resource: "things",
//	})
//
// # Choosing a write
//
//   - [Resource.Modify] makes a change that depends on the present object, such as appending to a list or incrementing
//     a counter. For status, use r.Status().Modify.
//   - [Resource.Ensure] makes an object match what the program says, whether it exists or not. A controller uses it for
//     the objects that it makes for its own resource. Ensure sets the fields that its argument has and leaves
//     everything else; [Ensured] reports the result. Ensure removes only the places that EnsureOptions.Absent names,
//     and the fields and elements that its documentation lists.
//   - [Resource.Apply] does the same, and also removes fields that the program no longer names. Use it too when several
//     writers share the same lists. The server records the owner of each field, so every writer needs a name
//     (WriteOptions.FieldManager).
//   - [Resource.Patch] sends a change that does not depend on the present object, such as a label. Package patch says
//     which kind of patch to use. A patch can also be limited to one version of the object.
//   - [Resource.Create] and [Resource.Update] send an object as it is. Use Update when you have read the object with a
//     T that models all of it, and want a Conflict if it has changed since.
//
// # Guarantees
//
// Reads are live: the client does not cache. Nothing runs in the background, with two exceptions. When a credential is
// about to expire, a call starts the fetch of the next one and does not wait for it ([Credentials]). If a file system
// does not answer, the read of a file outlives the call that began it ([TLS]). Each call makes the requests that its
// documentation names, and one more if the server refuses a credential (401) and there is another one. Every call ends
// soon after its context ends, and leaves no other goroutine behind. An iterator can be used again: each loop over it
// sends its own requests, from the start. Idle connections are kept for later calls until [Client.Close].
//
// Objects are decoded one by one as they arrive, into exactly the fields that T names. The client never holds a whole
// list unless the caller asks for it with [Resource.List]. It cuts metadata.managedFields from lists and watches by
// default, and asks the server to leave it out (KEP-5958); servers up to Kubernetes 1.37 send it all the same.
//
// Watches have their own connections, so that they do not delay ordinary requests. The client opens another connection
// when the server allows no more watches on the present one. The probes of net/http detect within a minute that the
// other end of an HTTP/2 connection is gone. Each new connection looks up the server's address again.
//
// The client retries a request after a transient failure, but only when retrying is safe; [Retry] has the rules. A
// request that could take effect twice is never sent twice, unless the server asks for it. The client gives up on a
// server that accepts a request and then makes no progress with its answer ([Config.StallTimeout]). Only the caller's
// context limits the total time of an answer. If the context has a deadline, the client sends the time that is left
// with each request about a resource, except watches, logs and connections (the parameter timeout), so that the server
// stops its work too. If the time runs out, the error matches context.DeadlineExceeded, even if the server is the first
// to say so.
//
// Names and namespaces are checked as path segments before a request is sent. Credentials, and the names of the users
// that a request acts for ([Resource.As]), are sent only to the configured server: a redirect to another origin is an
// error. No type that can hold a secret shows it when it is printed, logged or encoded.
//
// The client reads files with tokens, certificates and authorities again, and uses the new contents for new requests.
// It never cuts a request that is under way. While a file or a source of credentials is broken, the client uses the
// last good one and calls Hooks.Stale. It does the same with a token or a certificate that has expired by this
// machine's clock, because only the server's clock counts. The check of the server's certificate uses this machine's
// clock.
//
// # Partial types
//
// A T with few fields costs only those fields to decode. It can also be written: [Resource.Modify], [Resource.Patch]
// and [Resource.Apply] keep the fields that T does not name, and [Resource.Update], which replaces the whole object,
// refuses to remove them. [Metadata] makes the server send only the metadata. With [meta.Raw] as T, the client decodes
// the metadata and keeps the rest as compact bytes. [meta.Unstructured] holds a whole object without a struct for it.
//
// # Errors
//
// A call that fails returns an [*OpError]. It names the verb, the resource and the object, and wraps the cause:
//
//   - *errors.StatusError: the server's answer; errors.Is(err, apierrors.NotFound) tests its reason.
//   - [*UsageError]: the call is wrong whatever the server says; nothing was sent. It is also the error of a call for a
//     subresource that the resource does not have, of an update that would remove fields that the type does not have,
//     and of a Modify if the server ignored a part of its change.
//   - [*CredentialError]: there is no credential; the server has done nothing.
//   - [*AnswerError]: the answer is not JSON, of another kind, too large, or of another version than [Exact] asks for.
//   - [*DecodeError]: one object does not fit its type; the call hands on the other objects of its list or watch.
//   - [*EventError]: a watch event cannot be used, or the server ends the watch by a status within it.
//   - [*DeletingError]: the object is being deleted, so it cannot be ensured and gets no finalizer.
//   - [*ControllerError]: the object has another controller, or none and must not be adopted.
//
// A [*ModifyError] wraps one of these if Modify, Ensure, AddFinalizer or RemoveFinalizer gives up, or if Modify cannot
// know whether it has written. [WaitFor] returns a [*WaitError].
//
// An answer that was cut short is an error, never a shorter object or list. The error wraps io.ErrUnexpectedEOF if
// net/http's error does. An answer that is complete by the rules of HTTP, but not as JSON or protobuf, is an
// *AnswerError, which is not retried.
package client
