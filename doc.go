// Package bowline is the root of a Kubernetes client SDK. It has no names of its own; import the packages that you
// need:
//
//   - [github.com/bowline-go/bowline/client]: typed handles with every verb; below it credentials, discovery, leader
//     election, records, replicas that share the work, containers of pods, and an API server for tests
//   - [github.com/bowline-go/bowline/client/meta]: objects, keys, selectors, conditions
//   - [github.com/bowline-go/bowline/errors]: what the server said, and how to ask for it
//   - [github.com/bowline-go/bowline/patch]: patches and applies
//   - [github.com/bowline-go/bowline/informer]: list and watch, from a client into a cache
//   - [github.com/bowline-go/bowline/cache]: reading a cache, indexes, subscriptions
//   - [github.com/bowline-go/bowline/informer/controller]: reconcile loops over caches
//   - [github.com/bowline-go/bowline/workqueue]: the queue behind a controller
//
// README.md has a first controller, GUIDE.md shows how to write an operator, and MIGRATING.md is for people who come
// from client-go or controller-runtime.
package bowline
