// Package controllers runs the controllers of a cluster against a server that has none: against package clienttest, in
// virtual time as well, or against a kube-apiserver without a kube-controller-manager.
//
//	server := clienttest.Start(t, clienttest.Options{})
//	controllers.Start(t, server.Config(), controllers.GarbageCollector())
//
// Each controller is a small version of the controller of that name in Kubernetes' kube-controller-manager. A
// controller is an ordinary client of the server: it lists and watches, and it writes by requests that a test can
// intercept, count and refuse.
//
// [Deployments], [ReplicaSets] and [Jobs] make pods, and a [Kubelet] runs them: it starts no programs, but gives pods
// the status that they would have. A test tells it when a container starts, becomes ready or ends, or lets that happen
// by itself after a time:
//
//	kubelet := controllers.NewKubelet(controllers.KubeletOptions{})
//	controllers.Start(t, server.Config(), controllers.Jobs(), kubelet)
//	...
//	err := kubelet.Finish(ctx, pod, "main", 1)
//
// Package clienttest/containers runs functions of the test as the commands in such pods.
//
// The controllers of workloads make no Events. There are no controllers for stateful sets, daemon sets and cron jobs,
// and none for the Endpoints of services.
//
// In a bubble of testing/synctest, synctest.Wait returns when the controllers have nothing left to do.
package controllers
