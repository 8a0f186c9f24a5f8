// Package recorder makes records about objects: the Events of events.k8s.io that kubectl get events and kubectl
// describe show. They tell the users of a controller what it does and why it cannot proceed.
//
//	rec := recorder.New(c, recorder.Options{Controller: "example.com/page-controller"})
//	records := recorder.For(rec, Pages)
//
//	records.Normal(page, "Published", "published 3 files")
//	records.Warningf(page, "PublishFailed", "publish to %s: %v", site, err)
//
// [Recorder.Run] sends the records until its context ends. In an informer.Group the recorder is one of the Services, so
// that it outlives the controllers. [Recorder.Record] takes a complete [Record], which may also have a related object,
// an action, and a part of the object.
//
// # Guarantees
//
//   - Recording never blocks, whatever the server and the program's hooks do, and is safe before, during and after Run.
//   - Memory is bounded: at most 1000 new records wait, and 4096 are remembered. If the server has all repetitions of a
//     remembered record, the record takes about 250 bytes, and keeps no text of its object alive.
//   - Every record is counted once: as sent, as waiting, or as dropped with a [Cause] ([Recorder.Status]). Drops are
//     reported to Options.OnError, or logged.
//   - A record appears once at the server, even if an answer is lost and the request is repeated.
//   - When Run returns, its goroutines have ended. After the end of its context, Run still sends waiting records for
//     Options.Grace (5 s).
//
// # Repetitions
//
// Making the same record again does not create a second one: the records form a series, which the server stores as one
// record with a count and the time of the last occurrence. Records are the same if they differ only in the time and the
// resource versions of the objects. A series ends after 6 minutes without an occurrence; the next occurrence is a new
// record.
//
// The first repetition updates the count at once. The next update follows 10 s later, then 30 s, 90 s, 4.5 minutes and
// every 5 minutes. So kubectl shows the true count within 5 minutes of the last occurrence, and an object that fails a
// hundred times a second costs one request every 5 minutes.
//
// If many records differ only in their notes, the tenth within 10 minutes and the later ones are combined into one
// series (Options.Similar). Its note is "(combined from similar events): " and the note of the first of them. The
// series ends after 10 minutes without such a record; after an hour a new series begins, with a current note.
//
// For each type, Normal and Warning, an object can have 25 new records at once, and then one more every 5 minutes
// (Options.Burst). Repetitions do not count. Further records are dropped, with the cause [Spam].
//
// # Failures
//
//	the network, 401, 408, 409, 429, 5xx      sent again after growing waits of up to a minute, for an hour
//	403, except in a terminating namespace    the same, but for half a minute, because a server that has just
//	                                          started may not know the program's rights yet; then dropped, with the
//	                                          cause Refused
//	404 of a namespace, 422, other 4xx        dropped, with the cause Refused
//	404 of a record whose count is updated    the server has forgotten it, as it does after an hour: it is created
//	                                          again, with its whole count
//
// While requests fail, one is sent at a time, so a server that comes back is not flooded. After a failure all records
// wait: less than a second at first, up to 30 s while no request succeeds, or for the server's Retry-After, 5 minutes
// at most. Then records that have not failed are sent first. So a record that always fails, for example because of a
// webhook for one namespace, delays the others only by these waits.
//
// # Permissions
//
// The program must be allowed to create and patch events in the API group events.k8s.io, in the namespaces of the
// objects, and in the namespace default for cluster-wide objects:
//
//   - apiGroups: ["events.k8s.io"]
//     resources: ["events"]
//     verbs: ["create", "patch"]
//
// The permission for the events of the core group does not suffice.
package recorder
