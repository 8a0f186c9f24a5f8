// Package clienttest is a Kubernetes API server inside the process: a real HTTP server with a store that behaves as
// kube-apiserver's does, for tests of clients and controllers. Nothing has to be installed, and it starts in a
// millisecond.
//
// It speaks JSON and YAML. A client that sends protobuf, as client-go and controller-runtime do by default for built-in kinds,
// must set ContentType: "application/json" in its rest.Config; without that, its writes fail with 415, and so does leader
// election.
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
// The server serves every built-in kind that kube-apiserver 1.37 serves by default, and whatever [Options.Resources] or
// [Server.Register] add, as custom resources. The names, scopes, subresources, selectable fields, first statuses and printer
// columns of the built-in kinds, and what each does on a create, an update and a delete, are taken from that server by a
// program. A new server has the namespaces default, kube-node-lease, kube-public and kube-system, the service
// default/kubernetes with its IPAddress and ServiceCIDR, and the two priority classes of the system. All verbs work on all
// resources: create (with generateName), get, list, watch, update, patch, delete and deletecollection (which, as on a real
// server, namespaces do not have); every write can be a dry run. So do
//
//   - JSON patches, merge patches and, of the built-in kinds, strategic merge patches, also of subresources. They do what
//     kube-apiserver's do, not what the RFCs say: a JSON patch may replace a member that is not there, or count an index from
//     the end, and its tests compare numbers and strings as they are written;
//   - server-side apply, of status and scale as well: who owns which fields, conflicts and force, as managedFields say it, by the
//     kinds of lists and maps of the schemas; configurations are JSON or YAML;
//   - fieldValidation: a member that the kind does not have is dropped, and of two of one name the last counts, with a warning
//     or an error for each. The schemas of the built-in kinds are in the package, that of a custom resource is [Resource.Schema];
//   - subresources: status; the scale of deployments, replicasets, statefulsets and replicationcontrollers; binding,
//     ephemeralcontainers, eviction and resize of pods; the token of service accounts, which is good for this server until it
//     expires; the approval of certificate signing requests; finalize of namespaces;
//   - paging: the pages of a list show the collection at the version of the first, and their tokens expire;
//   - list and watch at a resource version, by the rules of the Kubernetes documentation "API Concepts"; streaming lists
//     (KEP-3157); bookmarks; timeoutSeconds; selectors for labels and for the fields that the resource allows;
//   - optimistic concurrency, preconditions, finalizers, generation and managedFields;
//   - discovery of all that in both forms, OpenAPI documents with the schemas, in versions 2 and 3, Tables and metadata alone:
//     what kubectl needs;
//   - the users of tokens and client certificates, impersonation, and the reviews of access, of rules and of oneself.
//
// One counter, as on a real server, versions all resources. Errors are Status bodies in kube-apiserver's words.
//
// [Options] add TLS, with certificates that are made for the server and can be swapped, HTTP/2 over it, in memory as well
// as on a socket, and several replicas whose watch caches may lag behind the store.
//
// # What is as on a real server, and what is not
//
// A test that is green here has seen this much of Kubernetes. The first part of the table is held to kube-apiserver 1.37 by a
// suite of cases that runs against both. Where a test finds a difference that is not in the table, this package is wrong.
//
//	AS ON A REAL SERVER
//	verbs, dry run, preconditions       codes, reasons, messages and causes included
//	metadata                            validation, finalizers, generation, managedFields
//	patches, server-side apply          with conflicts, force, and fieldValidation
//	built-in kinds                      names, scopes, subresources, first status, what each verb does, printer columns and cells
//	lists, watches                      paging, selectors, versions, bookmarks, streaming lists, Tables
//	deletion                            with orphan and foreground propagation, and with a grace period, as of a
//	                                    kube-apiserver alone: see below
//	unknown members                     dropped, warned of or refused, by the schema
//	types of fields of built-in kinds   checked
//	defaults of custom resources        filled in from Resource.Schema
//
//	IN PART
//	media types                         JSON and YAML; of protobuf, a few bodies and no answers: see below
//	namespaces                          go with their contents in the request that deletes them; a controller does it later
//	custom resource definitions         Server.Register and Unregister; one version of each resource, no conversion. A
//	                                    CustomResourceDefinition is stored, and nothing comes of it, nor of an APIService
//	versions of built-in kinds          one: horizontalpodautoscalers are served as v2
//	events                              those of the core and of events.k8s.io are two resources, each with its own objects
//	objects of a fresh server           not those by which it describes itself: API services, roles and bindings, flow schemas,
//	                                    priority levels, and its lease and config maps in kube-system
//	access                              Options.Authorize decides; there are no roles, and rules cannot be listed
//	admission                           namespaces that are missing or end; no other plugin, no webhook, no policy
//	certificate signing requests        checked; whoever may approve one may do so for any signer, and nobody signs
//	tokens                              signed by nobody; they do not end with the object that they are bound to
//	evictions                           no disruption budgets; DisruptionBudget is the answer of one
//	words about selectors               of our own; the codes are the same
//	strategic merge patches             what is wrong with one is said in other words, and a list of scalars to delete that is
//	                                    no list is an error
//	lists that must be current          answered from the store at once; a real server waits for its watch cache
//	bookmarks                           come by the clock, also where nothing has happened
//	410                                 from Server.Compact, Options.HistoryAge and HistoryLength alone
//	sizes                               a request has 3 MiB at most; no kind has a limit of its own
//
//	NOT HERE
//	validation of built-in kinds        a pod without containers is a pod
//	defaults of built-in kinds          none, and nobody owns them; no service gets an address
//	validation of custom resources      values are not checked, but the types of what is applied
//	garbage collection                  owner references do nothing
//	controllers, scheduler, kubelet     a deployment makes no pods, and no pod runs; no event expires
//	log, exec, attach, port-forward     nor proxy, tokenreviews, componentstatuses and bindings: neither
//	                                    served nor listed
//	hashes of storage versions          and pretty=true
//
// Nobody works behind this server, as behind a kube-apiserver alone, so a test does that work where it matters. A deletion with
// propagationPolicy Foreground or Orphan adds the finalizer foregroundDeletion or orphan, and the object stays until the test
// removes it, as the garbage collector does. A pod with a spec.nodeName gets a deletionTimestamp and stays, beyond its grace
// period, until the test deletes it with gracePeriodSeconds 0 (a GracePeriod of client.Immediately), as the kubelet does; until
// then it keeps its namespace, too. A pod without a node, or one that has succeeded or failed, goes at once.
//
// Protobuf is read in deletions and in the bodies that kubectl create configmap, secret and namespace, kubectl certificate and
// kubectl auth send. kubectl create -f, apply, replace, run and expose send JSON. The other forms of kubectl create, such as
// deployment, serviceaccount and token, send protobuf that is refused with 415.
//
// The bookmark that ends the initial events comes at once, as from kube-apiserver 1.37, unless [Options.EndBookmarkAfter] says
// otherwise.
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
