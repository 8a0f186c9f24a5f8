// Package controllers runs the controllers of a cluster against a server that has none: against package clienttest, in
// virtual time as well, or against a kube-apiserver without a kube-controller-manager.
//
//	server := clienttest.Start(t, clienttest.Options{})
//	controllers.Start(t, server.Config(), controllers.GarbageCollector())
//
// Each controller does in small what the controller of that name does in Kubernetes' kube-controller-manager. A
// controller is an ordinary client of the server: it lists and watches, and it writes by requests that a test can
// intercept, count and refuse.
//
// In a bubble of testing/synctest, synctest.Wait returns when the controllers have nothing left to do.
package controllers
