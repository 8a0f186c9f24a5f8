package shards

import (
	"context"
	"errors"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/retry"
)

// list asks for all leases of the group, as the server has them now.
func (g *Group) list(ctx context.Context) (meta.List[*lease], error) {
	return g.leases.List(ctx, client.ListOptions{Namespace: g.config.Namespace, LabelSelector: GroupLabel + "=" + g.config.Name, PageSize: -1})
}

// watch follows the leases of the group until ctx ends. Its news save time and requests. No work begins without a list that confirm asks
// for.
func (g *Group) watch(ctx context.Context) {
	failures := g.newBackoff()
	for ctx.Err() == nil {
		began := time.Now()
		err := g.watchOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		var floor time.Duration
		if err != nil {
			g.listFailed(err)
			floor, _ = apierrors.RetryAfter(err)
		} else if time.Since(began) > g.config.RetryPeriod {
			failures.Reset()
			continue
		}
		_ = retry.Sleep(ctx, failures.Next(floor)) // the loop asks ctx
	}
}

var errSilent = errors.New("no news of any lease has come, although replicas renew theirs")

// watchOnce lists the leases, and watches them until the server ends the watch, which is no error.
func (g *Group) watchOnce(outer context.Context) error {
	ctx, cancel := context.WithCancelCause(outer)
	defer cancel(nil)
	// Each replica renews its lease once in RetryPeriod, this one too. A watch without news is dead.
	patience := 2*g.config.RetryPeriod + g.config.RenewDeadline/4
	silence := time.AfterFunc(patience, func() { cancel(errSilent) })
	defer silence.Stop()
	list, err := g.list(ctx)
	if err != nil {
		return g.silent(outer, ctx, err)
	}
	now := g.clock.mono()
	g.mu.Lock()
	g.view.listed(list.Items, now)
	old := g.over(now)
	g.mu.Unlock()
	g.poke()
	g.listWorks()
	for _, l := range list.Items {
		if old[l.Name] {
			g.delete(ctx, l)
		}
	}
	silence.Reset(patience)
	o := client.WatchOptions{
		Namespace: g.config.Namespace, LabelSelector: GroupLabel + "=" + g.config.Name, ResourceVersion: list.ResourceVersion,
	}
	err = g.leases.WatchEach(ctx, o, nil, func(event client.Event[*lease]) error {
		if event.Err != nil {
			return event.Err
		}
		silence.Reset(patience)
		g.heard(event)
		return nil
	})
	return g.silent(outer, ctx, err)
}

// silent returns errSilent for a watch that has been ended because it brought no news, and else err. Later requests use other connections
// then: the one that was silent may be dead.
func (g *Group) silent(outer, ctx context.Context, err error) error {
	switch {
	case outer.Err() != nil:
		return nil
	case errors.Is(context.Cause(ctx), errSilent) && errors.Is(err, context.Canceled):
		g.c.Close()
		return errSilent
	}
	return err
}

// heard notes an event of the watch.
func (g *Group) heard(event client.Event[*lease]) {
	if event.Type == client.Bookmark {
		return
	}
	now := g.clock.mono()
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case event.Object.Name == g.view.self:
		if _, err := parseShare(event.Object.Annotations[shareAnnotation], g.view.self); err != nil && event.Type != client.Deleted {
			g.edited = true // the others do not know any more what this replica has
		}
	case event.Type == client.Deleted:
		g.view.deleted(event.Object, now)
	default:
		g.view.saw(event.Object, now)
	}
	g.poke()
}

// keptFor is how many lease durations the lease of a replica stays that has ended without deleting it.
const keptFor = 20

// over returns the names of the leases that this replica is to delete, because theirs ended long ago. One replica does it for all. The
// caller holds mu.
func (g *Group) over(now time.Duration) map[string]bool {
	old := make(map[string]bool)
	for _, m := range g.view.members {
		switch {
		case m.takesPart(now) && m.name < g.view.self:
			return nil
		case now >= m.seen+keptFor*m.lasts:
			old[m.name] = true
		}
	}
	return old
}
