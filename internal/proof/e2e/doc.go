// Package e2e holds the tests of Bowline that need a real etcd and a real kube-apiserver, which are started once for
// all tests of the package and ended with them.
//
// It is a separate module, so that users of Bowline do not depend on the modules of its tests, such as client-go and
// controller-runtime. It needs a Go toolchain, the Go module proxy or a filled module cache, and nothing else: no
// cluster, no container, no downloaded binary. Package internal/controlplane says what the control plane is and what
// it leaves out, and internal/controlplane/build how it is built.
//
//	go vet ./... && go test -count=1 ./...
//
// The first run builds the servers, which takes minutes. The executables stay in the cache of the user, and later runs
// start in seconds. Run go vet first, so that the packages that the tests and the servers share are compiled only once.
// On a slow machine, -timeout also extends the time that the start may take. -count=1 is necessary because the go
// command cannot see that a cached result depended on a server.
//
// The servers are those of the newest minor release that package client/clienttest/apiserver builds. To run the same
// tests with the servers of another release:
//
//	go test -count=1 . -kubernetes 1.36
//
// Package clienttest follows 1.37. The tests know these differences between the two:
//
//	                                     1.36                                  1.37
//	the proxy of a service reads         Endpoints                             EndpointSlices
//	a proxied service does not exist     404 NotFound                          503 ServiceUnavailable
//	a patch that is not JSON             404 if the object does not exist,     400 "invalid JSON patch", before
//	                                     else 400 with the parser's error      the object is looked up
//	an apply that is not YAML            "error decoding YAML: error           "error encoding patch: yaml: ...", or
//	                                     converting YAML to JSON: yaml: ..."   "error decoding patch: error converting
//	                                                                           YAML to JSON: yaml: ..." if it begins
//	                                                                           with {
//	an apply that is not an object,      "error decoding YAML: ...",           "error decoding patch: ...",
//	or repeats a key (Strict)            "error strict decoding YAML: ..."     "error strict decoding patch: ..."
//	an owner reference without a kind    "metadata.ownerReferences.kind:       "metadata.ownerReferences[0].kind:
//	                                     Invalid value: ..."                   Required value: ..."
//	the cause of a wrong owner           metadata.ownerReferences              metadata.ownerReferences[0]
//	rows of a default StorageClass,      "NAME (default)"; name and age        the name; the columns of its Table
//	and of a CustomResourceDefinition
//	an access review with both kinds     "spec.nonResourceAttributes:          "spec: Invalid value: ...: exactly one of
//	of attributes, or with neither       Invalid value: ...", or               nonResourceAttributes or
//	                                     "spec.resourceAttributes: ..."        resourceAttributes must be specified"
//	a certificate signing request,       "Approved and Denied conditions       "must specify at most one of: ..."
//	approved and denied                  are mutually exclusive"
//	a definition with a set of objects   no warning                            a warning
//	the published schemas                without them                          attestations of a token request, modes
//	                                                                           and users of files in volumes, and others
//
// Tests that kill the API server and start it again have their own servers: informers through restarts and lost
// history, contenders of package leader and of client-go for one lease, and two replicas of examples/operator, which
// are killed and ended too. The test of three processes that share work by package client/shards also has its own
// servers, with the feature ShardedListAndWatch and without it. It takes two minutes, so .ci/run leaves it to
// .ci/nightly.
//
// The results of random patches are compared with those of the server, with sixty seeds for each kind of patch. To try
// others:
//
//	go test -count=1 -run 'Patch|Merge|Difference|Directive' . -first 1000 -seeds 500
//
// Package collectors plays random histories with the controllers of package client/clienttest/controllers and with a
// kube-controller-manager.
//
// # Other people's programs against clienttest
//
// Two larger comparisons take minutes, so .ci/nightly has them. Run them after a change of package clienttest as well:
//
//	go run ./peersuites
//	go test -count=1 -v -timeout 30m -run Kubectl . -script all
//
// The first runs controller-runtime's own tests of its client and its cache against clienttest. The second runs more
// than 450 commands of kubectl against a real server and clienttest, and compares exit codes, standard output and
// standard error. Without -script, a test runs a short selection of them. To add a command, add a line to a file in
// kubectlscript/commands.
//
// Each comparison has a file exceptions.txt with the differences that are allowed, and the reason for each. A
// comparison fails if it finds a difference that is not in that file, and also if a difference in the file is gone. An
// exception is right only if the documentation of clienttest describes this difference from a real server, or if the
// difference does not come from the server at all. Everything else is a defect of clienttest, which is mended there.
package e2e
