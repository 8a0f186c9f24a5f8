// Package conformance is a suite of tests that every API server has to pass: the one in the process, package
// client/clienttest, and a real kube-apiserver. It goes through package client, as a user does, so it tests that too.
//
// Where the two servers differ, the one in the process is wrong and is mended.
package conformance
