// Package shards divides the objects of a program among its replicas. With leader election one replica works while the
// others wait; here each replica works on a part of the objects. It needs only Leases of the cluster's API server.
//
//	group := shards.New(c, shards.Options{Namespace: "web", Name: "page-controller"})
//	pages := informer.New(client.For(c, Pages), informer.Options{Shards: group})
//	ctl := controller.New("pages", controller.Options{Shards: group}, reconcile, controller.Watch(pages))
//	err := group.Run(ctx, func(ctx context.Context) error { return informer.Run(ctx, ctl) })
//
// Nothing is reconciled while the Group does not run. The informer and the controller must have the same Group.
//
// Each object belongs to one of 256 ranges, by a hash of its uid or its namespace (see [meta.ShardBy]). Each replica
// holds its own Lease, which lists its ranges. From these leases every replica computes the owner of each range. Ranges
// move when a replica joins, leaves or crashes: if it joins, only to the new replica; if it leaves or crashes, only its
// own ranges. No replica is a leader.
//
// # Guarantees
//
//   - At most one replica works on a range at a time. When a range moves, the contexts of the work on it have ended
//     before work begins elsewhere, and no request with these contexts is sent after that, even if the process was
//     stopped in between (SIGSTOP, a long pause of the machine) and continues.
//   - A range that a replica gives up, because another one joins or it leaves itself, moves within a round trip: the
//     new owner first fills its caches; then the old owner finishes the work under way and releases the range. If the
//     new owner never gets ready, the old owner keeps the range.
//   - The ranges of a crashed replica move after Options.LeaseDuration and the time that the new owners take to fill
//     their caches. Every range has an owner again within that time, as long as the server answers and not all replicas
//     are about to end. If the new owner of a range does not get ready, the next replica takes it LeaseDuration later.
//   - The clocks of the machines need not agree, and may be set at any time.
//
// The guarantees make the same assumptions about clocks as package leader. A request that is under way when a range
// moves may still take effect. To prevent that, send a precondition, such as the resource version of an update.
// DESIGN.md explains why this is safe, and what is not guaranteed.
//
// # Costs
//
// An informer with Options.Shards lists, watches and caches the ranges of its replica only, if the server selects them
// (KEP-5866, alpha since Kubernetes 1.36, feature gate ShardedListAndWatch). Other servers send everything, and the
// informer decodes only the objects of its ranges. Memory is proportional to the share of the replica in both cases,
// traffic only in the first.
//
// Each replica writes its lease once in Options.RetryPeriod, and watches those of the group. With the defaults, 16
// replicas make 8 writes and 136 events a second, and 64 replicas 32 writes and 2,080 events, so large groups should
// use longer durations. When a range moves, both replicas write once, and the new owner lists the leases.
//
// # Faults
//
//	FAULT                                     EFFECT
//	replica crashes                           others take its ranges after LeaseDuration
//	replica is stopped, or its machine        it has lost all ranges when it continues, and joins again
//	sleeps, for longer than RenewDeadline
//	server away for longer than that          all replicas lose all ranges, and join again when it is back;
//	                                          LeaseDuration later if it has forgotten its history (410)
//	watch dead                                a new watch continues where it ended
//	etcd restored from a backup               all replicas lose all ranges, and take them again after up to two
//	                                          LeaseDurations. The server may forget renewals, so two may work on a range
//	                                          for RetryPeriod
//	a lease deleted by hand                   its replica stops at once and joins again; others wait until it would have
//	                                          expired
//	a lease edited by hand                    its replica writes it again; the others assume its last valid ranges, or
//	                                          all ranges if they have missed a renewal
//	another process with the same identity    Run returns leader.ErrShared
//	replicas with another Options.By          replicas that join later get no work until the others have left; all of
//	                                          them report it
//	more replicas than ranges                 some replicas have no range
//	a follower that never gets ready          its replica gets no range; after LeaseDuration it reports which follower
//	                                          that is
//
// # Permissions
//
// A Group needs create, get, update, list, watch and delete for leases.coordination.k8s.io in its namespace. Without
// watch, ranges move one or two LeaseDurations later, and the refusal is reported. Without delete, the leases of
// replicas that have ended stay. Without one of the others nothing works.
package shards
