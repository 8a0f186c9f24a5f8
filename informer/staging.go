package informer

import (
	"context"
	"errors"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/packed"
	"github.com/bowline-go/bowline/internal/store"
)

var errNoVersion = errors.New("server sent a list without a resource version")

// staging is a list on its way into the cache, however it is read: references to unchanged objects, and the changed
// objects. When the list is complete, the cache changes in one step. If the list never completes, the cache does not
// change.
type staging[T meta.Object] struct {
	r      *reflector[T]
	s      state
	grows  bool // the list is of added ranges only
	relist *store.Relist[T]
	bad    map[meta.Key]bool // listed, but do not decode
	began  time.Time

	changed bool // the committed list differs from what the cache held
}

func (r *reflector[T]) stage(s state) *staging[T] {
	if s.cause == Silent {
		r.record.sendsBookmarks(false)
		r.dog.mute() // a server that no longer sends bookmarks must not cause one list after another
	}
	g := &staging[T]{r: r, s: s, grows: r.portion.grows(s), bad: make(map[meta.Key]bool), began: time.Now()}
	if !g.grows {
		g.relist = r.writer.Relist()
		return g
	}
	// The cache has no object of an added range, so this list removes no object from the cache, with one exception: an
	// object under whose key the list has another object that does not decode.
	g.relist = r.writer.RelistOf(func(id meta.Identity) bool { return g.bad[id.Key()] })
	return g
}

// lists reports whether an object is of the ranges that are listed.
func (g *staging[T]) lists(id meta.Identity) bool {
	return !g.grows || g.r.portion.missing().Has(g.r.portion.by.Range(id))
}

// reuse returns the function that is called before an object is decoded; nil means that every object is decoded.
func (g *staging[T]) reuse() func(meta.Identity) (T, bool) {
	if g.s.afresh {
		return nil
	}
	if g.r.warm == nil {
		return g.relist.Keep
	}
	return g.keep
}

// keep stages an unchanged object, of the cache or of those that an earlier process kept, and returns it.
func (g *staging[T]) keep(id meta.Identity) (obj T, kept bool) {
	if obj, kept = g.relist.Keep(id); kept {
		return obj, true
	}
	if obj, kept = g.r.warm.same(id); kept {
		g.relist.Set(id, obj)
	}
	return obj, kept
}

// keepAgain stages an unchanged object when its turn comes in the order of events. The reuse function has staged it
// already, but may be some hundred events ahead. Since then, an earlier event may have undone that, such as the
// deletion of an object that was created again.
func (g *staging[T]) keepAgain(id meta.Identity) {
	if _, kept := g.keep(id); kept {
		delete(g.bad, id.Key())
	}
}

// set stages the state of an object.
func (g *staging[T]) set(id meta.Identity, obj T, text packed.Text) {
	delete(g.bad, id.Key())
	if g.s.afresh || id.ResourceVersion == "" {
		g.relist.ReplacePacked(id, obj, text)
	} else {
		g.relist.SetPacked(id, obj, text)
	}
}

// retain notes that an object exists although it does not decode, so the cache keeps its last good state.
func (g *staging[T]) retain(id meta.Identity, err error) {
	if g.s.afresh {
		g.relist.RetainAnew(id)
	} else {
		g.relist.Retain(id)
	}
	g.bad[id.Key()] = true
	g.r.undecodable(id, err)
}

// delete removes a staged object that was deleted while the list was read.
func (g *staging[T]) delete(id meta.Identity) {
	delete(g.bad, id.Key())
	g.relist.Delete(id)
}

// commit replaces the content of the cache by the staged objects. It returns an error, and changes nothing, if no watch
// can follow the list, or if the list is older than the cache.
func (g *staging[T]) commit(version string) error {
	switch {
	case version == "":
		return errNoVersion
	case g.s.outdates(version):
		return &rollbackError{was: g.s.seen, is: version}
	}
	if g.grows {
		if err := g.r.portion.follows(version); err != nil {
			return err
		}
	}
	g.put(version)
	return nil
}

// put replaces the content of the cache by the staged objects. version is the version of the list; empty if it has
// none.
func (g *staging[T]) put(version string) {
	reached := version
	if g.grows {
		reached = g.r.portion.resume // the ranges that stay are no more current than before
	}
	c := g.relist.Commit(reached)
	g.changed = c.Added+c.Updated+c.Deleted > 0
	g.r.took = time.Since(g.began)
	g.r.decodes(g.r.record.keepUndecodable(func(id meta.Identity) bool { return g.bad[id.Key()] || !g.lists(id) }))
	g.r.portion.listed(g.grows, version)
	g.r.record.listed(g.s.cause)
	g.r.warm = nil
	g.ended(nil)
	g.r.healthy()
	g.r.synced()
}

// failed reports why a list is not complete, and returns the outcome. An older list is not an error if stale lists were
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
		Informer: g.r.o.called(), Resource: g.r.source.GVR(), Namespace: g.r.namespace, Cause: g.s.cause, Mode: status.Mode, Objects: status.Listed,
		Duration: time.Since(g.began), Err: err,
	})
}
