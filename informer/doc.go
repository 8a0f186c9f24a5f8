// Package informer keeps a cache equal to a resource on the server: it lists, then watches, and recovers from every
// fault in between.
//
//	inf := informer.New(client.For(c, Pods), informer.Options{Namespace: "web"})
//	go inf.Run(ctx) // or informer.Run(ctx, inf, ...)
//	if err := inf.WaitSynced(ctx); err != nil { ... }
//	for pod := range inf.Reader().All() { ... }
//
// # Guarantees
//
// After any fault that ends, the cache converges to the server's state. It stays readable during a relist, which
// replaces the content at once when the new list is complete. An object whose uid and resource version have not changed
// is not decoded again and causes no handler call.
//
// One pure function, next, decides the recovery from each fault; the table is in machine.go:
//
//   - A watch that ends is resumed after the last event that was applied, unless the server says that this is
//     impossible. A lost connection, a 429 or a 5xx does not cause a relist.
//   - The informer relists after a 410 in any form; after an answer that the server has not yet reached the version;
//     after the resource was gone (404), because the changes in that time are unknown; and after three watches in a row
//     that have an event that cannot be applied, or end at once without an event, or bring nothing, not even bookmarks.
//   - The informer reads the whole collection as a streaming list if the server serves streaming lists. It reads page
//     by page if the server refuses, ignores the request, does not end the list, or forbids the watch: see [Mode]. If a
//     continue token expires, the informer lists once more in pages, and then in one page.
//   - A list or a bookmark that is older than the cache shows that the server was restored from a backup. The informer
//     then replaces everything, whatever the versions say, and reports that. Such a server sends nothing to a watch
//     from a version that it no longer has; the informer notices that after three such watches, or half an hour. It
//     cannot detect a rollback if the server has passed the cache's version again before the informer asks.
//   - After failures in a row the waits grow from 800 ms to 30 s, with full jitter, and start low again after 2 minutes
//     of health. A watch that delivered something is resumed within 800 ms. A relist begins within 800 ms too, unless
//     it follows another relist without a watch of 10 s in between. If the server refuses (400, 403, 404 and the like),
//     attempts are 5 to 30 s apart. The informer always waits as long as the server asks (Retry-After), up to an hour.
//   - The informer gives up a server that goes silent. It retries a paged list whose answer stalls
//     (client.Config.StallTimeout) or brings no object for 2 minutes, and a streaming list that brings nothing for 30
//     s. It reopens a watch after three times the longest time that the server has left between two bookmarks (at least
//     90 s). If the server is not known to send bookmarks, the informer reopens a watch that is overdue by 30 s, which
//     is after at most 10 and a half minutes of silence.
//
// An informer ends by itself only if no request to its source is possible. Run then returns the reason: a
// *client.UsageError, such as a namespace for a cluster-wide resource.
//
// If an object does not decode into T, the cache keeps its last good state. The informer reports it once per change and
// lists it in Status until it decodes or is deleted. Other objects are not affected.
//
// # Namespaces
//
// With Options.Namespaces an informer follows a set of namespaces, which [Informer.SetNamespaces] changes. Each has its
// own list and watch and recovers by itself. Objects of other namespaces are never in the cache. When the set changes,
// handlers receive the differences only, and an object that stays keeps the same reference. Each namespace in the cache
// shows the state of one moment; the cache as a whole does not.
//
// # Ranges
//
// With Options.Shards an informer follows some of 256 ranges of objects, by the hash of their uid or namespace, so that
// the replicas of a program can divide a resource. The ranges may change during a Run: objects of ranges that stay are
// neither listed nor decoded again. See [Shards].
//
// # Reading your own writes
//
// The cache follows the server with a short delay. [Informer.WaitFor] waits until the cache has seen a write, by the
// resource version that the write returned.
//
// # Sources
//
// A [Source] is a client.Resource of any type of objects, client.Metadata included; [Transform] and [Filter] wrap one.
// The informer identifies objects by the identity that the server sent, so a struct may leave metadata out, and a
// transform may blank it.
//
// # Memory
//
// Objects that the server describes by the same text share the maps, slices and pointers that are decoded from it. For
// example, whole pods then take about half the memory, if each workload has ten of them. Sharing needs no option. It
// applies if no code can change an object before it is cached: to a client.Resource, and to a [Filter] of one. With a
// [Transform], or a source of the program that wraps a handle, objects share nothing.
//
// # Sharing
//
// Independent parts of a program share one watch and one cache through a [Factory]: [Share] returns an informer to each
// of them. The watch runs while at least one of these informers runs.
//
// # Groups
//
// A [Group] runs the parts of a program in their order and ends them in reverse: caches, services, an election,
// controllers. It reports whether the program is alive and ready, also as an http.Handler, and names the parts that do
// not end. [Run] is a Group with Runners only.
//
// # Goroutines
//
// No goroutine runs before [Informer.Run] begins or after it has returned, for whatever reason. In addition to its own
// goroutine, Run uses one for each watched collection (one, or one for each namespace), with Options.Warm a second one
// for each of them, and one for each subscription; the client adds those of its requests. [Factory.Run] adds one for
// each shared watch. Run may be called again, and then resumes each watch where it was. The function [Run] runs the
// informers that controllers watch or read, each once, and stops them after the controllers. If an index function
// panics, Run panics (for shared informers, Factory.Run), after all other goroutines have returned.
//
// The informer passes every error to Options.OnError, or logs it if that is nil (Options.Logger). [Informer.Status]
// shows the last error of a list or a watch, also for each namespace. [Informer.WaitSynced] returns the reason when
// there is no cache to read yet.
package informer
