// Command peersuites runs the tests of other projects against clienttest: those of controller-runtime, and those of an
// operator, trust-manager. It also runs those of controller-runtime with the cache of informer/ctrlcache. Run it in the
// directory of module internal/proof/e2e:
//
//	go run ./peersuites
//
// It takes a project from the module cache, or from the module proxy, makes a copy in a temporary directory, and
// changes the code in it that starts a kube-apiserver. In controller-runtime that is the import of envtest, which it
// replaces by package environment. The operator keeps envtest, which installs its definitions and webhooks, and is
// given clienttest as an existing cluster. A copy has its own go.mod, which requires this repository; our go.mod stays
// as it is.
//
// It prints how many specs passed and which did not. File exceptions.txt has the specs that need not pass, each with
// the reason. The exit code is 1 if another spec fails, or if one of these passes: then clienttest has become better,
// and the entry must be removed. An exception is right if a spec needs a feature that clienttest does not have, by its
// documentation. If the spec shows a difference from kube-apiserver that is not documented, clienttest is wrong.
//
//	-copy DIR      makes the copies there, and leaves them, to run single specs in them by hand
//	-suite NAME    runs only one of the suites, and checks its exceptions alone
//	-focus REGEXP  runs only the specs whose names match, and checks their exceptions alone
//	-ctrlcache     runs the suites of the cache, the client, the builder and the controller with the cache of
//	               informer/ctrlcache, and with a real etcd and kube-apiserver. The copy then differs in the constructor
//	               of the cache only: where a test calls cache.New, and where managers take their default from. The
//	               exceptions are in exceptions-ctrlcache.txt
//
// The first run compiles client-go and its modules, which takes minutes. .ci/nightly runs all suites in both ways.
package main
