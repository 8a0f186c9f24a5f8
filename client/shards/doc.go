// Package shards lets the replicas of a program share its work. Where leader election lets one replica work while the
// others wait, here each has a part of the objects, on nothing but Leases of the cluster's own API server.
//
//	group := shards.New(c, shards.Options{Namespace: "web", Name: "page-controller"})
//	pages := informer.New(client.For(c, Pages), informer.Options{Shards: group})
//	ctl := controller.New("pages", controller.Options{Shards: group}, reconcile, controller.Watch(pages))
//	err := group.Run(ctx, func(ctx context.Context) error { return informer.Run(ctx, ctl) })
//
// Nothing is reconciled while the Group does not run. Informer and controller must have the same Group.
//
// Objects belong to 256 ranges, by a hash of their uid or their namespace (see [meta.ShardBy]). Each replica holds a
// Lease of its own, which shows what it has. From these leases all replicas compute who is to have which range, and
// pass ranges on when one comes, goes or crashes. When one comes, ranges move to it and between no others; when one
// goes, only its ranges move. No replica leads.
//
// # Guarantees
//
//   - At most one replica works on a range at a time. When a range passes on, the contexts of the work on it have ended
//     before work begins elsewhere, and no request with these contexts is sent after that, also if the process was
//     stopped meanwhile (SIGSTOP, a long pause of the machine) and then goes on.
//   - A range that a replica gives up of its own, because another one joins or it leaves itself, passes on within a
//     round trip: the new owner fills its caches first, then the old one lets the work under way end and lets go. If
//     the new owner never gets ready, the old one goes on.
//   - The ranges of a replica that has crashed pass on after Options.LeaseDuration and the time that the others take to
//     fill their caches. No range is nobody's for longer than that, as long as the server answers and not all replicas
//     are about to end. If the replica that is to have a range does not get ready, the next one takes it LeaseDuration
//     later.
//   - The clocks of the machines need not agree, and may be set at any time.
//
// These assume what package leader assumes of clocks. A request that is under way when a range passes on may still take
// effect: give the server a precondition, such as the resource version of an update. DESIGN.md says why it is safe, and
// what is not promised.
//
// # What a replica costs
//
// An informer with Options.Shards lists, watches and caches the ranges of its replica only, if the server selects them
// (KEP-5866, alpha since Kubernetes 1.36, feature gate ShardedListAndWatch). Other servers send everything; then the
// informer reads the identity of each object and decodes those of its ranges. Memory follows the share in both cases,
// traffic only in the first.
//
// Each replica writes its lease once in Options.RetryPeriod, and watches its own and those of the group. So with the
// defaults 16 replicas make 8 writes and 136 events a second, and 64 replicas 32 writes and 2,080 events. Ranges that
// pass on cost a write of each of the two replicas and a list of the leases, however many ranges pass at once. Large
// groups should have longer durations.
//
// # By uid or by namespace
//
// Ranges by uid hold about as many objects each, whatever the names are. How many ranges a replica gets depends on
// chance: with three replicas it is usually 70 to 100, and with eight 22 to 43.
//
// An object and those that it owns have different uids, so they are usually in different ranges: a controller that
// watches children to find their owners needs ranges by namespace. And an object that is deleted and made again has
// another uid: one replica may still reconcile that its key is gone while another reconciles the new object. So let a
// finalizer do what has to follow a deletion.
//
// By namespace the work is as even as the namespaces are. One range has all objects of a namespace, all objects without
// one, and those of namespaces whose names differ in the last two characters only, such as team-01 to team-99. Then one
// replica has all the work; see meta.ShardByNamespace.
//
// # Faults
//
//	FAULT                                     EFFECT
//	replica crashes                           others take its ranges after LeaseDuration
//	replica is stopped, or its machine        it has lost all ranges when it goes on, and joins again
//	sleeps, for longer than RenewDeadline
//	server away for longer than that          all replicas lose all ranges, and join again when it is back; LeaseDuration later if
//	                                          it has forgotten its history (410)
//	watch dead                                another one is opened, and goes on where that one ended
//	etcd restored from a backup               all replicas lose all ranges, and take them again after up to two LeaseDurations.
//	                                          The server may forget renewals, so two may work on a range for RetryPeriod
//	a lease deleted by hand                   its replica stops at once and joins again; others wait until it would have run out
//	a lease edited by hand                    its replica writes it again; others take it for as it was, or for everything if they have missed a renewal
//	another process with the same identity    Run returns leader.ErrShared
//	replicas with another Options.By           those that come later work on nothing until the others have left; all of them report it
//	more replicas than ranges                 some have none
//	a follower that never gets ready          its replica gets no range; after LeaseDuration it reports which follower that is
//
// # Permissions
//
//	VERB      RESOURCE                    WITHOUT IT
//	create    leases.coordination.k8s.io  nothing works
//	get       leases.coordination.k8s.io  nothing works
//	update    leases.coordination.k8s.io  nothing works
//	list      leases.coordination.k8s.io  nothing works
//	watch     leases.coordination.k8s.io  ranges pass on one or two LeaseDurations later, and the refusal is reported
//	delete    leases.coordination.k8s.io  leases of replicas that have ended stay
package shards
