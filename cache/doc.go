// Package cache holds the objects of one resource in memory and tells subscribers how they change.
//
// An informer fills a cache, and calls the handlers of its subscribers, while it runs; see package informer. Programs
// read the cache through a [Reader].
//
// # Guarantees to readers
//
//   - A read is answered from memory at once. It never waits for a handler. It waits for the writer only while a
//     change that is already computed is put in place.
//   - A loop over [Reader.All], [Reader.Namespace], [Select], [Reader.Sorted] or [Index.Get] runs over the objects of
//     one moment, which is when the loop starts. It never sees half of a relist, or an index that disagrees with the
//     objects. No lock is held while its body runs, so the body may take its time, leave early, read, subscribe or
//     write.
//   - Two reads see two moments.
//   - Loops have no particular order, except that Reader.Sorted loops in the order of the keys.
//   - Indexes are made and closed while the cache is in use: [NewValueIndex] where each object has one value,
//     [NewIndex] where it has any number of them. A [NewLabelIndex] makes Select fast.
//   - A cache that is not filled yet reports every object as absent. Informers report the first such read.
//   - After [Reader.WaitFor], a program that has written to the server reads its own write.
//
// The cache, all readers and all handlers share the objects, and objects share parts that are equal: the containers of
// the pods of one workload, for example. So a change of one object would change others. Clone an object before you
// change it ([meta.Clone]); the option CheckMutations of an informer finds code that does not.
//
// The cache tells objects and their states apart by the [meta.Identity] that the server sent, and never reads it from
// the object: a struct without metadata fields is cached and delivered like any other. Two states are the same if uid
// and resource version are equal. A state with an empty resource version is not the same as any other.
//
// # Guarantees to subscribers
//
// [Reader.Subscribe] delivers changes to a [Handler], one call at a time, while the informer runs:
//
//   - The calls for an object show a subsequence of its states, in order, that ends with the latest. If changes arrive
//     faster than the handler takes them, they are merged, so a backlog has at most one entry for each distinct key.
//     There is no order between different keys, except that the change that has waited longest is delivered first.
//   - The old object of an OnUpdate is the state that this handler received last for that key.
//   - An object that comes and goes before its delivery is not delivered, although a Reader may have shown it. So a
//     handler of your own may never hear of an object that your code has read from the cache. The sources of package
//     controller receive every state, unless they are behind by more than 16,384 changes and by more changes than
//     there are objects.
//   - Calls for one key form cycles: OnAdd, any number of OnUpdate, OnDelete. Within a cycle the uid does not change:
//     an object that was deleted and created again under its name arrives as OnDelete and OnAdd, whether the deletion
//     was seen in a watch or in a relist.
//   - A relist calls handlers for real differences only. A state of an object that the cache receives twice is one
//     change.
//   - A change is in the Reader before the handler is called for it; the Reader may be further ahead.
//   - A late subscriber receives the existing objects first, then the changes, without gaps or duplicates.
//     [Subscription.Synced] says when the initial objects have been handled.
//   - A subscription of [Reader.Where] sees only the objects that meet a condition. An object that begins to meet it
//     arrives as added, and an object that no longer meets it as deleted.
//   - A slow or panicking handler does not affect others: each subscription has its own backlog and goroutine.
//
// To see every event, use a watch of package client.
//
// # Goroutines and memory
//
// The package runs goroutines only while the informer runs. A cache keeps about 130 bytes per object beside the object
// and the strings of its identity. An index adds 14 bytes per object and value, and about 80 for each value. A
// subscription keeps no copy of the objects' state: it remembers a key from the first undelivered change until its
// delivery, and takes about 2 KB when nothing is pending. Changes wait in a journal that all subscriptions share. For
// each subscription that is behind, it has at most a few times as many entries as there are distinct keys. It also has
// the latest 4,000 changes or the latest relist, whichever is more. And it has each change that a source of a
// controller has not received yet, up to 16,384 or the number of objects, whichever is more. Tables give back their
// memory when most of their entries have gone.
package cache
