// Package clienttest is a Kubernetes API server inside the process, for tests of clients and controllers. It is a real
// HTTP server with a store that behaves as kube-apiserver's does. It needs no installation and starts in a
// millisecond.
//
// The server speaks JSON, YAML and, for the built-in kinds, protobuf. So clients of client-go and controller-runtime
// work with their defaults, leader election included.
//
// In a test, [Start] runs a server until the test ends:
//
//	server := clienttest.Start(t, clienttest.Options{})
//	c, err := client.New(server.Config())
//
// The server has every built-in kind. [Options.CRDs] adds the custom resources of files with
// CustomResourceDefinitions:
//
//	clienttest.Options{CRDs: []string{"config/crd/bases"}}
//
// [Options.Resources] adds those of tests that have no such file:
//
//	clienttest.Options{Resources: []clienttest.Resource{
//		{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages", Status: true},
//	}}
//
// Elsewhere, [New] makes a server, and [Server.Run] serves until its context ends. By default the server is in memory,
// and only clients with [Server.Config] reach it. With a listener on a loopback address in [Options], kubectl can use
// it too.
//
// # Virtual time
//
// A server in memory does no real I/O and waits only on channels, conditions and timers. If it is started within a
// bubble of testing/synctest, it runs on the bubble's clock, together with its clients: an hour of bookmarks, expiring
// tokens and backoff takes milliseconds, and a leaked goroutine fails the test.
//
//	synctest.Test(t, func(t *testing.T) {
//		server := clienttest.Start(t, clienttest.Options{})
//		...
//		time.Sleep(5 * time.Minute) // history from before is too old now
//	})
//
// After a change, synctest.Wait returns when the controllers of the test have nothing left to do, so a test needs no
// polling.
//
// # What is served
//
// The server serves every built-in kind that kube-apiserver 1.37 serves by default, the custom resources of its
// CustomResourceDefinitions, and those that [Options.Resources] or [Server.Register] add. The built-in kinds are
// generated from that server: their names, scopes, subresources, selectable fields, first statuses and printer columns,
// and the effects of a create, an update and a delete. A new server has the namespaces default, kube-node-lease,
// kube-public and kube-system, the service default/kubernetes with its IPAddress and ServiceCIDR, and the two priority
// classes of the system. All verbs work on all resources: create (with generateName), get, list, watch, update, patch,
// delete and deletecollection (which, as on a real server, namespaces do not have). Every write can be a dry run. The
// server also supports:
//
//   - JSON patches, merge patches and, for the built-in kinds, strategic merge patches, also on subresources. They do
//     what kube-apiserver's do, not what the RFCs say: a JSON patch may replace a member that does not exist, or count
//     an index from the end, and its tests compare numbers and strings as they are written.
//   - Server-side apply, also of status and scale: ownership of fields in managedFields, conflicts and force,
//     following the list and map types in the schemas. Configurations are JSON or YAML.
//   - fieldValidation: the server drops a member that the kind does not have, uses the last of duplicate members, and
//     gives a warning or an error for each. The schemas of the built-in kinds are in the package; a custom resource
//     has that of its definition or [Resource.Schema], which also says which values its members may have.
//   - CustomResourceDefinitions, from [Options.CRDs] or created by a program: validation, defaults, several versions,
//     status and scale, printer columns, selectable fields, names and conditions, changes of schemas while the server
//     runs, and deletion with all objects. A definition takes effect in the transaction that writes it. With
//     [Options.Rules] their CEL rules are checked.
//   - Subresources: status; the scale of deployments, replicasets, statefulsets, replicationcontrollers and those
//     custom resources whose definition has it; binding, ephemeralcontainers, eviction and resize of pods; the token of
//     service accounts, which is good for this server until it expires; the approval of certificate signing requests;
//     finalize of namespaces.
//   - Paging: the pages of a list show the collection at the version of the first page, and their tokens expire.
//   - List and watch at a resource version, by the rules of the Kubernetes documentation "API Concepts"; streaming
//     lists (KEP-3157); bookmarks; timeoutSeconds; selectors for labels and for the fields that the resource allows;
//     with [Options.ShardedLists], shard selectors (KEP-5866).
//   - Optimistic concurrency, preconditions, finalizers, generation and managedFields.
//   - The parameter timeout of requests that are not long-running.
//   - The defaults and the rules of built-in kinds, and the admission that a kube-apiserver has by default for pods,
//     services, ingresses and claims: priorities, tolerations, runtime classes, addresses and node ports, default
//     classes; the LimitRanges and ResourceQuotas of their namespace.
//     [Server.Unchecked] counts the writes with fields whose rules this server does not have.
//   - Discovery of all that in both forms, OpenAPI documents with the schemas, in versions 2 and 3, Tables and
//     metadata alone: everything that kubectl needs.
//   - Admission: the webhooks of MutatingWebhookConfigurations and ValidatingWebhookConfigurations, at their url or, in
//     memory, in [Options.Services] or at a [Server.ListenService]; ValidatingAdmissionPolicies with [Options.Rules];
//     and the functions [Options.Admit] and [Options.Validate].
//   - The users of tokens and client certificates, impersonation, and the reviews of access, of rules, of tokens and of
//     oneself. With [Options.RBAC] roles decide what users may do, and nobody can grant what they do not have.
//
// As on a real server, one counter versions all resources. Errors are Status bodies in kube-apiserver's words.
//
// [Options] add TLS, with certificates that are made for the server and can be swapped; HTTP/2 over TLS, in memory as
// well as on a socket; and several replicas, whose watch caches may lag behind the store.
//
// # Differences from a real server
//
// The table says how much of Kubernetes a passing test covers. A suite of cases runs against both this server and
// kube-apiserver 1.37 and verifies the first part of the table. If a test finds a difference that is not in the table,
// this package is wrong. Package client/clienttest/apiserver runs a test on a real server of this and other releases.
//
//	AS ON A REAL SERVER
//	verbs, dry run, preconditions       codes, reasons, messages and causes included
//	metadata                            validation, finalizers, generation, managedFields
//	patches, server-side apply          with conflicts, force, and fieldValidation
//	built-in kinds                      names, scopes, subresources, first status, effects of each verb, printer
//	                                    columns and cells
//	lists, watches                      paging, selectors, versions, bookmarks, streaming lists, Tables, shards
//	deletion                            with orphan and foreground propagation, and with a grace period, as on a
//	                                    kube-apiserver without controllers: see below
//	negotiation                         by Accept and Content-Type: JSON, YAML and protobuf, Tables and metadata alone
//	unknown members                     dropped, warned of or refused, by the schema
//	types of fields of built-in kinds   checked
//	defaults of built-in kinds          filled in; services get addresses and node ports, in order instead of at
//	                                    random
//	values of built-in kinds            of every kind: refused for the same reasons at the same fields;
//	                                    Options.Lenient accepts wrong ones
//	limit ranges                        complete pods, and refuse pods, resizes and claims, for all reasons at once
//	roles                               with Options.RBAC: decisions, reasons, reviews, and who may grant what
//	webhooks                            asked about the same requests with the same reviews, in their order, by rules,
//	                                    selectors, versions and match conditions; with reinvocation, timeouts, failure
//	                                    policies and warnings
//	admission policies                  ValidatingAdmissionPolicies with their bindings and parameters, with
//	                                    Options.Rules
//	evictions                           allowed by the status of disruption budgets, which a test writes, because no
//	                                    controller does
//	events                              validated; those of the core and of events.k8s.io are the same objects, in two
//	                                    forms
//	custom resource definitions         checked as a whole; conversion of versions by None and, except for the
//	                                    differences in the next part of the table, by webhooks
//	values of custom resources          checked against their schemas, which also give their defaults, and with
//	                                    Options.Rules against their CEL rules; Options.Lenient accepts wrong ones
//
//	IN PART
//	discovery                           in JSON and YAML, not in protobuf
//	schemas of built-in kinds           without the descriptions of kinds and fields
//	component statuses                  an empty list: the control plane has no components
//	namespaces                          deleted with their contents in one request; on a real server a controller does
//	                                    it later, as here with Options.NamespaceController
//	conversion of versions by webhooks  an object is converted to all versions when it is written, so a webhook that
//	                                    fails makes the write fail; a real server converts at each read. A change of a
//	                                    definition converts the objects, and fails with the webhook. A field keeps its
//	                                    owner when a write in another version changes it
//	API services, service CIDRs         stored, and have no effect
//	versions of built-in kinds          one: horizontalpodautoscalers are served as v2
//	objects of a new server             without those that describe the server: API services, roles and bindings, flow
//	                                    schemas, priority levels, and its lease and config maps in kube-system
//	expressions of built-in kinds       those of device selectors and MutatingAdmissionPolicies are not compiled.
//	                                    Server.Unchecked counts the writes that have one, or one of a few rare fields
//	owners of new fields                managedFields lack an entry for rare fields, such as an empty list that is
//	                                    sent
//	access                              by default every user may do everything; Options.Authorize is a function,
//	                                    whose rules cannot be listed
//	admission                           no service account in pods; a MutatingAdmissionPolicy is stored, and has no
//	                                    effect. A webhook is asked once about a deletion, where a real server may ask
//	                                    again
//	quotas                              decide as on a real server with its controllers: the status of a quota is
//	                                    filled in by the write that makes it, and follows deletions at once. What a
//	                                    client writes to that status counts until an object needs less. Devices of
//	                                    resource claims are not counted
//	certificate signing requests        checked; a user who may approve one may do so for any signer, and nothing
//	                                    signs them
//	tokens                              not signed; they do not end with the object that they are bound to; a
//	                                    TokenReview knows these and Options.Token
//	protection of claims and volumes    their finalizers go with the deletion, because no controller removes them
//	errors about selectors              the texts differ; the codes are the same
//	shard selectors                     without the rare forms of strings and names of CEL, such as r'0x00' and
//	                                    escapes
//	strategic merge patches             the texts of errors differ, and a list of scalars to delete must be a list
//	lists that must be current          answered from the store at once; a real server waits for its watch cache
//	bookmarks                           sent by the clock, also if nothing has happened
//	410                                 only from Server.Compact, Options.HistoryAge and after 10,000 changes of a
//	                                    resource
//	sizes                               a request may have 3 MiB; no kind has a further limit
//
//	NOT SUPPORTED
//	objects inside of custom resources  their metadata is not checked
//	garbage collection                  owner references have no effect without package controllers: delete children
//	                                    before you create an owner of the same name again
//	controllers, scheduler, kubelet     without package controllers a deployment makes no pods, and no pod runs; no
//	                                    event expires
//	proxy                               neither served nor listed
//	containers                          exec, attach, log and port-forward only with Options.Containers
//	hashes of storage versions          not in discovery; the parameter pretty is ignored
//
// No controllers run beside this server, so it behaves as a kube-apiserver alone. Package
// client/clienttest/controllers has some that a test can start; otherwise a test must do the controllers' work where
// it matters. A deletion with propagationPolicy Foreground or Orphan adds the finalizer foregroundDeletion or orphan,
// and the object stays until the test removes the finalizer, as the garbage collector does. A pod with a
// spec.nodeName gets a deletionTimestamp and stays, beyond its grace period, until the test deletes it with
// gracePeriodSeconds 0 (a GracePeriod of client.NoGracePeriod), as the kubelet does. Until then the pod also keeps
// its namespace from being deleted. A pod without a node, or one that has succeeded or failed, is deleted at once.
//
// The server sends the bookmark that ends the initial events at once, like kube-apiserver 1.37, unless
// [Options.StreamingLists] says otherwise.
//
// # Replay
//
// [Record] writes the history of a cluster into a file, and a server with [Options.Replay] plays it. So a bug report
// becomes a test. Command client/clienttest/record does the same as Record for people who have no program at hand.
//
// The server starts with the objects of the first lists of the file, at their version: a watch from an earlier version
// gets 410. The changes follow at their times after Run: an object that was changed 12.5 s after the start of the
// recording is changed 12.5 s after Run, in the virtual time of a bubble or in real time. A gap in the recording is one
// step: the changes over it come together.
//
// Recorded objects are stored as they are: without defaults, validation and admission, with their uids, times, owners
// and managedFields. Only members of metadata that Kubernetes 1.37 does not have are lost. Their times are those of the
// cluster, and not of the test's clock.
//
// The changes come in the order of their versions, and each keeps its version, if one counter versions the recorded
// resources, as in most clusters. If a version is taken, because a client has written to the server, because several
// objects have gone in one gap, or because the server of the recording was set back, the change gets the next free
// version. The resources of another counter, such as those of an aggregated API, keep their order, and their changes
// get versions of this server.
//
// Clients may write at any time, by the rules of any other request. The next recorded change of an object replaces what
// they have written, and makes the object again if they have deleted it. A recorded deletion of an object that they
// have deleted already does nothing. Nothing follows from a recorded change: the deletion of a namespace does not
// delete its contents, which have recorded deletions of their own. Recorded roles decide with [Options.RBAC], and
// recorded configurations of webhooks, policies and quotas apply to the writes of clients.
//
// Custom resources are served by their CustomResourceDefinitions if those are recorded or in [Options.CRDs], and
// otherwise without a schema, as the first line of the file describes them. A recorded definition with CEL rules needs
// [Options.Rules] or [Options.Lenient]. A built-in kind in a version that this server does not have is an error. The
// server makes the namespaces of recorded objects if namespaces are not recorded.
//
// # Waits that never end
//
// In a bubble of testing/synctest, time advances as soon as every goroutine waits. So a program that retries forever,
// such as an informer whose list the server refuses, keeps a processor busy: no time passes in reality between its
// attempts. A test that waits for it ends only at the time limit of go test, ten minutes of real time, and that
// failure does not name the reason. Give each wait a context with a timeout; in virtual time it costs nothing:
//
//	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
//	defer cancel()
//	if err := inf.WaitSynced(ctx); err != nil {
//		t.Fatal(err) // says why
//	}
//
// If an informer's client uses the Config of a server of [Start], the informer fails the test when WaitSynced has
// waited for a day with a context without a deadline.
//
// # Faults
//
// These methods of the server inject faults:
//
//   - History: [Server.Compact] makes versions and tokens expire, [Server.Rollback] restores a backup,
//     [Server.Unregister] removes a resource.
//   - Watches: [Server.DropWatches] cuts every watch within a frame, [Server.EndWatches] ends them properly, and
//     [Server.FailWatches] ends them with an ERROR event. [Server.SetShardedLists] makes a server that ignores shard
//     selectors, or claims that it applies them.
//   - Bookmarks: [Server.Bookmark] sends them, [Server.MuteBookmarks] suppresses them, and [Server.SetStreamingLists]
//     makes a server that refuses, ignores or never ends a streaming list.
//   - Connections: [Server.Freeze] makes the open ones half-open, [Server.BlackHole] and [Server.Refuse] affect new
//     ones, [Server.GoAway] sends GOAWAY, and [Server.SwapCertificate] and [Server.SwapCA] change the certificates of
//     handshakes.
//   - Replicas: [Replica.SetLag] makes a watch cache lag, in all resources or in some.
//   - Discovery: [Server.SetStale] makes a group version stale, and [Server.SetAggregated] removes the newer form.
//
// [Server.Intercept] answers any single request in any way; its documentation lists the ready-made handlers. All of
// them work over HTTP/1.1 and HTTP/2, except [Raw]. [Server.Requests] counts the requests, and [Server.Watches] and
// [Server.Connections] count what is open.
//
// net/http does not allow two faults: a GOAWAY that names an older stream than the newest, and malformed frames of
// HTTP/2.
package clienttest
