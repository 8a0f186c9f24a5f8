// Command realoperators runs two real operators of controller-runtime before and after the one line that gives them
// the cache of informer/ctrlcache: NewCache: ctrlcache.New in their manager.Options. It compares the states that they
// lead to through a storm of faults, and their start, memory and CPU time without faults. Run it in the directory of
// module internal/proof/e2e, on Linux:
//
//	go run ./realoperators
//
// The operators are the command machineset of openshift/machine-api-operator, which keeps as many Machines as a
// MachineSet says, and openshift/cluster-autoscaler-operator, which has two controllers and a report. The program takes
// their modules from the module cache, or from the module proxy, makes copies in a temporary directory, and builds each
// operator twice. The builds differ only in this line and its import: both have the modules that informer/ctrlcache
// requires. If a module that an operator needs does not compile with those, both builds use a copy without the lines in
// question. Our go.mod stays as it is.
//
// # The storm
//
// Each build runs against a new etcd and kube-apiserver of this module, through a proxy that breaks requests for 90
// seconds:
//
//   - reads and writes get 429, 500 and 503, or are stalled; responses are cut; responses to writes that the server
//     has done are lost
//   - watches get 410 before or within the stream; they are closed, stalled, or cut, also within an event
//   - every ten seconds all connections of the operator are closed, and etcd forgets its history
//   - halfway, kube-apiserver is killed and started again
//
// If the operator ends, it is started again. At the same time the program plays users: it creates, changes and deletes
// objects, in an order that a seed decides. The program acts for the controllers that such a cluster lacks. After the
// faults the operator has five minutes to reach a state in which nothing is missing, and which stays the same for five
// seconds. Before the states of both builds are compared, uids, times, versions and generated names are replaced,
// because a server chooses them at random. The exit code is 1 if the states differ. With -copy they stay as text
// beside the builds and logs.
//
// # The figures
//
// The builds run in turns against one cluster with many objects, without faults. The start is over when the controller
// has reconciled every object once. Two seconds after the last reconcile the memory is read from /proc (VmRSS). Then
// 1,000 objects change; their CPU time ends two seconds after the last reconcile. The peak is VmHWM at the end. Both
// builds have their defaults. The figures are medians.
//
//	-operator NAME  runs only machineset or cluster-autoscaler
//	-storm TIME     how long the faults last; 0 leaves this part out
//	-rounds N       how often each build is measured; 0 leaves this part out
//	-seed N         of the play and the storm. Which request meets which fault also depends on the operator
//	-copy DIR       where to make the copies, builds, states and logs, which stay. DIR must not have any of an earlier
//	                run
//
// The first run compiles Kubernetes and both operators, which takes minutes. A run takes about half an hour. CI does
// not run it.
package main
