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
// Core configmaps, events, namespaces, nodes, pods, secrets and services, apps deployments and coordination.k8s.io
// leases, and whatever [Options.Resources] or [Server.Register] add, as custom resources. The namespaces default,
// kube-system and kube-public exist. All verbs work on all resources: create (with generateName), get, list, watch,
// update, merge patch, delete and deletecollection, and the status subresource; every write can be a dry run. So do
//
//   - paging: the pages of a list show the collection at the version of the first, and their tokens expire;
//   - list and watch at a resource version, by the rules of the Kubernetes documentation "API Concepts", and with
//     initial events; bookmarks; timeoutSeconds; selectors for labels and for the fields that the resource allows;
//   - optimistic concurrency, preconditions, finalizers, generation and managedFields;
//   - discovery, Tables and metadata alone: what kubectl needs.
//
// One counter, as on a real server, versions all resources. Errors are Status bodies in kube-apiserver's words.
//
// # What differs from a real server
//
// Where a test finds another difference from kube-apiserver than these, this package is wrong.
//
//   - Types are not checked, nor defaulted, beyond metadata and the data of config maps and secrets: a pod without
//     containers is a pod. Unknown fields stay. fieldValidation is accepted and does nothing.
//   - There is no access control but one token, and there are no admission plugins but the one for namespaces.
//   - Only merge patches are supported; other types of patch are answered with 415. Answers are JSON only; protobuf
//     is read in the bodies that kubectl create sends.
//   - A namespace is deleted with its contents in the request that deletes it; on a real cluster a controller does
//     it, a little later. Owner references do nothing, and propagationPolicy changes nothing, because there is no
//     garbage collector.
//   - A pod is deleted at once, whatever its grace period, as if the kubelet had done its work.
//   - The status subresource writes status and nothing else; some built-in types of a real server let labels and
//     annotations through as well.
//   - A resource has one version.
//   - 410 comes from [Server.Compact], [Options.HistoryAge] and [Options.HistoryLength]; on a real server, lists and
//     watches have different memories.
//
// # Faults
//
// [Server.Compact] makes versions and tokens expire, [Server.DropWatches] cuts every watch within a frame, and
// [Server.Intercept] answers any request in any way. [Server.Requests] counts what came in.
package clienttest
