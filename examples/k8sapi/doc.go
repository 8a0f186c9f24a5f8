// Command k8sapi uses the types of k8s.io/api with Bowline, as they are: it schedules a few pods onto nodes and
// prints, from an informer with an index, what runs on each node.
//
//	go run .                       # against an API server inside the process
//	go run . -kubeconfig FILE      # against a cluster: it only reads the pods that are there
//
// There is nothing to register: a descriptor (types.go) binds *corev1.Pod to its resource, and from then on every call
// takes and returns *corev1.Pod. The price is the size of these types, in the binary and in the cache; the root
// module's README compares them with a struct that names only the fields that a program reads.
//
// It is a module of its own, so that Bowline itself does not depend on k8s.io. Its tests prove what the README says of
// these types: that each verb works on them, that the generic functions of package meta do, and that what Bowline
// writes and reads is byte for byte and value for value what encoding/json makes of them.
package main
