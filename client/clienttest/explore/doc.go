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
// Each entry says what happens, and then describes a typical bug that the disturbance finds.
//
//   - crash-before: a replica dies before its request is sent, and starts again ten seconds later. Bug: the program
//     writes "done" to the status before it makes the child.
//   - crash-after: a replica dies after the server has served its request, and before the answer. Bug: the program
//     makes a child with a generated name twice.
//   - lost-answer, timeout: the server serves the request, and the connection breaks, or the answer is 504. Bug: the
//     program treats "already exists" as a permanent error.
//   - failure, throttled: the answer is 500, or 429 with Retry-After, and the request is not served. Bug: the program
//     ignores the error, or treats it as permanent.
//   - slow: the answer takes 40 seconds. Bug: a goroutine waits for it without a context.
//   - late: the network holds all traffic of a replica for 40 seconds, which is longer than a lease, and then lets it
//     through. Bug: a write of a former leader arrives after the writes of its successor.
//   - late-requests, late-answers, late-events: the network holds only the traffic in one direction. Bug: the program
//     believes that a write failed although the server has served it, and writes again.
//   - cut-off: as late, but from a step of the history on. Bug: a goroutine continues after its lease has ended.
//   - touched: another writer changes the object right before the request. Bug: a write removes what others wrote.
//   - lag: the watches of one resource bring no events for 40 seconds, or during two steps of the history. Bug: the
//     program reads its cache after a write, as if the cache had the write.
//   - reconnect: the watches of a replica break, and continue at an API server that has not seen the next write yet.
//     Bug: the program treats an object that is missing there as deleted.
//   - time-travel: a replica dies, and the next one lists from an API server that is behind, in one resource or in all.
//     It happens to programs that ask for any version (resourceVersion=0), such as programs with
//     informer.Options.AllowStale and programs on client-go. Bug: the program deletes a child because the list does not
//     have its owner.
//   - stale-read: an API server that is behind answers a list or a get of any version. Bug: a sweep deletes new
//     objects.
//   - unseen: no list and no watch is served during two steps of the history, which the server then forgets. So the
//     program sees an object that is deleted and made again only in its first and in its last form. Bug: the program
//     caches results by name and not by uid.
//   - failure-after: the server serves the request, and the answer is 500. Bug: the program makes another object
//     instead.
//   - timeout-before: the answer is 504, and the request is not served. Bug: the program treats 504 as success, because
//     the server has often served such a request.
//   - overloaded: the answer is 429 without Retry-After. Bug: the program gives up, because the server does not say
//     when to retry.
//   - refused: a quota or a webhook refuses a write with 403, once. Bug: the program treats the refusal as permanent,
//     or ignores it.
//   - invalid: a policy refuses a write with 422. After five minutes a person corrects the policy and touches the
//     objects of the history. Bug: the status says that the write was done.
//   - conflict: the answer to a create is the conflict of a quota. Bug: the program concludes that the object exists.
//   - expired: the server forgets its history right before the next page of a list, or before a watch. Bug: the program
//     treats the pages that it has read as the whole list.
//   - forbidden: for five minutes the program may not read the objects of one resource, or may not write them. Bug: the
//     program treats an object that it may not read as deleted.
//
// A person edits an object of the program right before one of its requests, or at rest. The edit stays. So the run is
// compared with the runs in which the same edit is made at the rest before or at the rest after, and with the run
// without the edit:
//
//   - deleted: a person deletes the object, an object that it owns, or its owner. Bug: the program makes a child for a
//     parent that has gone.
//   - replaced: a person deletes the object, and makes another one with its name. Bug: a cleanup without a uid deletes
//     the new object.
//   - edited: a person changes a field. Bug: the program treats the conflict that follows as permanent.
//   - unlabeled: a person removes the labels. Bug: a cleanup by labels misses the child.
//   - disowned: a person removes the owner references. Bug: the program makes the child again beside the old one.
//   - terminated: a person deletes the namespace, unless it is one of the cluster's own. Bug: an object in another
//     namespace is left over.
//
// Other programs change something, and undo the change after five minutes. The state must be as without the change:
//
//   - finalized: another program's finalizer holds an object. Bug: a PUT of the program's own finalizers removes the
//     other one, or the program treats a child that is still being deleted as a new one.
//   - co-owned: another object becomes an owner as well. Bug: a PUT removes the owner reference.
//   - collector-late: the garbage collector and the other controllers of the cluster write nothing. Bug: the program
//     treats a child that still exists as left over.
//
// One change stays and must have no effect on the program's objects:
//
//   - stranger: another controller makes an object with the labels of an object of the program, and owns it. Bug: a
//     label selector makes it a child, or a deletion by labels deletes it.
//
// When a replica dies, its network dies first: requests of its deferred functions are lost. Package variables outlive a
// crash. No disturbance begins at a request for leases.
//
// A step of the history waits if a disturbance has delayed the program: it waits for an object that the program has not
// made yet, and a create waits while another object of the same name is being deleted. Disturbances that would last
// until a later step end when a step waits. If a step has waited in vain, it fails, and the history continues.
//
// # Findings
//
// A run fails the test if, at rest, the objects on the server differ from those of the run without disturbances. The
// comparison ignores versions, uids, times, generated names, managedFields, leases, events and the resources of
// Plan.Ignore. A run also fails the test if
//
//   - the program sends requests for two hours after the last step
//   - the program does not return within a minute after its context has ended
//   - the program panics in the goroutine of Program, or panics in a reconcile and logs the panic to the logger of ctx
//   - the program leaves a goroutine behind, or changes an object in a cache
//   - the program deletes an object that somebody else has made, or adds an owner reference to one, and does not do so
//     in a run with which this run is compared
//   - the finalizer, the owner reference or the annotation of another writer is lost
//   - Plan.Always or Plan.AtRest returns an error
//   - a replica sends a write that it must not send
//
// A replica must not send a write in these cases. The moment at which it sends the write counts, not the moment at
// which the write arrives:
//
//   - The replica has had a lease and has none any more. A lease ends leaseDurationSeconds after the replica sent the
//     last write of the lease whose answer it has received, by the one clock of a run. A lease ends earlier if the
//     replica sends a write that gives it up, or if the answer to a write or a get shows another holder.
//   - Another replica still has the same lease.
//   - The write is in a namespace whose range another replica has and this replica does not have, by the leases of
//     package client/shards. Ranges by uid are not checked, because the explorer does not know for which object the
//     program does the work.
//   - Program has returned.
//
// The cases of leases do not apply to a replica that has never had a lease. No case applies to writes of leases, events
// and the resources of Plan.Ignore. A holder that a replica knows only from a list or a watch of leases does not count.
//
// A panic in a goroutine that the program has started itself ends the test process at once, as in any Go program, so
// the explorer cannot tell its story. -explore.trace shows the schedules that were being played. Package controller
// recovers panics in reconcile functions, so they do not end the process.
//
// A controller whose result depends on each state that an object has had, such as one that counts changes, is correct
// only if it sees all of these states. No controller of a cluster does.
//
// # The cluster
//
// The garbage collector of package controllers runs beside the program if an object in the run without disturbances has
// an owner, or a finalizer for the deletion of its dependents. Plan.Controllers adds others. Only collector-late
// disturbs their requests.
//
// # The search
//
// A schedule has at most one change by a person or another program, because two of them may undo each other. Nobody
// edits an object while the program sees nothing during several steps of the history. Nobody deletes an object that the
// program has not written to yet, and nobody removes the reference to an owner that is being deleted.
//
// The search first tries each single disturbance at each request, in a fixed order. Then it tries pairs for half of the
// time that is left, and after that random mixes of up to five, each with its own seed, until the budget is used up:
// -explore.budget, or Plan.Budget, or 30 seconds. If two disturbances leave everything equal that the future depends
// on, such as a crash before and a crash after a read, the search tries only one of them. A search that finds nothing
// says how many of each it has tried. It uses all processors. During the search Go's garbage collector runs more
// rarely, as with GOGC=400, unless GOGC is not 100.
//
// The explorer lets one request of the program through at a time, in a fixed order, whenever everything else waits. So
// the same schedule gives the same steps, as far as the program itself is deterministic.
//
// # Reading a failure
//
// A failure shows the smallest schedule that breaks the program, and how often the schedule did so in ten replays. Then
// it lists the objects that differ: a line with - has the wanted value, and a line with + the value that was found. The
// story lists what everybody did, in virtual time. It leaves out requests that are far from each disturbance and write
// to no object that differs.
//
//   - -explore.schedule plays one schedule alone, and shows its story even if nothing breaks
//   - -explore.seed is the seed of the first random mix
//   - -explore.trace prints each schedule before it is played. After a panic that has ended the test, the cause is
//     among the last schedules, one for each processor
//
// Program must be able to run in a bubble of testing/synctest: it starts all of its goroutines itself, and does I/O
// only through the Config that it receives.
package explore
