// Package controlplane runs a real Kubernetes control plane, etcd and kube-apiserver, on loopback for the time of a
// test.
//
// # The control plane
//
// It is one etcd and one kube-apiserver, as child processes, with their data in a temporary directory and on ports
// that the kernel chose. The API server speaks TLS with a certificate of its own authority, authenticates by bearer
// token, service account token and client certificate, and authorizes by RBAC. There are two users: one may do
// everything, and the other may do nothing beyond discovery. Issue and Sign make the certificates of others. When
// Start returns, the server says that it is ready, and the RBAC bootstrap roles and the namespace "default" exist.
//
// The API server connects to other servers only through Listen: pods and nodes that it proxies to, and webhooks. Such
// a connection ends in the test, whatever its address is.
//
// Several control planes may run side by side; they share nothing.
//
// # Missing parts
//
// There is no controller manager, no scheduler and no node. So a namespace that is deleted stays Terminating, nothing
// is garbage collected, no pod is scheduled or runs, and pods come without a service account. GitVersion in /version
// is the placeholder that Kubernetes compiles in; major and minor are right.
//
// # Cleaning up
//
// Stop ends both processes and removes the directory of the run. If the test process ends without Stop (a panic, a
// test timeout, SIGKILL), the servers notice by themselves, remove the directory and end: see package lifeline. On
// Windows, this leaves the directory, because open files cannot be removed there.
//
// # Building
//
// The executables are the tools of this module (`go tool`), built by the go command that is first in PATH. The linked
// executables stay in the Go build cache, so that only the first start pays. Start must therefore be called with a
// working directory inside this module, as it is in every test of this module.
package controlplane
