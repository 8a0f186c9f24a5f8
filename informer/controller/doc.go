// Package controller runs reconcile loops: sources name the keys that need work, and a function does the work for one
// key.
//
//	ctl := controller.New("mirror", controller.Options{Workers: 4}, reconcile,
//		controller.Watch(configMaps),
//		controller.Owns(mirrors, ConfigMaps))
//	return informer.Run(ctx, ctl)
//
// examples/operator has a complete controller, with an owned object, a finalizer and a status condition; GUIDE.md
// explains it.
//
// The function receives a key, not an event. It reads the present state, from a cache or a server, and brings the
// actual state closer to the desired one. It may be called more often than needed, so it must be idempotent. Its
// results decide what happens to the key:
//
//	Result{}, nil                 done, until a source names the key again
//	Result{RequeueAfter: d}, nil  done, and requeued after d, or earlier if a source names the key
//	Result{RequeueAt: t}, nil     done, and requeued at t, or earlier likewise. If t has passed, or d is below 0, the
//	                              key is requeued at once, and after a growing delay if that repeats
//	_, err                        retried, after a delay that doubles with each failure in a row; the Result does not
//	                              count
//	_, a Conflict                 retried likewise, and reported only from the fifth failure in a row on
//	_, Terminal(err)              failed, and not retried until a source names the key
//	a panic                       as an error, a *cache.PanicError
//	runtime.Goexit, t.FailNow     as an error; another worker replaces the one that has ended
//
// # Guarantees
//
//   - No reconcile starts before every source has delivered what existed when it started, so the first reconcile sees
//     complete caches. For sources of [Controller.AddSourcesFor], this holds for the keys that need them. For an
//     informer of several namespaces, it holds for each key and the namespaces that the key needs; see below.
//   - One worker at a time reconciles a key. A key that a source names during its reconcile is reconciled once more
//     after it. A waiting key that is named many times is reconciled once. After the last change, a reconcile runs that
//     begins after that change was delivered.
//   - Only a reconcile without an error, or after whose error the key is not retried, resets the number of failures in
//     a row.
//   - Every error and every panic of a reconcile goes to Options.OnError, or else to a logger, and into [Status]. The
//     failure of a source ends Run, which returns it; that of a source of AddSourcesFor stops the keys that need it.
//   - In a program of several replicas, [Controller.RunLed] fills the queue before this one leads, and runs reconciles
//     only while it does. With Options.StartAtTerm, each term begins with an empty queue and everything that exists
//     then.
//   - Changes are reconciled before what existed at the start, within the bound of Options.Ageing: keys of the first
//     list have workqueue.LowPriority.
//   - When ctx ends, no further reconcile starts, except those of Options.Drain; those in progress have Options.Grace
//     to finish before their context ends too. Run returns when they and the sources have returned, and then nothing of
//     the controller runs. Run waits for a reconcile that ignores its context, however long that takes, and says so at
//     growing intervals, by an error that names it.
//
// # Workers
//
// [Controller.SetWorkers] changes how many keys are reconciled at a time, and [Controller.Pause] and
// [Controller.Resume] stop and start the reconciles, all without a restart of the sources. A reconcile in progress is
// not interrupted by them. With [Controller.GroupBy], groups of keys, such as namespaces, share the workers fairly.
//
// # Namespaces that are missing
//
// An informer of several namespaces (informer.Options.Namespaces) may never have one of them: it is forbidden, gone, or
// its list hangs. At the start the workers, and the election of an informer.Group, wait for all namespaces, but not for
// one that the server refuses (403, 404), and not longer than 10 s after the first namespace of an informer has been
// listed. They always wait for the first one. Options.SyncTimeout counts only until the workers start. From then on a
// key waits aside, without occupying a worker, while a namespace that it needs is missing:
//
//	a meta.Key with a namespace, or a key with a method      its own namespace, of each informer that Watch, Map, Owns,
//	GetNamespace() string                                    Reads, Fresh or EveryObject follow
//	another key, or one without a namespace, such as         all namespaces of each informer, until they have been
//	that of a cluster-scoped owner                           listed once in the Run, because it is unknown which it
//	                                                         needs
//	a key of a namespace that the informer does not follow   likewise, for Map, Reads and Fresh
//	any key, from a source of your own that wraps these      all namespaces: no worker starts before they are listed
//
// When the namespace is listed, or SetNamespaces removes it, its keys are reconciled. A namespace that SetNamespaces
// adds during Run holds back its own keys, and no others. A namespace that the server forbids after it was listed
// holds back nothing: its cache stays as it was.
//
// [Status], Group.Ready and the log name the sources that lack namespaces, with the last error of each. A reconcile
// that reads other namespaces than its own does not find the objects of missing ones, and an index does not have them.
// A Map that names keys in other namespaces than those of its objects leads to such reconciles. If a controller has
// such reconciles, set Options.AllNamespaces: all keys then wait for all namespaces at the start.
//
// # Caches that are behind
//
// A cache follows the server with a delay, so a reconcile right after a write may not find that write: it creates what
// exists, or fails with a conflict. With [Fresh], a reconcile does not start while the caches have not seen what
// earlier reconciles of its key wrote. The key waits aside, and the workers handle other keys.
//
// # Fights
//
// Another controller may undo the writes of a reconcile, which then repeats them for ever. The controller notices that
// from the writes that the function makes with its context, through package client. It is a fight if the reconciles of
// a key repeatedly write the same to one object (by its uid), and other values are found in these fields in between,
// five times, each within two minutes of the one before. Then:
//
//   - Options.OnError is called once with a [*FightError], which names the writers and the fields. Without OnError it
//     is logged. Hooks.Fight is called, and [Status] shows the fight.
//   - After each further write that was undone, the key waits aside: at first for 1 s, then for twice as long each
//     time, up to a minute. It is never dropped. If sources name it during the wait, one reconcile after the wait
//     serves all of that. Other keys do not wait.
//   - The fight is over when no write has been undone for ten minutes, or the object is gone. Then Hooks.Fight is
//     called again.
//
// These are not fights: a reconcile that writes other values than the last time, or several in turn; other writers of
// other fields of the object; a write that changes nothing; an update that fails with a Conflict; an object that was
// deleted and created again. Times are not compared, so a fight over a condition is noticed although the condition says
// when it changed.
//
// The evidence is in metadata.managedFields, so each writer needs its own name (client.WriteOptions.FieldManager). The
// controller reads an object only if several reconciles have written the same to it, and less and less often if no
// other writer undoes that. If the writes before had other values each time, sixteen more writes may pass before the
// controller looks for a fight. It notices nothing if it may not read the object, or if the object is larger than 1 MiB
// or has no managedFields. Options.AllowFights switches all of this off.
//
// # Limits
//
// informer.Run runs the informers that a controller watches, or declares with [Reads], and stops them after the
// controller. [Controller.Run] does not run them. An informer that does not run delivers nothing, and the workers wait
// for it. [Status] names the sources that they wait for, and why; with Options.SyncTimeout, Run returns an error.
//
// Keys that wait when Run ends are forgotten; at the next start the sources name everything that exists. There is no
// order between keys beyond that of the queue (package workqueue), whose memory is bounded by the number of distinct
// keys.
package controller
