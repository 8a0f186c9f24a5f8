package shards

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

var errRestored = errors.New("the server has an earlier state than before: it has been restored from a backup")

// list asks for all leases of the group, as the server has them now.
func (g *Group) list(ctx context.Context) (meta.List[*lease], error) {
	return g.leases.List(ctx, client.ListOptions{Namespace: g.config.Namespace, LabelSelector: GroupLabel + "=" + g.config.Name, PageSize: -1})
}

// watch follows the leases of the group until ctx ends. Each watch continues from the last version that the one before
// has brought, so that the view also learns of leases that are made and deleted while nothing can be read.
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
		g.rest(ctx, failures.Next(floor), floor > 0)
	}
}

// rest waits before the next watch. The wait ends early if the server stores a write that the watch has yet to bring,
// because the server is available then. It does not end early if asked says that the server has asked for the wait.
func (g *Group) rest(ctx context.Context, d time.Duration, asked bool) {
	stored := g.expected
	if asked {
		stored = nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-stored:
	}
}

// expect makes the open watch end soon if it does not bring a write of ours that was stored just now, and ends a wait
// before the next watch. The caller holds mu.
func (g *Group) expect() {
	if g.lively != nil {
		g.lively.Reset(g.config.RetryPeriod)
	}
	select {
	case g.expected <- struct{}{}:
	default:
	}
}

var errSilent = errors.New("the watch of the leases has brought nothing, although replicas renew theirs")

// watchOnce lists the leases, and watches them until the server ends the watch, which is not an error.
func (g *Group) watchOnce(outer context.Context) error {
	ctx, cancel := context.WithCancelCause(outer)
	defer cancel(nil)
	// Each replica, this one included, renews its lease once in RetryPeriod. So a watch that brings nothing is dead.
	patience := 2*g.config.RetryPeriod + g.config.RenewDeadline/4
	silence := time.AfterFunc(patience, func() { cancel(errSilent) })
	defer silence.Stop()
	g.mu.Lock()
	known := g.replica.view.known()
	g.mu.Unlock()
	list, err := g.list(ctx)
	if err != nil {
		return g.silent(outer, ctx, err)
	}
	from := g.learn(ctx, list, known)
	silence.Reset(patience)
	o := client.WatchOptions{
		Namespace: g.config.Namespace, LabelSelector: GroupLabel + "=" + g.config.Name, ResourceVersion: from, Bookmarks: true,
	}
	err = g.leases.WatchEach(ctx, o, nil, func(event client.Event[*lease]) error {
		if event.Err != nil {
			g.mu.Lock()
			g.replica.course.broken = true
			g.mu.Unlock()
			return event.Err
		}
		now := g.clock.Mono()
		g.mu.Lock()
		defer g.mu.Unlock()
		g.heard(event, now)
		if g.lively = silence; len(g.replica.observed.waits) > 0 {
			silence.Reset(g.config.RetryPeriod)
		} else {
			silence.Reset(patience)
		}
		return nil
	})
	g.mu.Lock()
	g.lively = nil
	switch {
	case errors.Is(err, apierrors.Expired):
		g.replica.course.broken = true
	case errors.Is(err, apierrors.Forbidden):
		g.replica.course.barren = enoughBarren
	}
	g.mu.Unlock()
	return g.silent(outer, ctx, err)
}

// learn records the list that precedes a watch, and deletes leases of replicas that ended long ago. known has the
// versions that this replica knew when it requested the list. learn returns the version from which the watch continues.
func (g *Group) learn(ctx context.Context, list meta.List[*lease], known known) (from string) {
	leases, now := listOf(list), g.clock.Mono()
	g.mu.Lock()
	from, restored := g.replica.learns(leases, known, now)
	old := g.replica.over(now)
	g.mu.Unlock()
	if restored {
		g.listFailed(errRestored)
	}
	g.poke()
	g.listWorks()
	for _, l := range list.Items {
		if slices.Contains(old, l.Name) {
			g.delete(ctx, l)
		}
	}
	return from
}

// silent returns errSilent if the watch was ended because it brought nothing, nil if outer has ended, and otherwise
// err. After a silent watch, later requests use other connections, because its connection may be dead.
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

// heard records an event of the watch that arrived at the moment now. The caller holds mu.
func (g *Group) heard(event client.Event[*lease], now time.Duration) {
	var l leaseState
	if event.Type != client.Bookmark {
		l = stateOf(event.Object)
	}
	if g.replica.hears(l, event.Type == client.Deleted, event.Identity.ResourceVersion, now) {
		g.poke()
	}
}
