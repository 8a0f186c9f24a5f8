// Package controlplane runs a real Kubernetes control plane, etcd and kube-apiserver, on loopback for the time of a
// test. Package client/clienttest/apiserver is the part of it that users see.
//
// # The control plane
//
// It is one etcd and one kube-apiserver, as child processes, with their data in a temporary directory and on ports
// that the kernel chose. The API server speaks TLS with a certificate of its own authority, authenticates by bearer
// token, service account token and client certificate, and authorizes by RBAC. There are two users: one may do
// everything, and the other may do nothing beyond discovery. Issue and Sign make the certificates of others. When
// Start returns, the server says that it is ready, and the RBAC bootstrap roles and the namespace "default" exist.
//
// With Options.Network, the API server connects to other servers only through Listen: pods and nodes that it proxies
// to, and webhooks. Such a connection ends in the test, whatever its address is. Without Options.Network, the API
// server calls webhooks at their url, also on loopback.
//
// Several control planes may run side by side; they share nothing.
//
// # Missing parts
//
// There is no scheduler and no node, so no pod is scheduled or runs. Without Options.ControllerManager a namespace that
// is deleted stays Terminating, nothing is garbage collected, and pods come without a service account.
//
// # Cleaning up
//
// Stop ends the processes and removes the directory of the run. If the test process ends without Stop (a panic, a
// test timeout, SIGKILL), the servers notice by themselves, remove the directory and end: see package lifeline. On
// Windows, this leaves the directory, because open files cannot be removed there.
//
// # Building
//
// Package build builds the executables, and keeps them in the cache of the user.
package controlplane
