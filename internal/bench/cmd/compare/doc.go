// Command compare measures Bowline and client-go side by side and prints a table of medians, with what Bowline is to reach:
//
//	go run ./cmd/compare                     # all rows, three rounds, about a quarter of an hour on two cores
//	go run ./cmd/compare -row watch,slow     # some of them
//	go run ./cmd/compare -json figures.json  # all samples too
//	go run ./cmd/compare -short              # that everything works, in seconds; its figures mean nothing
//
// Nothing else should run meanwhile. Progress goes to standard error. A target that is missed is printed as missed.
//
// # How
//
// A sample is a process of its own: one side with one setting does one job, checks that it has what it should (the pods of
// the cache, the events that were applied, the final states that arrived: a run with a wrong count ends), and reports.
// The sides take turns, every other round backwards, and the samples of one job are spread over the rounds, so that a
// machine that gets slower slows all down. The environment of the samples has no variable that starts with GO or KUBE but
// the one of the setting. The programs are built with the same flags.
//
// All read from one server process on loopback (package canned): 20,000 pods of about 7 KB of JSON each, a third of it
// managedFields, from bytes that it has ready, not compressed. It runs on the same machine, and does for one side what it
// does for the other: copying bytes.
//
// How each figure is measured is in package sample: Sync, Relist, Watch, Slow, Micro, Contention, Patch. Wall times are taken in
// the process. CPU time is that of the process from getrusage, so that garbage collection counts, and the server does not.
// Allocations are runtime.MemStats.Mallocs. Live heap is HeapAlloc after two collections, less what it was before the client
// was made. Memory is VmRSS and VmHWM: the peak of a relist is read after the kernel was told to forget the one before (5
// written to /proc/self/clear_refs), and steady memory is what is resident after two collections and debug.FreeOSMemory. So
// that row needs Linux.
//
// # What is fair
//
//   - Both sides decode JSON, and hold the same objects in the end: *corev1.Pod without managedFields, or six fields of it.
//     Bowline cuts managedFields from the bytes before it decodes, as it does by default. client-go decodes them, and its
//     transform drops them: it has no other way.
//   - Where the cost of a list matters, each side is measured with pages of 500, with one page and with a streaming list.
//     The table has, for each row, the setting with the better median of the row's first figure, and all figures of the row
//     are of that setting. What the others came to is printed under the table; a streaming list is the default of both.
//   - client-go has no rate limit (QPS -1); Bowline has none by default.
//   - client-go's transform to six fields makes a *corev1.Pod, which is what its listers and typed handlers need. A type of
//     its own would be smaller, and could not be read through them.
//   - Bowline's program with six fields does not link k8s.io/api, because a program that brings its own struct does not.
//   - Protobuf, which client-go can speak for built-in types, is not measured: the rows are about JSON, as custom resources
//     have it.
//   - The watch row's events differ from the object in nothing but the version, come as fast as the socket takes them (or
//     at -rate), and all are decoded and applied by both. client-go's handler is called for each. Bowline's may be called
//     less often, when it is told of two changes at once; its calls are in the table.
//   - Get is measured twice. With a namespace and a name at hand client-go's lister is asked, which joins them to a key;
//     with its own kind of key at hand the indexer is.
//   - The slow subscriber is fed without a server: on both sides a second handler keeps up, and tells when all updates are
//     in the cache.
//   - Update, index lookup and Replace are those of the cache alone (client-go: cache.Indexer). Both get objects that are
//     decoded already, with two indexes of one value an object: client-go's functions return it in a new slice, which they have
//     to, and Bowline's as it is (cache.NewValueIndex). Bowline is handed each object's identity, which its decoder reads
//     from the wire; client-go's key function reads it from the object.
//   - The readers and the writer have rates, which are printed as they were reached: a side that does not reach them is
//     measured under less load than the other. A write's time is that of its call.
//   - Patches are compared as functions from bytes to bytes, on a pod of 7 KB that is edited in six places (package edits).
//     client-go has none for JSON and merge patches: its side uses evanphx/json-patch/v5, and gomodules.xyz/jsonpatch/v2 for
//     the difference as a JSON patch, as controller-runtime does, and apimachinery's strategicpatch with its schema at hand.
//     That all make the same of the pod is checked in each sample before anything is measured. The pod before and after was
//     encoded by one program, as it is when a controller compares, so that what has not changed is written alike.
//   - hello is a program that reads a kubeconfig and lists pods, as each side's documentation has it. Modules are those
//     linked that are not the program's own. A cold build is one with an empty build cache, the standard library included.
package main
