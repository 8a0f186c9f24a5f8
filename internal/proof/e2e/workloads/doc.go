// Package workloads plays scenarios of deployments, replica sets, jobs, endpoint slices and service accounts on two
// clusters, and compares them: clienttest with the controllers of package client/clienttest/controllers, in virtual
// time, and a kube-apiserver with a kube-controller-manager. The kubelet of package controllers runs the pods of both.
//
//	go test -count=1 ./workloads
//	go test -count=1 ./workloads -run 'TestControllersDoTheSame/a_paused'
//
// A scenario is some steps in a namespace. After each step both clusters come to rest, and must have the same objects,
// apart from uids, versions, times, addresses, hashes, messages and the random ends of names. The image of a container
// tells the kubelet what happens to the container: see life.
package workloads
