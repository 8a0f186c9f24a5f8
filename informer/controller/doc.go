// Package controller runs reconcile loops: sources say which keys need work, and a function does the work for one key.
//
//	ctl := controller.New("mirror", controller.Options{Workers: 4}, reconcile,
//		controller.Watch(configMaps),
//		controller.Owns(mirrors, ConfigMaps))
//	return informer.Run(ctx, ctl)
//
// The function is told a key, not what happened to it. It reads the present state, from a cache or a server, and brings
// the world nearer to what it should be; it must therefore be safe to call once too often. What it returns decides what
// becomes of the key:
//
//	Result{}, nil                 done, until a source names the key again
//	Result{RequeueAfter: d}, nil  done, and once more after d, or earlier if a source names the key
//	_, err                        again, after a delay that doubles with each failure in a row; RequeueAfter does not count
//	_, Terminal(err)              failed, and not tried again until a source names the key
//	a panic                       as an error, a *cache.PanicError
//	runtime.Goexit, t.FailNow     as an error; another worker takes the place of the one that has ended
//
// # What is guaranteed
//
//   - No reconcile starts before every source has handed over what was there when it started, so the first reconcile sees
//     complete caches.
//   - A key is reconciled by one worker at a time. A key that a source names during its reconcile is reconciled once more
//     after it. Many names of a waiting key are one reconcile. After the last change, a reconcile runs that had not begun
//     before that change was delivered.
//   - Only a reconcile without an error ends a row of failures.
//   - Every error and every panic of a reconcile goes to Options.OnError, or else to a logger, and into [Status]. The failure
//     of a source ends Run, which returns it.
//   - When ctx ends, no further reconcile starts; those in progress have Options.Grace to finish before their context ends
//     too. Run returns when they and the sources have, and then nothing of the controller runs: it waits for a reconcile
//     however long that ignores its context.
//
// # What is not guaranteed
//
// informer.Run runs the informers that a controller watches, or declares with [Reads], and stops them after it.
// [Controller.Run] does not run them. An informer that nobody runs delivers nothing, and the workers wait for it. [Status]
// names what they wait for, and why, and Options.SyncTimeout makes an error of it.
//
// Keys that wait when Run ends are forgotten; the sources name what is there at the next start. There is no order between
// keys beyond that of the queue (package workqueue), whose memory is bounded by the number of distinct keys.
package controller
