// Command compare measures Bowline side by side with client-go or controller-runtime. It prints a table of medians for
// each row, with Bowline's targets, as soon as the row is measured:
//
//	go run ./cmd/compare                     # all rows, three rounds, about an hour on two cores
//	go run ./cmd/compare -row watch,slow     # some of them
//	go run ./cmd/compare -budget 20m         # the rows that begin within 20 minutes; the end names the others
//	go run ./cmd/compare -json figures.json  # all samples too
//	go run ./cmd/compare -short              # checks that everything works, in seconds; its figures mean nothing
//
// Nothing else should run at the same time. Each table says what the load of the machine was before and after its
// samples, averaged over a minute. The load after the samples includes the measurement itself, and the load before them
// includes the previous row. Progress goes to standard error. A missed target is printed as missed.
//
// With -budget, compare begins a row only before the budget has ended, and a further round of the row only if the rest
// of the budget is at least as long as the last round took. It finishes each round that it has begun. A table says if
// its row has fewer samples for that reason.
//
// # How
//
// A sample is one run of a process: one side with one setting does one job, checks its result (the pods of the cache,
// the events that were applied, the final states that arrived) and reports. A wrong count ends the run. The sides take
// turns, in every other round backwards, so that a machine that gets slower slows all of them down. The environment of
// the samples has no variable that starts with GO or KUBE except that of the setting. The programs are built with the
// same flags.
//
// All read from one server process on loopback (package canned): 20,000 pods of about 7 KB of JSON each, a third of it
// managedFields, from prepared bytes, not compressed. It runs on the same machine, and does the same for both sides: it
// copies bytes.
//
// The rows sync-1 to sync-custom, and manager-real, read other collections, each from a separate server: pods with one,
// 20 or 1,000 of each workload; pods that share no part; pods like those of a real cluster; deployments, secrets and
// custom resources. Collections of package canned says what is in them. They show how much of the memory depends on
// what repeats.
//
// The rows of a manager are one program of controller-runtime (package managed), of which only NewCache differs, with
// the defaults of both: a streaming list, managedFields in the cache. In the rows manager-fields the program reads the
// node name and the phase of pods. ctrlcache caches a projection of them. controller-runtime caches whole pods, or uses
// a transform that drops everything but these two fields and the metadata.
//
// The rows failover and own-write need a server that stores what it is sent. Each of their samples has its own process
// with the server of package clienttest, the same for both sides.
//
// Package sample says how each figure is measured: Sync, Relist, Watch, Slow, Micro, Contention, Patch, Work,
// Priorities, Controlled, Failover, OwnWrites, Exec, Idle. Wall times are taken in the process. CPU time is that of the
// process from getrusage, so it includes garbage collection and excludes the server. Allocations are
// runtime.MemStats.Mallocs. Live heap is HeapAlloc after two collections, minus its value before the client was made.
// Memory is VmRSS and VmHWM. The peak of a relist is read after the kernel was told to forget the last one (5 written
// to /proc/self/clear_refs), and steady memory is the resident memory after two collections and debug.FreeOSMemory. So
// that row needs Linux.
//
// # What is fair
//
//   - Both sides decode JSON, and hold the same objects in the end: *corev1.Pod without managedFields, or six fields of
//     it. Bowline cuts managedFields from the bytes before it decodes, as it does by default. client-go decodes them,
//     and its transform drops them, because it has no other way.
//   - If the cost of a list matters, each side is measured with pages of 500, with one page and with a streaming list.
//     The table has the setting with the best median of the row's first figure, and all figures of the row are of that
//     setting. The results of the other settings are printed under the table; a streaming list is the default of both.
//   - client-go has no rate limit (QPS -1); Bowline has none by default.
//   - client-go's transform to six fields makes a *corev1.Pod, which its listers and typed handlers need. Another type
//     would be smaller, but could not be read through them.
//   - Bowline's program with six fields does not link k8s.io/api, because a program that brings its own struct does
//     not.
//   - Protobuf, which client-go can use for built-in types, is not measured: the rows are about JSON, which custom
//     resources have.
//   - The watch row's events differ from the object only in the version, come as fast as the socket takes them (or at
//     -rate), and both sides decode and apply all of them. client-go's handler is called for each. Bowline's may be
//     called less often, because it may get two changes at once; its calls are in the table.
//   - Get is measured twice. With a namespace and a name, client-go's side asks the lister, which joins the two to a
//     key. With a key at hand, it asks the indexer.
//   - The slow subscriber is fed without a server: on both sides a second handler keeps up, and reports when all
//     updates are in the cache.
//   - Update, index lookup and Replace measure only the cache (client-go: cache.Indexer). Both get decoded objects,
//     and have two indexes, in which each object has one value. client-go's index functions must return that value in
//     a new slice; Bowline's return the value itself (cache.NewValueIndex). Bowline is given each object's identity,
//     which its decoder reads from the wire; client-go's key function reads it from the object.
//   - The readers and the writer have rates. The reached rates are printed, because a side that does not reach them is
//     measured under less load than the other. A write's time is that of its call. The p99 alone misleads: a side may
//     wait seldom and long, so the p999 and the longest write are in the table too.
//   - Patches are compared as functions from bytes to bytes, on a pod of 7 KB that is edited in six places (package
//     edits). client-go has no JSON and merge patches: its side uses evanphx/json-patch/v5, gomodules.xyz/jsonpatch/v2
//     for the difference as a JSON patch, as controller-runtime does, and apimachinery's strategicpatch with a schema
//     made before. Each sample first checks that all of them give the same pod. The pod before and after was encoded by
//     one program, as when a controller compares, so that unchanged parts have the same text.
//   - The rows of the work queue have two queues of client-go. The one with a rate limiter is what a controller needs,
//     because the other has no delays and no retries. Bowline has one queue, which always knows since when each key
//     waits and is in progress; client-go's queues know it only with metrics, which are off here. A key is two strings,
//     as in a controller. A worker of Bowline is Queue.Work. controller-runtime's queue adds keys in the background, so
//     an add ends when the queue counts the key; only the CPU times are comparable. In queue-groups each of 16 workers
//     waits for 100 µs for each key until the few keys are done, and not at all afterwards.
//   - The rows controller and controller-typed are a whole program from its start until a reconcile that does nothing
//     has run for each pod: Bowline's informer.Run next to controller-runtime's manager and builder, each with its
//     defaults, which is one worker. In controller, controller-runtime caches *corev1.Pod, which is its usual way, and
//     Bowline a struct of six fields, which is its own; in controller-typed, Bowline caches *corev1.Pod too. Both drop
//     managedFields. controller-runtime serves no metrics, logs nothing, and speaks JSON; by default it asks for
//     protobuf for built-in types. It first asks for the resources that the server has, which are two small requests.
//   - failover holds 20 elections at once, each on its own lease with the default durations. The leader is told to end,
//     and the time is from then until the other contender leads, so it includes the write that releases the lease.
//     client-go is told to release the lease (ReleaseOnCancel), which it does not by default.
//   - own-write writes to each of 200 objects once and reads that write from the cache, while the server's watch is 100
//     ms behind. In controller-runtime a reconcile writes and reads, and the read waits
//     (EnableReadYourWritesConsistency). In Bowline a reconcile writes and asks for another one, which does not begin
//     before the cache has the write (controller.Fresh). A read of another state ends the run. Both have
//     *corev1.ConfigMap. The figure counts objects, so that Bowline's second reconcile is part of its cost.
//   - exec and exec-idle speak v5.channel.k8s.io with the canned server, over http: client-go's NewWebSocketExecutor
//     next to remote.Command. Both write the standard output to a counter of the sample, and drop the standard error:
//     client-go's is io.Discard, because its API requires one, and Bowline's is nil. On both sides each session makes
//     its own connection. The server sends an output from prepared frames of 32 KiB. The first byte is timed from the
//     call to the first Write, in sessions one after another. An idle session has an open input and has received one
//     byte.
//   - hello is a program that reads a kubeconfig and lists pods, written as in each side's documentation. Modules are
//     the linked ones, without the program's own. A cold build has an empty build cache, and includes the standard
//     library.
package main
