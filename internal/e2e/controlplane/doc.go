// Package controlplane runs a real Kubernetes control plane, etcd and kube-apiserver, on loopback for the time of a test.
//
// # What you get
//
// One etcd and one kube-apiserver, as child processes, with their data in a temporary directory and on ports that the
// kernel chose. The API server speaks TLS with a certificate of its own authority, authenticates by bearer token, service
// account token and client certificate, and authorizes by RBAC. Two users exist: one who may do everything, and one who is
// known and may do nothing beyond discovery; Issue and Sign make the certificates of others. When Start returns, the server
// says that it is ready, the RBAC bootstrap roles exist, and so does the namespace "default".
//
// What the API server connects to by itself, a pod or a node that it proxies to, a webhook, it reaches through Listen only:
// such a connection ends in the test, whatever its address is.
//
// Several control planes may run side by side; they share nothing.
//
// # What you do not get
//
// There is no controller manager, no scheduler and no node. So a namespace that is deleted stays Terminating, nothing is
// garbage collected, no pod is scheduled or runs, and pods come without a service account. GitVersion in /version is the
// placeholder that Kubernetes compiles in; major and minor are right.
//
// # What is left behind
//
// Nothing, as far as it can be done. Stop ends both processes and removes the directory. If the test process ends without
// Stop (a panic, a test timeout, SIGKILL), the servers notice by themselves, remove the directory and end: see package
// lifeline. On Windows, that way out leaves the directory, because open files cannot be removed there.
//
// # How it is built
//
// The executables are the tools of this module (`go tool`), built by the go command that is first in PATH. The linked
// executables stay in the Go build cache, so that only the first start pays. Start must therefore be called with a working
// directory inside this module, as it is in every test of this module.
package controlplane
