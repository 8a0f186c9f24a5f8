// Package ctrlcache lets an operator of controller-runtime take its cache from package informer, with one line:
//
//	mgr, err := manager.New(cfg, manager.Options{NewCache: ctrlcache.New})
//
// Nothing else changes. The client of the manager, its controllers, sources and field indexes use the cache as before.
// It is a Go module of its own, so only programs that import it have Kubernetes' modules in their builds.
//
// # Guarantees
//
// [New] takes every option of cache.Options: namespaces and their configurations, ByObject, selectors, transforms,
// ReaderFailOnMissingInformer, SyncPeriod, watch error handlers, and objects that are not copied. The cache holds typed
// objects of any scheme, unstructured objects and metadata, each form by itself. Its errors have the types of
// controller-runtime's (*cache.ErrCacheNotStarted, *cache.ErrResourceNotCached, NotFound and Timeout of
// k8s.io/apimachinery). An informer of the cache is a cache.SharedIndexInformer of client-go, unless one namespace is
// configured apart from all others.
//
// The informers are those of package informer, with its guarantees: they recover from every fault in one defined way, a
// relist never shows half of itself and decodes nothing twice, and [StatusOf] says what each of them does. Built-in
// kinds come as protobuf, unless rest.Config asks for JSON.
//
// Requests go through the HTTP client of the manager, so TLS, credentials, proxies and wrappers of rest.Config hold.
// rest.Config.RateLimiter delays lists. QPS and Burst do not; nor does Timeout end watches.
//
// # Differences on purpose
//
//   - Changes of an object that come faster than a handler takes them are merged. A handler sees the latest state, and
//     as the old one that which it has seen last. An object that comes and goes before it is delivered is not
//     delivered.
//   - A deletion and a creation under the same name arrive as OnDelete and OnAdd, never as OnUpdate.
//   - A relist calls handlers for real differences only, not for each object.
//   - A handler that panics does not end the program. The panic is logged, or passed to Options.OnError, and the
//     handler goes on with its next object.
//   - An object that does not decode, or whose transform fails, does not stop the others. It is in Status and in the
//     log, and stays in the cache as it was last good.
//   - A read that waits for an informer that cannot sync says why in its error, and a read that waits for an informer
//     that is removed returns at once.
//   - The first list has the server's present state, never an older one of its cache.
//   - Stores are read-only: Add, Update, Delete and Replace return an error.
//   - The informers of an entry have one resync period. If the configurations of namespaces name several, it is the
//     shortest.
//   - cache.Options.NewInformer replaces the engine, so New returns controller-runtime's own cache then.
//
// Handlers get a tombstone, cache.DeletedFinalStateUnknown, where client-go would give one: the deletion was not seen
// on a watch. Objects are shared by all handlers and by readers that ask for no copy; Options.CheckMutations finds code
// that changes them.
//
// # Projections
//
// [Options].Fields names, for a kind, the members that a program reads. The others are not decoded, so memory, and CPU
// time for each event, follow what is read. The objects have the Go type of the scheme, and all metadata but
// managedFields.
//
// NEVER CALL Update, OR Update OF A SUBRESOURCE, WITH AN OBJECT OF A PROJECTED KIND THAT COMES FROM THE CACHE. An
// update replaces the whole object, so the server clears each member that was not decoded: of an optional one without a
// word. controllerutil's CreateOrUpdate is such an update. Instead:
//
//   - Use server-side apply with what the program owns.
//   - Or use a merge patch of a change, client.MergeFrom: what is absent on both sides is not in the patch. But a merge
//     patch replaces a list as a whole. So never change a list whose elements are projected, nor anything in one; a
//     list that is named itself is whole.
//   - Or read the object through manager.GetAPIReader before the update.
//
// DeepCopy, comparisons and validations see zeros too: code that takes an empty spec.tolerations for "no tolerations"
// is wrong then. So name every member that the program reads. The cache logs once for each projected kind, and [Status]
// has its Fields.
//
// A member that is not named is checked to be JSON or protobuf, and nothing else: an object that does not fit its Go
// type there is decoded all the same. The Go struct keeps its size: a corev1.Pod without anything takes 1.2 KB, and
// each container in it 0.4 KB. Annotations are metadata; a transform can delete large ones.
//
// # Client-go without controller-runtime
//
// [Informer] shows an informer of package informer as client-go's SharedIndexInformer, with listers over the same
// cache. [NewInformer] makes one whose transform and error handler can still be set.
//
// # Goroutines
//
// New starts none. Start runs the informers and returns when all have ended, with every goroutine that they started.
package ctrlcache
