// Package leader elects one of several processes, so that only one of them does the work. The election uses a Lease
// object in the format of client-go, so contenders with client-go and contenders with this package exclude each other.
//
//	options := leader.Options{Namespace: "web", Name: "page-controller"}
//	err := leader.Run(ctx, c, options, func(ctx context.Context) error {
//		return informer.Run(ctx, pages, controller)
//	})
//
// [Run] waits for the lease, calls the function and renews the lease while the function runs, and releases the lease
// when the function has returned. An [Elector] does the same, and reports its state.
//
// # Guarantees
//
//   - At most one process leads at a time. The context of lead ends before the lease can have passed to another
//     process, and no request with that context is sent after that, even if the process was stopped in between
//     (SIGSTOP, a long pause of the machine) and continues.
//   - The lease is released only after lead has returned. After the end of Run's context, it is renewed until lead has
//     returned.
//   - After a release, another process leads one round trip later, because contenders watch the lease. After a crash,
//     it takes Options.LeaseDuration.
//   - The clocks of the machines need not agree, and may be set at any time. Times in the lease are only information
//     for people.
//   - If the answer to a write of the lease is lost, a read decides whether the write took effect.
//   - A term has a number that never goes back, for stores that can refuse the writes of a former leader: [TermOf].
//
// A failover repeats work: the next leader cannot see what the former leader finished without recording it, and
// controllers in an informer.Group that wait as followers also queue changes that the former leader has handled. So the
// work must be idempotent: compare the actual with the desired state, or record finished work on an object at the
// server and check there first. See informer.Group.Runners and controller.Options.StartAtTerm.
//
// The first guarantee has three conditions. The monotonic clock of a contender must not run faster than that of the
// leader by a factor of more than LeaseDuration / RenewDeadline, which is 1.5 by default. Nobody else may write to the
// lease or delete it. The wall clock must be right after the machine has slept. A request that is under way when the
// term ends may still take effect. To prevent that, send a precondition, such as the resource version of an update or
// the number of the term. DESIGN.md has the interleavings.
//
// # Faults
//
//	FAULT                                     EFFECT
//	server away, or slower than the           lead's context ends RenewDeadline after the last renewal was sent, with a
//	deadline                                  *LostError. Contenders keep trying
//	watch fails, or is not permitted          contenders poll, every 1.5 to 1.75 RetryPeriod
//	connection half-open                      an attempt takes at most three quarters of RenewDeadline; the next one
//	                                          uses another connection
//	answer to a write lost                    the lease is read again
//	another process writes to other fields,   those changes are kept
//	labels or annotations
//	lease deleted                             the leader loses it at once. Contenders that have seen a holder wait until
//	                                          its lease would have run out
//	holder removed with kubectl               the leader loses it at once: a way to force a failover
//	machine sleeps, or its wall clock is      the leader loses the lease if the wall clock passes the deadline.
//	set forward                               Contenders do not use the wall clock
//	wall clock set back                       no effect
//	etcd restored from a backup               the leader loses the lease. The next leader first waits until the lease
//	                                          would have run out
//	another process with the same Identity    ErrShared, within a *LostError in the one that leads
//	no duration in the lease                  Options.LeaseDuration counts
//	spec.strategy set                         ErrCoordinated: the server chooses the holder of such a lease (KEP-4355)
//	403, or no such namespace                 reported at once, and tried again after growing waits of up to a minute
//	lead does not return                      reported at growing intervals; Live fails once the lease is lost for Grace
//	lead panics                               the lease is released, and the panic continues
//
// # Permissions
//
//	VERB    RESOURCE                    RESOURCE NAME      WITHOUT IT
//	create  leases.coordination.k8s.io  cannot be limited  the lease must exist
//	get     leases.coordination.k8s.io  Options.Name       nothing works
//	update  leases.coordination.k8s.io  Options.Name       nothing works
//	watch   leases.coordination.k8s.io  Options.Name       a failover takes up to 1.75 RetryPeriod longer, and the
//	                                                       refusal is reported
//
// The election does not need list, patch or delete.
package leader
