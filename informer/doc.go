// Package informer keeps a cache equal to what a resource holds on the server: it lists, then watches, and recovers from
// whatever happens in between.
//
//	inf := informer.New(client.For(c, Pods), informer.Options{Namespace: "web"})
//	go inf.Run(ctx) // or informer.Run(ctx, inf, ...)
//	if err := inf.WaitSynced(ctx); err != nil { ... }
//	for pod := range inf.Reader().All() { ... }
//
// # Guarantees
//
// After any fault that ends the cache converges to the server's truth, and it stays readable meanwhile: it is replaced at
// once, when the new list is complete. An object whose uid and resource version have not changed is not decoded again and
// causes no call of a handler.
//
// What each fault leads to is decided by one pure function, next, in machine.go, where there is a table of it:
//
//   - A watch that ends, for whatever reason that the server does not call final, is resumed after the last event that was
//     applied. Nothing is listed again for a lost connection, a 429 or a 5xx.
//   - 410 in any form leads to a relist, and so does a version that the server says it has not reached. So does a resource
//     that was gone (404), because what happened meanwhile is unknown, and so do three watches in a row with an event that
//     cannot be applied, or that end at once and empty, or that bring not even bookmarks.
//   - The whole collection is read as a streaming list where the server serves those, and page by page where it refuses,
//     ignores what was asked, or does not end, or forbids to watch: see [Mode]. Pages whose continue token expires are read once more, and then as
//     one page.
//   - A server that was restored from a backup is noticed by a list or a bookmark that is older than the cache. Then
//     everything is replaced, whatever versions say; see [RollbackError]. A watch from a version that such a server does not
//     have any more is mute: that takes three of them, or half an hour. A server that has reached a version as new as the
//     cache's before it is asked cannot be told from one that was never rolled back.
//   - Failures in a row are followed by waits that grow from 800 ms to 30 s, with full jitter, and start low again after 2
//     minutes of health. A watch that had delivered something is resumed within 800 ms, and so begins a relist, except one
//     that follows another without a watch of 10 s in between. Where the server refuses (400, 403, 404 and the like),
//     attempts are 5 to 30 s apart. What the server asks for (Retry-After) is waited for in any case, up to an hour.
//   - A server that goes silent is given up: a paged list whose answer stalls (client.Config.StallTimeout) or brings no object
//     for 2 minutes, or a streaming one that brings nothing for 30 s, is tried again, and a watch is opened again after three times the longest time that the server has
//     left between two bookmarks (at least 90 s), or where it is not known to send any, when it is overdue by 30 s, which is
//     after at most 10 minutes and a half of silence.
//
// Only a source that cannot be asked at all ends an informer, with the reason: a *client.UsageError, such as a namespace for a
// cluster-wide resource.
//
// An object that does not decode into T stays in the cache as it was last good, is reported once per change, and is listed
// in Status until it is mended or gone; the others are not affected.
//
// # Namespaces
//
// With Options.Namespaces an informer follows a set of namespaces, which [Informer.SetNamespaces] changes: each has its own
// list and watch and recovers by itself, or, above Options.WideAbove, one wide watch serves all. Objects of other
// namespaces are never in the cache. Whatever becomes of the set, handlers are told of the differences only, and an object
// that stays is the same reference. The cache as a whole is of one moment per namespace.
//
// # Reading what was written
//
// The cache follows the server a little later. [Informer.WaitFor] waits until it has seen a write, by the resource version
// that the write has returned.
//
// # Sources
//
// A [Source] is a client.Resource, of whatever type of objects, client.Metadata included; [Transform] and [Filter] wrap one.
// Objects are known by the identity that the server sent beside them, so neither a struct that leaves metadata out nor a
// transform that blanks it does harm.
//
// # Sharing
//
// Parts of a program that do not know of each other share an informer through a [Factory]. [Share] returns a [Shared], which
// has the methods of an informer. The informer runs while at least one Shared of it runs.
//
// # What runs
//
// Nothing runs until [Informer.Run], and nothing when it has returned, whatever the reason. Run takes one goroutine beside its
// own to deliver, one for each collection that is watched (one, or one for each namespace), and one for each subscription;
// the client adds those of its requests. [Factory.Run] takes one more for each informer that a Shared uses. Run may be called
// again, and resumes each watch where it was. The function [Run] runs the informers that controllers watch or read, each once,
// and stops them after the controllers. A function of an index that panics does so in Run, that of Factory for shared
// informers; what runs beside has returned then.
//
// Every error is handed to Options.OnError, or said to a logger where there is none (Options.Logger), and the last one of a list or a watch is visible in [Informer.Status], also for
// each namespace; [Informer.WaitSynced] returns the reason when there is no cache to read yet.
package informer
