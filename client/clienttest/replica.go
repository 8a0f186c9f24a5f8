package clienttest

import (
	"fmt"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// Replicas are servers that share one store, each with its own watch cache, behind one address. Writes, and reads that
// must be current, go to the store. Reads that may be older are answered from the cache of the replica that received
// the request.

// Replica is one of several servers that share a store. Its methods may be called by several goroutines at once.
//
// If its cache lags, a Replica behaves like a kube-apiserver whose cache lags behind etcd:
//
//   - It answers gets and lists without a resource version, at an exact version, and with a continue token from the
//     store.
//   - It answers gets and lists at version 0 from its cache.
//   - Gets and lists at another version wait until the cache has it. After 3 seconds they fail with 504 "Too large
//     resource version".
//   - Its watches send events late.
//
// A cache never goes back to an older version, and is never older than the history that the server keeps.
type Replica struct {
	api   *api
	cache *store.Cache
}

// ServeHTTP answers r as the replica does, on whichever connection r arrived. A function for [Server.Intercept] can
// use it to spread requests over replicas, at random for instance.
func (p *Replica) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.api.answer(w, r, p.cache) }

// SetLag sets how many resource versions, and how long, the replica's cache is behind the store from now on, for some
// resources or, if none is named, for all. Both limits apply; 0 means no lag. A number of versions that is never
// reached, such as math.MaxInt, stops the cache at its present version. The cache keeps the versions that it already
// has. SetLag panics if the server does not have one of the resources.
func (p *Replica) SetLag(versions int, age time.Duration, of ...meta.GVR) {
	collections := make([]*store.Collection, len(of))
	for i, gvr := range of {
		r := p.api.registry.named(gvr)
		if r == nil {
			panic(fmt.Sprintf("clienttest: SetLag of %s: the server has no such resource", gvr))
		}
		collections[i] = r.objects
	}
	p.cache.SetLag(versions, age, collections...)
}
