// Package collectors compares the garbage collector and the namespace controller of package controllers with those of a
// kube-controller-manager. It plays random histories of owners, propagation policies and finalizers on two servers:
// clienttest with our controllers, in virtual time, and a kube-apiserver with a kube-controller-manager. After each
// step it waits until both are at rest, and compares all objects.
//
//	go test ./collectors                  # some histories
//	go test ./collectors -seeds 1000      # more
//	go test ./collectors -first 17 -seeds 1 -v   # one, with its steps
package collectors
