// Package apiserver runs the real etcd and kube-apiserver for a test, and on request the real kube-controller-manager.
// Package clienttest answers as they do, within the process and in virtual time. Use this package to check a test
// against the original, or where a test needs a part of Kubernetes that clienttest does not have.
//
// In a test, [Start] runs a server until the test ends:
//
//	server := apiserver.Start(t, apiserver.Options{CRDs: []string{"config/crd/bases"}})
//	c, err := client.New(server.Config())
//
// [Options] and [Server] have the names of package clienttest. So a test can run on either, by a flag:
//
//	var minor = flag.String("apiserver", "", "minor release of Kubernetes to test with; empty means clienttest")
//
//	func start(t *testing.T) client.Config {
//		crds := []string{"config/crd/bases"}
//		if *minor == "" {
//			return clienttest.Start(t, clienttest.Options{CRDs: crds}).Config()
//		}
//		return apiserver.Start(t, apiserver.Options{Minor: *minor, CRDs: crds}).Config()
//	}
//
// Elsewhere, [New] makes a server, and [Server.Run] runs it until its context ends.
//
// # Building
//
// The servers are built with the go command, from the modules of [Minors]. No executable is downloaded. The first build
// of a minor release compiles about 1,500 packages, which takes minutes, and later ones reuse what the Go build cache
// has. The executables stay in the cache of the user ([os.UserCacheDir]), in bowline/kubernetes, and a start with
// them takes seconds. Several processes that need the same executables wait for one build. Executables that have not
// been used for 30 days are removed after a later build.
//
// The build needs the go command in PATH, the module proxy or a filled module cache, about 3 GB in the Go build cache
// for each minor release, and 2 GB of memory. It ignores GOFLAGS, a go.work and a vendor folder; if the environment's
// GOTOOLCHAIN is too old for a release, the go command downloads a newer toolchain.
//
// A build counts as time of the test that needs it. To build earlier, call [Build] in TestMain, or in a program.
//
// # The servers
//
// They listen on ports of 127.0.0.1 that were free, so several servers run side by side. The API server authenticates
// by token, service account and client certificate, and authorizes by RBAC; clients with [Server.Config] may do
// everything, and may impersonate others to try what their roles allow. Etcd does not wait for its disk.
//
// Without Options.ControllerManager nothing deletes the children of a deleted owner or the contents of a namespace, and
// pods have no service account. There is no scheduler and no node, so no pod runs. The API server calls webhooks at
// their url; it reaches no services, pods or nodes.
//
// If a server ends by itself, the test fails with the end of its log. At the end of a failed test, the test's log has
// the last lines of the API server's. The servers end with the test process even if that is killed, because their
// standard input ends then.
//
// The servers run in real time, so Start fails within a bubble of testing/synctest. The package is tested on Linux. It
// builds the servers on macOS and Windows too, but they are not tested there.
package apiserver
