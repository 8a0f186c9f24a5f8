// Package e2e holds the tests of Bowline that need the real thing: an etcd and a kube-apiserver, started once for all
// tests of the package and ended with them.
//
// It is a module of its own, so that nothing of Kubernetes reaches those who use Bowline. It needs a Go toolchain, the
// Go module proxy or a filled module cache, and nothing else: no cluster, no container, no downloaded binary. Package
// controlplane says what the control plane is and what it leaves out.
//
//	go vet ./... && go test -count=1 ./...
//
// The first run compiles the servers, which takes minutes and prints nothing meanwhile; the results stay in the Go build
// cache, and later runs start in seconds. Hence go vet before it: it compiles the same once, where `go test ./...` alone
// would do so for the packages and for the control plane at the same time. On a slow machine, -timeout also extends the
// time that the start may take. -count=1 because the go command cannot see that a cached result depended on a server.
//
// Random patches are compared with what the server makes of them, by sixty seeds each. To try others:
//
//	go test -count=1 -run 'Patch|Merge|Difference|Directive' . -first 1000 -seeds 500
package e2e
