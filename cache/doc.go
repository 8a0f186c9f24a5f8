// Package cache holds the objects of one resource in memory and tells subscribers how they change.
//
// A [Store] is written by an informer, or by several, each with a [Writer] of its own, and read through a [Reader] by everybody
// else. The package knows nothing of servers: what it is told to hold is what it holds.
//
// # What readers may rely on
//
//   - A read is answered from memory at once. It never waits for a handler, and for the writer only while a change that
//     is already computed is put in place.
//   - A loop over [Reader.All], [Reader.Namespace], [Select], [Reader.Sorted] or [Index.Get] runs over the objects
//     of one moment: not over half of a relist, and not over an index that disagrees with the objects. The moment is when
//     the loop starts. No lock is held while its body runs, so the body may take its time, leave early, read, subscribe
//     or write.
//   - Two reads are two moments.
//   - Loops have no particular order, but that of Reader.Sorted is that of the keys.
//   - Indexes are made and closed while the cache is in use: [NewValueIndex] where each object has one value, [NewIndex]
//     where it has any number of them. A [NewLabelIndex] makes Select fast.
//   - A cache that is not filled yet says of everything that it is not there. Informers report the first such read.
//   - Who has written to the server reads what they have written after [Reader.WaitFor].
//
// Objects are shared between the cache, all readers and all handlers. Whoever wants to change one clones it first;
// [Store.CheckMutations] finds those who do not.
//
// # What subscribers may rely on
//
// [Reader.Subscribe] delivers changes to a [Handler], one call at a time, while [Store.Deliver] runs:
//
//   - Per object, the calls tell a subsequence of its states, in order, that ends in the latest. Changes that come
//     faster than the handler takes them are merged, so a backlog is bounded by the number of distinct keys. There is
//     no order between different keys, except that who waited longer is served first.
//   - The old object of an OnUpdate is the state that this handler was given last for that key.
//   - An object that comes and goes before its delivery is not delivered.
//   - Calls for one key form cycles: OnAdd, any number of OnUpdate, OnDelete. Within a cycle the uid does not change:
//     an object that was deleted and created again under its name arrives as OnDelete and OnAdd, however its end was
//     learnt.
//   - A relist calls handlers for real differences only, and the same state of an object twice is one change.
//   - What a handler is told of is in the Reader already; the Reader may be further.
//   - Who subscribes late is given the objects that are there first, then the changes: no gap, nothing twice.
//     [Subscription.Synced] says when the initial objects have been handled.
//   - A subscription of [Reader.Where] sees the objects that a condition holds for, and those that begin or cease to meet
//     it as added and deleted.
//   - A slow or panicking handler affects nobody else: each subscription has a backlog and a goroutine of its own.
//
// Who needs every event uses a watch of package client.
//
// # What the writer promises
//
// Objects are told apart, and their states, by the [meta.Identity] that is passed beside them, never by asking the
// object: a struct that leaves its metadata out is cached and delivered like any other. Two states are the same where
// uid and resource version are equal; an empty resource version is equal to none. An informer calls [Writer.Set],
// [Writer.Delete] and [Writer.Bookmark] in the order of its watch, and stages a full list with [Writer.Relist]. A store has
// these methods too: they are those of its writer of everything.
//
// Each writer has a resource version, and has or has not committed a list. A subscription becomes synced with a store whose
// writers have all committed one; a writer that is added later takes nothing back.
//
// # Goroutines and memory
//
// Nothing runs until Deliver does, and when it returns nothing runs. The store keeps about 130 bytes per object beside
// the object and the strings of its identity. An index adds 14 per object and value, and about 80 for each value. A
// subscription keeps no copy of the objects' state: it remembers a key from the first change that is not delivered until
// that delivery. Tables give back their memory when most of their entries have gone.
package cache
