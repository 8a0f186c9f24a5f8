// Package explore finds the bugs of a controller that show only when something goes wrong: a crash between two writes, a
// cache that is one event behind, a lost answer, a second leader. It runs the program with a test server in virtual
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
//   - failure, throttled: the answer is 500, or 429 with Retry-After, and nothing is done. An error is ignored, or final.
//   - slow: the answer takes 40 seconds. A goroutine waits for it without a context.
//   - late: nothing of a replica gets through for 40 seconds, which is longer than a lease, and then everything does.
//     A former leader's write arrives after its successor's.
//   - touched: another writer changes the object right before the request. A write removes what others wrote.
//   - lag: the watches of one resource say nothing for 40 seconds. The cache is read after a write.
//   - unseen: no list and no watch is served during two steps of the history. A state in between is needed.
//
// A replica dies network first: what its deferred functions would send is lost. Package variables outlive a crash.
// Renewals of leases are not disturbed.
//
// # What is wrong
//
// A run fails the test if, at rest, the objects on the server are not those of the run without disturbances. Not compared
// are versions, uids, times, generated names, managedFields, leases, events and the resources of Plan.Ignore. It also
// fails the test if the program sends requests for two hours after the last step, does not return within a minute
// after its context has ended, panics in the goroutine of Program, leaves a goroutine behind, or changes an object in a cache;
// if the annotation of another writer is lost; and if Plan.Always or Plan.AtRest returns an error.
//
// A controller whose result depends on each state that an object has had, such as one that counts changes, is right
// only if it sees them all. No controller of a cluster does.
//
// # The search
//
// First each single disturbance is tried at each request, then pairs, until the budget is used up: -explore.budget, or
// Plan.Budget, or 30 seconds. The failure shows the schedule, what should be and what is, the steps of everybody in virtual
// time, and the flag -explore.schedule that plays it again. The explorer lets one request of the program through at
// a time, in a fixed order, whenever everything else waits. So the same schedule gives the same steps, as far as
// the program itself does.
//
// Program must run in a bubble of testing/synctest: it starts all of its goroutines itself, and does no I/O but by the
// Config that it gets.
package explore
