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
// # Which call for what
//
// What the API does with every resource is a method of its handle, a [Resource]:
//
//	list, err := pods.List(ctx, client.ListOptions{Namespace: "web", LabelSelector: "app=a"}) // All streams instead
//	pod, err := pods.Create(ctx, &Pod{...})
//	pod, err := pods.Modify(ctx, key, func(p *Pod) error { ... }) // reads, changes, writes; again after a conflict
//	pod, did, err := pods.Ensure(ctx, &Pod{...})                  // creates it, or changes what it says and the server has otherwise
//	pod, err := pods.Patch(ctx, key, patch.Merge(...))            // sends the change without reading
//	pod, err := pods.With(client.WriteOptions{FieldManager: "me"}).Apply(ctx, key, config, client.ApplyOptions{})
//	pod, err := pods.AddFinalizer(ctx, key, "example.com/cleanup") // and RemoveFinalizer
//	err := pods.Delete(ctx, key, client.DeleteOptions{})          // DeleteCollection for what a selector selects
//	for event, err := range pods.Watch(ctx, client.WatchOptions{Namespace: "web"}) { ... }
//	table, err := pods.Table(ctx, client.ListOptions{})           // the columns that kubectl prints
//
// A subresource is a handle of its own, a [Sub], with those of the methods that are about one object: [Resource.Status],
// [Resource.Sub] for others that take the object itself, [ScaleOf], and [SubOf] for those that take something else:
//
//	pod, err := pods.Status().Modify(ctx, key, func(p *Pod) error { ... })
//	scale, err := client.ScaleOf(deployments).Modify(ctx, key, func(s *client.Scale) error { s.Spec.Replicas = 3; return nil })
//	csr, err := requests.Sub("approval").Modify(ctx, key, func(r *Request) error { ... })
//
// What changes a handle gives another one, and leaves the first as it is: [Resource.In] binds it to a namespace,
// [Resource.With] has options for writes, and [Resource.As] acts for somebody else, which also holds for what is made of the
// handle and for the functions that take it. [Metadata] reads no more than the metadata.
//
// A function, and no method, is what only some resources have, what has objects of another type than its handle, and what the
// API has no verb for:
//
//	err := client.Evict(ctx, pods, key, client.EvictOptions{}) // and Bind
//	token, err := client.RequestToken(ctx, serviceAccounts, key, client.TokenOptions{})
//	pod, err := client.WaitFor(ctx, pods, key, client.UntilPodReady())
//	answer, err := client.CanI(ctx, c, client.Access{Verb: "list", Resource: Pods.GVR()}) // and Can, Rules, WhoAmI
//	err := client.SetController(pod, client.OwnerOf(Jobs, job)) // a reference in pod, before it is written
//
// HTTP that is not about objects is the Client's: [Client.Proxy] reaches services and pods through the API server, and
// [Client.Raw] every other path.
//
// A resource that is known only when the program runs is one with meta.Unstructured as its T; package client/discovery says
// which there are, and package client/kubeconfig finds the Config:
//
//	things := client.For(c, client.Type[*meta.Unstructured]{Group: "example.com", Version: "v1", Kind: "Thing", Resource: "things"})
//
// # Which write
//
// [Resource.Modify] is for a change that depends on what is there, such as one more element of a list, or a counter's next
// value. It is for status, too: r.Status().Modify.
//
// [Resource.Ensure] is for an object that is to be as the program says, whether it is there or not: what a controller makes of
// its own resource. It sets what its argument says, leaves everything else, and tells in [Ensured] what it has done. It removes what
// EnsureOptions.Absent names, and the few things that the documentation of [Resource.Ensure] lists.
//
// [Resource.Apply] is for the same where fields are to vanish when the program no longer names them, or where others have a say
// in the same lists. The server notes whose each field is, so every writer needs a name (WriteOptions.FieldManager).
//
// [Resource.Patch] is for a change that is known without looking, such as a label; package patch says which patch for what.
// It can also hold for one version only.
//
// [Resource.Create] and [Resource.Update] send an object as it stands. Update is for who has read all of it, with a type that
// has all of it, and wants a Conflict if it has changed since.
//
// # Guarantees
//
// Reads are live: nothing here caches, and nothing runs in the background, except that a call may find that a credential is
// about to expire, and have the next one fetched while it goes on ([Credentials]). Each call makes the requests that its
// documentation names, and one more where the server has refused a credential (401) and there is another. Every call ends
// soon after its context does, and leaves no goroutine behind; connections that are idle are kept for later calls until
// [Client.Close].
//
// Objects are decoded one by one as they arrive, into exactly the fields that T names. A list is never held as a whole,
// unless the caller asks for it with [Resource.List]. metadata.managedFields is cut from lists and watches unless asked for.
//
// Watches use connections of their own, so that none of them holds up an ordinary request, and more of them once the server
// allows no further one on a connection. An HTTP/2 connection whose other end is gone without a word is found within a minute,
// by net/http's own probes. Each new connection asks for the server's address anew.
//
// A request that failed in passing is sent again, where nothing can be broken by that; [Retry] says when. Nothing is sent twice
// that could take effect twice, unless the server asks for it. A server that accepts a request and makes no progress with its
// answer is given up ([Config.StallTimeout]): nothing bounds how long an answer takes in all, but the caller's context.
//
// Names and namespaces are checked as path segments before anything is sent. Credentials, and the names of those on whose
// behalf a request is made ([Resource.As]), are sent to the configured server only: a redirect to another origin is an
// error. No type that can hold a secret shows it when it is printed, logged or encoded.
//
// Tokens, certificates and authorities in files are read again, and what is new is for new requests: what is under way is
// never cut. While a file or a source of credentials is broken, the last good one is used, and Hooks.Stale is told.
//
// # Less than the object
//
// A T that names few fields costs what those cost. It can be written, too: [Resource.Modify], [Resource.Patch] and
// [Resource.Apply] keep what it does not name, and [Resource.Update], which replaces the whole object, refuses to remove that.
// [Metadata] makes a handle of which the server sends the metadata only; [meta.Raw] as T has the metadata decoded and the rest
// as compact bytes, and [meta.Unstructured] is for those who need all of an object without a struct for it.
//
// # Errors
//
// A call that fails returns an [*OpError]. It names the verb, the resource and the object, and wraps the cause:
//
//   - *errors.StatusError: the server's answer; errors.Is(err, apierrors.NotFound) asks for its reason.
//   - [*UsageError]: the call cannot be right, and nothing was sent.
//   - [*CredentialError]: there is no credential, and nothing was sent.
//   - [*AnswerError]: the answer is not JSON, of another kind, too large, or of another version than [Exact] asks for.
//   - [*DecodeError]: one object does not fit its type; the others of its list or watch are handed on.
//   - [*EventError]: a watch event cannot be used, or the server ends the watch by a status within it.
//   - [*StallError]: the server stopped in the middle of its answer.
//   - [*ProjectionError]: the update would remove fields that the type does not have.
//   - [*IgnoredError]: the server has left out a part of the change of a Modify.
//   - [*PreconditionError]: the object is not the one that Ensure asks for.
//   - [*DeletingError]: the object is being deleted, so that it cannot be ensured and gets no finalizer.
//   - [*ControllerError]: the object has another controller.
//
// Three types wrap one of these, and say more about the call:
//
//   - [*RetryError]: the request was sent more than once, as [Retry] says.
//   - [*PageError]: a later page of a list failed.
//   - [*ModifyError]: Modify, Ensure or a finalizer's call gave up, or Modify cannot know whether it has written.
//
// [WaitFor] returns a [*WaitError].
//
// An answer that was cut is an error, never a shorter object or list. The error wraps io.ErrUnexpectedEOF if net/http's does.
package client
