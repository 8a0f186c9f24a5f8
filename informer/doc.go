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
// What each fault leads to is decided by one pure function, next, in machine.go:
//
//   - A watch that ends, for whatever reason that the server does not call final, is resumed after the last event that was
//     applied. Nothing is listed again for a lost connection, a 429 or a 5xx.
//   - 410 in any form leads to a relist, and so does a version that the server says it has not reached. So does a resource
//     that was gone (404), because what happened meanwhile is unknown, and so do three watches in a row with an event that
//     cannot be applied, or that end at once and empty.
//   - Failures in a row are followed by waits that grow from 800 ms to 30 s, with full jitter, and start low again after 2
//     minutes of health. A watch that had delivered something is resumed within 800 ms, and so begins a relist, except one
//     that follows another without a watch of 10 s in between. Where the server refuses (400, 403, 404 and the like),
//     attempts are 5 to 30 s apart. What the server asks for (Retry-After) is waited for in any case, up to an hour.
//   - A server that goes silent is given up: a list that brings nothing for 2 minutes is tried again, and a watch is ended
//     here when it is overdue by 30 s, which is after at most 10 minutes and a half.
//
// Only a source that cannot be asked at all ends an informer, with the reason: a *client.UsageError, such as a namespace for a
// cluster-wide resource.
//
// An object that does not decode into T stays in the cache as it was last good, is reported once per change, and is listed
// in Status until it is mended or gone; the others are not affected.
//
// # What runs
//
// Nothing runs until [Informer.Run], and nothing when it has returned. Every error is handed to Options.OnError, and the
// last one of a list or a watch is visible in [Informer.Status]; [Informer.WaitSynced] returns the reason when there is no
// cache to read yet.
package informer
