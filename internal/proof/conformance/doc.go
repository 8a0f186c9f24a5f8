// Package conformance is a suite of tests that every API server has to pass: the one in the process, package
// client/clienttest, and a real kube-apiserver. It goes through package client, as a user does, so it tests that
// package too.
//
// If the two servers differ, the one in the process is wrong and is mended. It follows kube-apiserver 1.37. The suite
// asks the server for its version: if kube-apiserver 1.36 answers differently, the case has both answers; see in136.
package conformance
