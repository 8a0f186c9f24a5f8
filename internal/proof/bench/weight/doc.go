// Command weight prints the costs of programs that are built with Bowline, with client-go and with controller-runtime:
//
//	go run ./weight                  # the binaries and their builds
//	go run ./weight -builds 0        # without the times of the builds, which take ten minutes
//	go run ./weight -tasks hello     # the programs of one task
//	go run ./weight -heap            # the memory of a synced cache as well
//	go run ./weight -builds 3 -heap  # the medians of three cold builds
//
// # Builds
//
// Each program is written once for each side. Hello loads a kubeconfig and lists pods. The controller keeps the
// cluster's pods in a cache, and reconciles them from a queue with workers, reading the cache. The operator keeps a
// copy of each ConfigMap with a label, with owner references and leader election. Whole pods is hello with all fields
// of pods, whose types come from client/builtin or from k8s.io/api. A test checks that Bowline's programs stay within
// the limits that RESULTS.md promises. A binary is built without symbols (-s -w), and with -trimpath if its build is
// timed. Packages are all that are linked, including the standard library and main; modules are all that are linked,
// including the library. A cold build starts with an empty build cache, so it also compiles the standard library; the
// modules have been downloaded before. The CPU time is that of all processes of the build, and depends less on the
// machine's other work.
//
// # Heap
//
// The folders under heap hold a program each that syncs a cache from an HTTP server in this process and then reports on
// itself: the bytes of heap in use after two garbage collections, the allocations until the sync, the peak of its
// resident memory (VmHWM, so on Linux only), and the time from its first line to the sync. The CPU time is that of the
// whole process, including the two collections, and depends less on the machine's other work. The pods have about 7 KB
// of JSON each, a third of it managedFields, in the form of a kube-apiserver. The server answers uncompressed JSON from
// memory, which favours no side: a list with limit and continue, and a streaming list (a watch with initial events) for
// sides that ask for it. The line under the table says what each side asked for.
//
// client-go asks for a streaming list by default; KUBE_FEATURE_WatchListClient=false in the environment of this command
// makes it page, which changes the time and the peak of memory.
//
// The sides are Bowline with a struct of six fields, Bowline with *corev1.Pod, client-go's shared informer with its
// defaults, and the same with a transform that keeps only those six fields.
package main
