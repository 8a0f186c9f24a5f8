package explore

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// The kinds of disturbances by an API server whose watch cache is behind. The argument names the resource that is
// behind, or "all", and the write of the run before which the watch cache stopped, as in boxes:create:configmaps:2.
const (
	timeTravel kind = "time-travel" // a replica dies after a write, and its next life reads an older state
	staleRead  kind = "stale-read"  // a read that the server may answer from its cache returns an older state
	reconnect  kind = "reconnect"   // the watches break, and continue at a server that has not seen the next write yet
)

// staleness returns the effects of these kinds.
func staleness() []effect {
	return []effect{
		{kind: reconnect, at: func(p *point, _ *result) []string { return once(p.writes()) }, plan: addServer, prepare: reconnects},
		{kind: staleRead, argued: true, at: staleReadsAt, check: checkState, plan: fallsBehind, serve: readStale},
		{kind: timeTravel, argued: true, at: timeTravelsAt, check: checkState, plan: fallsBehind, serve: travel},
	}
}

// written is a write of a run: a request of the program, or a step of the history.
type written struct {
	place    place
	resource string
}

// everything is the argument for all resources that the program reads from caches.
const everything = "all"

// timeTravelsAt returns the older states that a replica may read after a crash at a write: of each resource that the
// program reads from caches, and of all of them.
func timeTravelsAt(p *point, want *result) (arguments []string) {
	if !p.writes() {
		return nil
	}
	cached := want.cached()
	for _, resource := range cached {
		arguments = append(arguments, want.statesBefore(p, resource, resource)...)
	}
	if len(cached) > 1 {
		arguments = append(arguments, want.statesBefore(p, everything, cached...)...)
	}
	return arguments
}

// staleReadsAt returns the older states that a read may return.
func staleReadsAt(p *point, want *result) []string {
	if !p.cached || p.request.Verb == "watch" {
		return nil
	}
	return want.statesBefore(p, p.request.Resource.Resource, p.request.Resource.Resource)
}

// cached returns the resources that the program reads from the server's cache.
func (r *result) cached() (names []string) {
	for _, p := range r.points {
		if name := p.request.Resource.Resource; p.cached && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// statesBefore returns an argument for each write of the resources before a request, the newest first.
func (r *result) statesBefore(p *point, name string, resources ...string) (arguments []string) {
	for _, one := range slices.Backward(r.written[:p.writtenBefore]) {
		if slices.Contains(resources, one.resource) {
			arguments = append(arguments, name+":"+one.place.String())
		}
	}
	return arguments
}

// addServer adds one more API server to the run.
func addServer(w *world, _ disturbance) {
	w.options.Replicas = max(1, w.plan.Server.Replicas) + 1
	if w.options.HistoryAge == 0 {
		w.options.HistoryAge = 30 * 24 * time.Hour // so that the history reaches back to the state of the cache
	}
}

// fallsBehind adds an API server whose watch cache stops before a write.
func fallsBehind(w *world, d disturbance) {
	addServer(w, d)
	resource, where, _ := strings.Cut(d.argument, ":")
	w.before(placeOf(where), func() {
		w.tell("the watch cache of another API server stops, for %s", resource)
		w.stopCache(resource)
	})
}

// behind returns the index of the API server that is behind.
func (w *world) behind() int { return w.options.Replicas - 1 }

// stopCache stops the watch cache of the other API server for a resource, or for all but leases.
func (w *world) stopCache(resource string) {
	other := w.server.Replica(w.behind())
	if resource == everything {
		other.SetLag(math.MaxInt, 0)
		other.SetLag(0, 0, meta.GVR{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"})
		return
	}
	if of := w.named(resource); len(of) > 0 {
		other.SetLag(math.MaxInt, 0, of...)
	}
}

// named returns those resources with a name that somebody has requested or written to.
func (w *world) named(name string) (all []meta.GVR) {
	w.mu.Lock()
	defer w.mu.Unlock()
	add := func(of meta.GVR) {
		if of.Resource == name && !slices.Contains(all, of) {
			all = append(all, of)
		}
	}
	for _, p := range w.points {
		add(p.request.Resource)
	}
	for of := range w.kinds {
		add(of)
	}
	return all
}

// turn sends all requests to the API server that is behind, until it has caught up.
func (w *world) turn() {
	w.holdFor(func() { w.server.Replica(w.behind()).SetLag(0, 0) }, silence{traffic: present})
}

func travel(p *point, d disturbance, _ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
	w := p.life.world
	resource, _, _ := strings.Cut(d.argument, ":")
	w.tell("%s -> %d, and dies before the answer; requests go to the API server whose %s are old", p, p.ask(r).Code, resource)
	p.life.crash()
	w.turn()
	panic(http.ErrAbortHandler)
}

func readStale(p *point, _ disturbance, rw http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	p.life.world.tell("%s is answered by the API server whose watch cache has stopped", p)
	p.stale = true
	next(rw, r)
}

func reconnects(w *world, p *point, _ disturbance) {
	w.tell("the watches of replica %s break, and it reconnects to an API server whose watch cache stops now", p.life.name)
	w.stopCache(everything)
	w.turn()
	w.mu.Lock()
	for watch, cut := range w.watches {
		if watch.life == p.life {
			cut()
		}
	}
	w.mu.Unlock()
}

// server returns the API server that the request has reached.
func (p *point) server() http.Handler {
	w := p.life.world
	w.mu.Lock()
	turned := p.stale || w.isHeld(silence{traffic: present})
	w.mu.Unlock()
	if turned {
		return w.server.Replica(w.behind())
	}
	return w.server
}

// checkState returns an error if the argument of staleRead or timeTravel is invalid.
func checkState(argument string) error {
	resource, where, _ := strings.Cut(argument, ":")
	if at := placeOf(where); resource == "" || at.class == "" || at.number < 1 {
		return fmt.Errorf("explore: an older state must be such as boxes:create:configmaps:2, got %q", argument)
	}
	return nil
}
