package informer

import (
	"context"
	"errors"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
)

// staging is a list on its way into the cache, however it is read: references to unchanged objects, and the changed ones.
// The cache changes at once when the list is complete, and not at all if it never is.
type staging[T meta.Object] struct {
	r      *reflector[T]
	s      state
	relist *cache.Relist[T]
	bad    map[meta.Key]bool // listed, but do not decode
	began  time.Time
}

func (r *reflector[T]) stage(s state) *staging[T] {
	if s.cause == Silent {
		r.dog.mute() // a server that no longer sends bookmarks must not cause one list after the other
	}
	return &staging[T]{r: r, s: s, relist: r.writer.Relist(), bad: make(map[meta.Key]bool), began: time.Now()}
}

// reuse returns the function that is called before an object is decoded; nil means that every object is decoded.
func (g *staging[T]) reuse() func(meta.Identity) (T, bool) {
	if g.s.afresh {
		return nil
	}
	return g.relist.Keep
}

// keepAgain stages an unchanged object, in the order of events. The reuse function has kept it already, but that may be
// some hundred events ahead: an earlier event may have undone that since, such as the deletion of an object that was
// created again.
func (g *staging[T]) keepAgain(id meta.Identity) {
	if _, kept := g.relist.Keep(id); kept {
		delete(g.bad, id.Key())
	}
}

// set stages the state of an object.
func (g *staging[T]) set(id meta.Identity, obj T) {
	delete(g.bad, id.Key())
	if g.s.afresh {
		g.relist.Replace(id, obj)
	} else {
		g.relist.Set(id, obj)
	}
}

// retain stages that an object exists but does not decode.
func (g *staging[T]) retain(id meta.Identity, err error) {
	g.relist.Retain(id)
	g.bad[id.Key()] = true
	g.r.undecodable(id, err)
}

// delete removes a staged object that was deleted meanwhile.
func (g *staging[T]) delete(id meta.Identity) {
	delete(g.bad, id.Key())
	g.relist.Delete(id)
}

// commit replaces the content of the cache by what is staged. It returns an error, and changes nothing, if no watch can
// follow the list, or if the list is older than the cache.
func (g *staging[T]) commit(version string) error {
	switch {
	case version == "":
		return errors.New("server sent a list without a resource version")
	case g.s.outdates(version):
		return &RollbackError{Was: g.s.seen, Is: version}
	}
	g.relist.Commit(version)
	g.r.decodes(g.r.record.keepUndecodable(func(k meta.Key) bool { return g.bad[k] }))
	g.r.record.listed(g.s.cause)
	g.ended(nil)
	g.r.healthy()
	g.r.synced()
	return nil
}

// failed reports why a list is not complete, and returns the meaning. An older list is not an error if stale ones were
// allowed.
func (g *staging[T]) failed(ctx context.Context, err error) input {
	if ctx.Err() == nil {
		g.ended(err)
	}
	if g.s.stale && classify(err) == older {
		return input{outcome: older}
	}
	return g.r.failed(ctx, err)
}

// ended tells Hooks.List how the list ended.
func (g *staging[T]) ended(err error) {
	tell := g.r.informer.observers.list
	if tell == nil {
		return
	}
	status := g.r.record.copy()
	tell(ListInfo{
		Resource: g.r.source.GVR(), Namespace: g.r.namespace, Cause: g.s.cause, Mode: status.Mode, Objects: status.Progress.Items,
		Began: g.began, Duration: time.Since(g.began), Err: err,
	})
}
