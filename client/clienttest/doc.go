// Package clienttest is a Kubernetes API server inside the process: a real HTTP server with a store that behaves as
// kube-apiserver's does, for tests of clients and controllers. Nothing has to be installed, and it starts in a
// millisecond.
//
// In a test, [Start] runs a server until the test ends:
//
//	server := clienttest.Start(t, clienttest.Options{})
//	c, err := client.New(server.Config())
//
// Elsewhere, [New] makes one, and [Server.Run] serves until its context ends. Unless [Options] has a listener, the
// server is in memory and reached through [Server.Config] only; with a listener on a loopback address, kubectl can be
// pointed at it.
//
// # Virtual time
//
// A server in memory does no real I/O and waits on nothing but channels, conditions and timers. Started within a
// bubble of testing/synctest, it runs on the bubble's clock, together with its clients: an hour of bookmarks,
// expiring tokens and backoff takes milliseconds, and a goroutine that is left over fails the test.
//
//	synctest.Test(t, func(t *testing.T) {
//		server := clienttest.Start(t, clienttest.Options{})
//		...
//		time.Sleep(5 * time.Minute) // history from before is too old now
//	})
//
// # What is served
//
// Core configmaps, events, namespaces, nodes, pods, secrets, serviceaccounts and services, apps deployments,
// certificates.k8s.io certificatesigningrequests and coordination.k8s.io leases, and whatever [Options.Resources] or
// [Server.Register] add, as custom resources. The namespaces default, kube-system and kube-public exist. All verbs work on
// all resources: create (with generateName), get, list, watch, update, patch, delete and deletecollection (which, as on
// a real server, namespaces do not have); every write can be a dry run. So do
//
//   - JSON patches, merge patches and, of the built-in kinds, strategic merge patches, also of subresources. They do what
//     kube-apiserver's do, not what the RFCs say: a JSON patch may replace a member that is not there, or count an index from
//     the end, and its tests compare numbers and strings as they are written;
//   - server-side apply, of status and scale as well: who owns which fields, conflicts and force, as managedFields say it, by the
//     kinds of lists and maps of the schemas; configurations are JSON or YAML;
//   - fieldValidation: a member that the kind does not have is dropped, and of two of one name the last counts, with a warning
//     or an error for each. The schemas of the built-in kinds are in the package, that of a custom resource is [Resource.Schema];
//   - subresources: status; the scale of deployments; binding, ephemeralcontainers, eviction and resize of pods; the token of
//     service accounts, which is good for this server until it expires; the approval of certificate signing requests; finalize
//     of namespaces;
//   - paging: the pages of a list show the collection at the version of the first, and their tokens expire;
//   - list and watch at a resource version, by the rules of the Kubernetes documentation "API Concepts"; streaming lists
//     (KEP-3157); bookmarks; timeoutSeconds; selectors for labels and for the fields that the resource allows;
//   - optimistic concurrency, preconditions, finalizers, generation and managedFields;
//   - discovery of all that in both forms, OpenAPI documents with the schemas, in versions 2 and 3, Tables and metadata alone: what kubectl needs;
//   - the users of tokens and client certificates, impersonation, and the reviews of access, of rules and of oneself.
//
// One counter, as on a real server, versions all resources. Errors are Status bodies in kube-apiserver's words.
//
// [Options] add TLS, with certificates that are made for the server and can be swapped, HTTP/2 over it, in memory as well
// as on a socket, and several replicas whose watch caches may lag behind the store.
//
// # What differs from a real server
//
// Where a test finds another difference from kube-apiserver than these, this package is wrong.
//
//   - Objects are neither validated beyond metadata, the types of their fields, and the conditions and the certificate of a
//     certificate signing request, nor, if they are of a built-in kind, defaulted: a pod without containers is a pod. So nobody
//     owns the defaults of a built-in kind. The fields of those are the ones of kube-apiserver 1.37, without descriptions. The
//     types of the fields of custom resources are checked in what is applied alone.
//   - What is wrong with a strategic merge patch is said in other words, and a list of scalars to delete that is no list is an
//     error here.
//   - Access is what [Options.Authorize] allows, which is everything without it: there are no roles. There are no admission
//     plugins but the one for namespaces: whoever may write the approval of a request may approve it for any signer.
//   - A function cannot be listed. With Authorize, a SelfSubjectRulesReview is answered as by a real server with a webhook for
//     authorization: there are no rules, and the answer says that it is incomplete. Without, one rule allows everything.
//   - The other subresources of pods, nodes and services (log, exec, attach, portforward, proxy), tokenreviews and bindings
//     are neither served nor listed, and discovery has no hashes of storage versions.
//   - There are no disruption budgets; [DisruptionBudget] is the answer of one. A token is signed by nobody, and does not end
//     with the object that it is bound to. No signer writes the certificate of an approved request: a test does, to its status.
//   - Answers are JSON only; protobuf is read in the bodies that kubectl create, certificate and auth send.
//   - A namespace is deleted with its contents in the request that deletes it; on a real cluster a controller does
//     it, a little later. Owner references do nothing, and propagationPolicy changes nothing, because there is no
//     garbage collector.
//   - A pod is deleted at once, whatever its grace period, as if the kubelet had done its work.
//   - A resource has one version. It comes and goes by [Server.Register] and [Server.Unregister], not by an object of kind
//     CustomResourceDefinition.
//   - Bookmarks come by the clock, also where nothing has happened since the last. The one that ends the initial events comes
//     at once, as from kube-apiserver 1.37, unless [Options.EndBookmarkAfter] says otherwise.
//   - A list that must be current is answered from the store at once; a real server first waits for its watch cache.
//   - 410 comes from [Server.Compact], [Options.HistoryAge] and [Options.HistoryLength]; on a real server, lists and
//     watches have different memories.
//
// # Faults
//
// What a server does on its own comes from its methods. To its history: [Server.Compact] makes versions and tokens expire,
// [Server.Rollback] restores a backup, [Server.Unregister] takes a resource away. To watches: [Server.DropWatches] cuts
// every one within a frame, [Server.EndWatches] ends them properly and [Server.FailWatches] with an ERROR event;
// [Server.Bookmark] and [Server.MuteBookmarks] decide about bookmarks, and [Server.SetStreamingLists] makes a server that
// refuses, ignores or never ends a streaming list. To connections: [Server.Freeze] makes the open ones half-open,
// [Server.BlackHole] and [Server.Refuse] are for new ones, [Server.GoAway] sends GOAWAY, [Server.SwapCertificate] and
// [Server.SwapCA] change what a handshake brings. [Replica.SetLag] lets a watch cache fall behind. To discovery:
// [Server.SetStale] makes a group version stale, and [Server.SetAggregated] takes the newer form away.
//
// What happens to one request comes from [Server.Intercept], which answers any request in any way; its documentation names
// the handlers that there are. They work over HTTP/1.1 and HTTP/2 alike, but for [Raw]. [Server.Requests] counts what came
// in, [Server.Watches] and [Server.Connections] what is open.
//
// Not to be had through net/http are a GOAWAY that names an older stream than the newest, and frames of HTTP/2 that are
// malformed.
package clienttest
