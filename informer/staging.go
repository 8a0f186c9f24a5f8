package informer

import (
	"context"
	"errors"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
)

// staging is a list on its way into the cache, however it is read: references to what has not changed, and what has. The
// cache changes when the list is complete, at once, and not at all if it never is.
type staging[T meta.Object] struct {
	r      *reflector[T]
	s      state
	relist *cache.Relist[T]
	bad    map[meta.Key]bool // listed, and does not decode
}

func (r *reflector[T]) stage(s state) *staging[T] {
	if s.cause == Silent {
		r.dog.mute() // a server that sends no bookmarks any more must not lead to one list after the other
	}
	return &staging[T]{r: r, s: s, relist: r.writer.Relist(), bad: make(map[meta.Key]bool)}
}

// reuse returns what is asked before an object is decoded; nil if every object is to be decoded.
func (g *staging[T]) reuse() func(meta.Identity) (T, bool) {
	if g.s.afresh {
		return nil
	}
	return g.relist.Keep
}

// keepAgain stages that an object is as it was, in its turn. It has been kept when reuse was asked, but that may be some
// hundred events ahead: what the server has sent before may have taken that back since, as the deletion of an object does
// that was created again.
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

// retain stages that an object is there, and does not decode.
func (g *staging[T]) retain(id meta.Identity, err error) {
	g.relist.Retain(id)
	g.bad[id.Key()] = true
	g.r.undecodable(id, err)
}

// delete takes back what was staged of an object: it has gone meanwhile.
func (g *staging[T]) delete(id meta.Identity) {
	delete(g.bad, id.Key())
	g.relist.Delete(id)
}

// commit makes the cache hold what has been staged. It does not where the list cannot be followed by a watch, or is older
// than what the cache is current to, and returns why.
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
	g.r.healthy()
	g.r.synced()
	return nil
}

// failed reports why a list is not complete, and returns what it means. That a list is older which was allowed to be is no
// error.
func (g *staging[T]) failed(ctx context.Context, err error) input {
	if g.s.stale && classify(err) == older {
		return input{outcome: older}
	}
	return g.r.failed(ctx, err)
}
