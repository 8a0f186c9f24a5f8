// Package clusters runs one controller over many clusters, which come and go while it runs.
//
//	ctl := clusters.New("pages", controller.Options{Workers: 8, Timeout: time.Minute},
//		func(ctx context.Context, site *Site, key clusters.Key) (controller.Result, error) {
//			page, found := site.Pages.Reader().Get(key.Key)
//			...
//		})
//	err := ctl.Add("eu", eu, controller.Watch(eu.Pages))
//	...
//	return informer.Run(ctx, ctl)
//
// A [Key] names an object and its cluster. The program keeps one value for each cluster, of any type: here a *Site,
// with a client and informers. [Controller.Add] takes the value and the cluster's sources. The function receives the
// value of the key's cluster.
//
// A source is any source of meta.Key, such as controller.Watch, Owns, Map, Every and Fresh. It may follow another
// cluster: if each cluster has controller.Watch(hub) among its sources, every object of the hub has a key in each
// cluster. The controller runs the informers, each once. When a cluster is removed, the controller ends the informers
// that only this cluster needed.
//
// A [Controller] has all methods of a controller.Controller: Run, RunLed, Status, SetWorkers, Pause and the others.
// examples/clusters has a complete program.
//
// # Guarantees
//
//   - The guarantees of package controller hold for each cluster. No reconcile of a key starts before all sources of
//     its cluster have delivered what existed when they started.
//   - No cluster waits for another one. Run reconciles the keys of a cluster as soon as its sources have delivered,
//     also if other clusters are unreachable, or answer 401 or 403. Keys of a cluster whose sources have not delivered
//     wait aside, without a worker. When the cluster can be reached, they are reconciled automatically.
//   - If a source or an informer that it needs fails, only its cluster stops: Options.OnError receives an error that
//     names the source, and the cluster's keys wait until the cluster is removed. An informer fails only if its options
//     are invalid. No answer of a server makes it fail.
//   - The clusters share the workers fairly, as groups of package workqueue; see Fairness.
//   - After [Controller.Remove] nothing of the cluster runs: no source, no informer that it alone needs, and no
//     reconcile.
//   - A cluster that is added again under its name is a new one. All its objects are reconciled, like those of any
//     cluster that is added.
//
// # Removal
//
// Remove ends the contexts of the cluster's reconciles in progress, with a [*RemovedError] as the cause, so their
// requests end. If such a reconcile returns the error of its context, it was interrupted (controller.Interrupted), and
// has neither failed nor succeeded. Another error is reported, and is not retried. The function is no longer called for
// keys of the cluster: those in the queue leave it, even if they waited for a retry, for the time of a Result or for
// the cluster, and their failures are forgotten.
//
// A reconcile of a key is never in progress twice, even if the cluster is added again before the reconcile has
// returned.
//
// # A cluster that is away
//
// Informers keep their caches while their server is away, and try again. So do reconciles that fail, with delays that
// double up to Options.MaxBackoff, 1000 s by default: set that to a minute, for example, to resume work soon after a
// cluster comes back. [Controller.Clusters] says which clusters have not delivered, and why, and which have gone away
// since. Give each informer the name of its cluster (informer.Options.Name): log lines, metrics and the page of package
// debug then say which cluster it is. An informer.Group is not ready while the cache of a cluster is stale; see its
// field MustBeFresh.
//
// # Fairness
//
// The clusters share the workers: a cluster with many keys, or slow ones, does not keep the keys of another cluster
// waiting while that cluster has less than its share of the workers. A reconcile is not interrupted for that, and a
// cluster that alone has keys gets all workers. So if all requests to one cluster hang, and it has all workers, a key
// of another cluster waits until the first of those reconciles ends. Set Options.Timeout to limit that wait. GroupBy
// makes other groups, or gives weights:
//
//	err := ctl.GroupBy(func(k clusters.Key) string { return k.Cluster }, weight)
//
// # Limits
//
// Adding a cluster is like a start: an object that was deleted while its cluster was not added is not named. If work
// must follow a deletion, use a finalizer, or compare the actual with the desired state.
//
// With Options.Shards by namespace, a namespace is in the same range in every cluster. With Shards by uid, the sources
// of each cluster need a controller.Watch among them, whose cache says which uid a key has.
//
// Clusters need different client.Config.Server values, because controller.Fresh uses them to distinguish the writes to
// one from those to another. If two had the same value, and informers of both were sources of one cluster, Fresh would
// wait until caches of the first have seen a write to the second. Each server of package clienttest has its own
// address.
package clusters
