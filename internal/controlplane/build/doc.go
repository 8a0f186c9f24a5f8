// Package build builds the programs of a Kubernetes control plane from their Go modules: etcd, kube-apiserver,
// kube-controller-manager and kubectl.
//
// The package holds a go.mod and a go.sum for each minor release of Kubernetes that it knows, and a main package for
// each program. [Programs] writes them into the cache of the user and calls `go build` there. So it needs the go
// command, and the module proxy or a filled module cache. It downloads no executable.
//
// A program is built once for each content of those files, version of Go, operating system and architecture. Processes
// that need it at the same moment wait for one build. An executable appears in the cache only when it is complete. If a
// build is killed, the next one begins again, with the packages that the Go build cache already has.
//
// The servers end when their standard input ends, so they do not outlive the process that started them: see package
// lifeline. kubectl needs its standard input and has no lifeline.
package build
