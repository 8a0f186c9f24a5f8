// Package ctrlcache lets an operator of controller-runtime take its cache from package informer, with one line:
//
//	mgr, err := manager.New(cfg, manager.Options{NewCache: ctrlcache.New})
//
// Nothing else changes. The client of the manager, its controllers, sources and field indexes use the cache as before.
// It is a separate Go module, so only programs that import it have Kubernetes' modules in their builds.
//
// # Guarantees
//
// [New] takes every option of cache.Options: namespaces and their configurations, ByObject, selectors, transforms,
// ReaderFailOnMissingInformer, SyncPeriod, watch error handlers, and objects that are not copied. The cache holds typed
// objects of any scheme, unstructured objects and metadata, each form in its own cache. Its errors have the types of
// controller-runtime's (*cache.ErrCacheNotStarted, *cache.ErrResourceNotCached, NotFound and Timeout of
// k8s.io/apimachinery). An informer of the cache is a cache.SharedIndexInformer of client-go, unless some namespaces
// have their own configuration and all others are cached too.
//
// The informers are those of package informer, with its guarantees: they recover from every fault in one defined way, a
// relist is never partly visible and decodes no unchanged object again, and [StatusOf] reports the state of each
// informer. Built-in kinds are sent as protobuf, unless rest.Config asks for JSON.
//
// Requests go through the HTTP client of the manager, so TLS, credentials, proxies and wrappers of rest.Config apply.
// rest.Config.RateLimiter delays lists; QPS and Burst do not. Timeout does not end watches.
//
// # Differences on purpose
//
//   - A handler receives every state, but only while it is behind by at most 16,384 changes, or by at most as many
//     changes as the cache has objects. From then on the changes of an object are merged: the handler sees the latest
//     state, and as the old state the one that it saw last.
//   - A deletion and a creation under the same name arrive as OnDelete and OnAdd, never as OnUpdate.
//   - A relist calls handlers for real differences only, not for each object.
//   - A handler that panics does not end the program. The panic is logged, or passed to Options.OnError, and the
//     handler goes on with its next object.
//   - An object that does not decode, or whose transform fails, does not stop the others. It is in Status and in the
//     log, and the cache keeps its last good state.
//   - A read that waits for an informer that cannot sync says why in its error, and a read that waits for an informer
//     that is removed returns at once.
//   - The first list has the server's present state, never an older state from the server's cache.
//   - Stores are read-only: Add, Update, Delete and Replace return an error.
//   - The namespaces of an informer share one resync period. If their configurations name several, it is the shortest.
//   - cache.Options.NewInformer replaces the engine, so with it New returns controller-runtime's own cache.
//
// Handlers get a tombstone, cache.DeletedFinalStateUnknown, in the case in which client-go passes one: no watch has
// reported the deletion. Objects are shared by all handlers and by readers that ask for no copy; Options.CheckMutations
// finds code that changes them.
//
// # Projections
//
// [Options].Fields names, for a kind, the members that a program reads. The others are not decoded, so memory, and CPU
// time for each event, depend only on the named members. The objects have the Go type of the scheme, and all metadata
// but managedFields.
//
// NEVER CALL Update, OR Update OF A SUBRESOURCE, WITH AN OBJECT OF A PROJECTED KIND THAT COMES FROM THE CACHE. An
// update replaces the whole object, so the server clears each member that was not decoded, without an error if it is
// optional. controllerutil's CreateOrUpdate is such an update. Instead:
//
//   - Use server-side apply with the fields that the program owns.
//   - Or use a merge patch of a change, client.MergeFrom: members that are absent on both sides are not in the patch.
//     But a merge patch replaces a list as a whole. So never change a list whose elements are projected, nor anything
//     in it. A list that a path names as its last member is whole.
//   - Or read the object through manager.GetAPIReader before the update.
//
// DeepCopy, comparisons and validations also see zero values in the other members: code that takes an empty
// spec.tolerations for "no tolerations" is then wrong. So name every member that the program reads. The cache logs each
// projected kind once, and [Status] has its Fields.
//
// A member that is not named is only checked to be valid JSON or protobuf: an object is decoded even if that member
// does not fit its Go type. The Go struct keeps its size: an empty corev1.Pod takes 1.2 KB, and each container in it
// 0.4 KB. Annotations are metadata; a transform can delete large ones.
//
// # Compressed objects
//
// With [Options].Compact the cache keeps every object whole, in about a sixth of the memory, and decodes it for each
// read. Code that updates objects from the cache stays as it is.
//
// # A client beside a manager
//
// [Config] turns the rest.Config of a manager into the configuration of a client of this module, and [RESTConfig] turns
// that of a client, such as kubeconfig.Load returns, into one for a manager. Both name the fields that they cannot
// carry.
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
