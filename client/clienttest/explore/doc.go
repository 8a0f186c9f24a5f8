// Package explore finds the bugs of a controller that show only when something goes wrong: a crash between two writes,
// a cache that is one event behind, a lost answer, a second leader. It runs the program with a test server in virtual
// time, first undisturbed, and then again and again with a disturbance at each of the program's requests. What the
// server holds at rest must be the same each time.
//
//	func TestThePagesSurvive(t *testing.T) {
//		explore.Run(t, explore.Plan{
//			Server:   clienttest.Options{CRDs: []string{"pages.yaml"}},
//			Replicas: 2,
//			Program:  run, // func(ctx context.Context, cfg client.Config) error
//			History: func(h *explore.History) {
//				explore.Create(h, Pages, page)
//				h.Rest()
//				explore.Delete(h, ConfigMaps, page.Key())
//				h.Rest()
//				explore.Delete(h, Pages, page.Key())
//			},
//		})
//	}
//
// # Disturbances
//
// Each is followed by the shape of a bug that it finds.
//
//   - crash-before: a replica dies before its request is sent, and starts again ten seconds later. The status says
//     "done" before the child is made.
//   - crash-after: it dies when the server has done the request, before the answer. A child with a generated name is
//     made twice.
//   - lost-answer, timeout: the server does the request, and the connection breaks, or the answer is 504. "Already
//     exists" is taken for an error that stays.
//   - failure, throttled: the answer is 500, or 429 with Retry-After, and nothing is done. An error is ignored, or
//     final.
//   - slow: the answer takes 40 seconds. A goroutine waits for it without a context.
//   - late: nothing of a replica gets through for 40 seconds, which is longer than a lease, and then everything does.
//     A former leader's write arrives after its successor's.
//   - late-requests, late-answers, late-events: the same for one direction. A program takes a write that has been done
//     for one that has failed, and does it again.
//   - cut-off: the same for a replica from a step of the history on. A goroutine goes on after its lease has ended.
//   - touched: another writer changes the object right before the request. A write removes what others wrote.
//   - lag: the watches of one resource say nothing for 40 seconds, or during two steps of the history. The cache is
//     read after a write.
//   - reconnect: the watches of a replica break, and go on at an API server that has not seen the next write yet. A
//     program takes what is missing there for deleted.
//   - time-travel: a replica dies, and what starts then lists from an API server that is behind, in one resource or in
//     all. It happens to programs that ask for any version (resourceVersion=0), such as those with
//     informer.Options.AllowStale and those on client-go. A child is deleted because its owner is not in the list.
//   - stale-read: a list or a get of any version is answered from such a server. A sweep deletes what is new.
//   - unseen: no list and no watch is served during two steps of the history, which the server forgets then. So an
//     object that is deleted and made again is seen only as it was and as it is. A cache of results is kept by name,
//     not by uid.
//   - failure-after: the server does the request, and the answer is 500. The program makes another object instead.
//   - timeout-before: the answer is 504, and nothing is done. It is taken for success, because a 504 often is one.
//   - overloaded: the answer is 429 without Retry-After. The program gives up, because it is not told when to retry.
//   - refused: a quota or a webhook refuses a write with 403, once. The refusal is final, or ignored.
//   - invalid: a policy refuses a write with 422. After five minutes a person mends it, and touches the objects of the
//     history. The status says that the write was done.
//   - conflict: a create is answered with the conflict of a quota. It is taken for an object that exists.
//   - expired: the server forgets its history right before the next page of a list, or a watch. The pages that were
//     read are taken for the whole list.
//   - forbidden: for five minutes the program may not read, or not write, the objects of one resource. An object that
//     may not be read is taken for one that has gone.
//
// A person edits an object of the program right before one of its requests, or at rest. The edit stays, so the run is
// compared with those in which the same edit is made at the rest before, or after, and with the one without it:
//
//   - deleted: the object, one that it owns, or its owner is deleted. A child is made for a parent that has gone.
//   - replaced: the object is deleted, and a person makes another one with its name. A cleanup without a uid deletes
//     it.
//   - edited: a field has another value. The conflict that follows is taken for final.
//   - unlabeled: the labels are taken away. A cleanup by labels misses the child.
//   - disowned: the owner references are taken away. The child is made again beside the old one.
//   - terminated: the namespace is deleted, unless it is one of the cluster's own. An object elsewhere is left over.
//
// Other programs do something, and take it back after five minutes, so the state must be as without it:
//
//   - finalized: another finalizer holds an object. A PUT of the program's own finalizers removes it, or a child that
//     is still being deleted is taken for a new one.
//   - co-owned: another object becomes an owner as well. A PUT removes the owner reference.
//   - collector-late: the garbage collector and the other controllers of the cluster write nothing. A child that is
//     still there is taken for one that was left over.
//
// One thing stays and must change nothing:
//
//   - stranger: another controller makes an object with the labels of one of the program's, and owns it. A label
//     selector makes it a child, or a deletion by labels deletes it.
//
// A replica dies network first: what its deferred functions would send is lost. Package variables outlive a crash.
// Renewals of leases are not disturbed.
//
// People act on what they see. A step of the history whose object the program has not made yet, because of a
// disturbance, waits for the object, and so does a create while another object of the name is being deleted. What was
// to last until a later step ends then. A step fails if it waits in vain, and the history goes on.
//
// # What is wrong
//
// A run fails the test if, at rest, the objects on the server are not those of the run without disturbances. Not
// compared are versions, uids, times, generated names, managedFields, leases, events and the resources of Plan.Ignore.
// It also fails the test if the program sends requests for two hours after the last step, does not return within a
// minute after its context has ended, panics in the goroutine of Program, panics in a reconcile and logs that to the
// logger of ctx, leaves a goroutine behind, or changes an object in a cache; if the program deletes an object that
// somebody else has made, or makes itself its owner, and does not do so in a run with which it is compared; if the
// finalizer, the owner reference or the annotation of another writer is lost; and if Plan.Always or Plan.AtRest returns
// an error.
//
// A write is wrong if it is sent, not when it arrives, by a replica that has had a lease and has none any more: a
// lease lasts for leaseDurationSeconds from when the replica sent the last write of it whose answer it has had, by the
// one clock of a run, or until the replica sends a write that gives it up, has handed it to another holder, or has got
// it from the server with another holder. The same holds while another replica still has the same lease; in a
// namespace whose range is, by the leases of package client/shards, another replica's and not its own; and after
// Program has returned. Ranges by uid are not checked, because nobody outside knows which object the work is for. Nor
// are programs without leases, writes to leases, events and the resources of Plan.Ignore, replicas that have never had
// a lease, and holders that a replica knows from a list or a watch of leases.
//
// A panic in a goroutine that the program has started itself ends the test process at once, as everywhere in Go: no
// story is told then. Reconcile functions of package controller are not concerned, because it recovers their panics.
// -explore.trace shows the schedules that were under way.
//
// A controller whose result depends on each state that an object has had, such as one that counts changes, is right
// only if it sees them all. No controller of a cluster does.
//
// # The cluster
//
// If an object has an owner in the run without disturbances, the garbage collector of package controllers runs beside
// the program. Plan.Controllers adds others. Nothing disturbs their requests, except for collector-late.
//
// # The search
//
// People and other programs do at most one thing in a schedule, because two of them may undo each other, and nobody
// edits an object while the program sees nothing during steps of the history. Nobody deletes an object that the
// program has not written to yet, or takes away the reference to an owner that is being deleted.
//
// First each single disturbance is tried at each request, in a fixed order. Then come pairs, for half of the time that
// is left, and then random mixes of up to five, each by a seed of its own, until the budget is used up:
// -explore.budget, or Plan.Budget, or 30 seconds. Two disturbances after which all that the future depends on is equal,
// such as a crash before and after a read, are tried once. A run that finds nothing says how much of each it has tried.
// All processors work. Meanwhile the garbage collector runs more rarely, as with GOGC=400, unless GOGC is another value
// than 100.
//
// The explorer lets one request of the program through at a time, in a fixed order, whenever everything else waits. So
// the same schedule gives the same steps, as far as the program itself does.
//
// # Reading a failure
//
// A failure shows the smallest schedule that breaks the program and how often it did so in ten replays. The objects
// follow that are not as they should be: a line with - is what should be, and one with + is what is. The story has what
// everybody did, in virtual time. Requests far from each disturbance, which write to no object that differs, are left
// out.
//
//   - -explore.schedule plays one schedule alone, and shows its story even if nothing breaks
//   - -explore.seed is the seed of the first random mix
//   - -explore.trace prints each schedule before it is played. After a panic that has ended the test, the last ones,
//     one for each processor, are those that have led to it
//
// Program must run in a bubble of testing/synctest: it starts all of its goroutines itself, and does no I/O but by the
// Config that it gets.
package explore
