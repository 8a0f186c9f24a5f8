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

// list asks for all leases of the group, as the server has them now. If that is an earlier state than before, it
// returns them with errRestored.
func (g *Group) list(ctx context.Context) (meta.List[*lease], error) {
	g.mu.Lock()
	known := []string{g.view.head, g.view.latest, g.view.own}
	g.mu.Unlock()
	list, err := g.leases.List(ctx, client.ListOptions{Namespace: g.config.Namespace, LabelSelector: GroupLabel + "=" + g.config.Name, PageSize: -1})
	if err != nil {
		return list, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	isLower := func(known string) bool { return isOlder(list.ResourceVersion, known) }
	if slices.ContainsFunc(known, isLower) || g.view.contradicts(list) {
		return list, errRestored
	}
	g.view.latest = list.ResourceVersion
	return list, nil
}

// watch follows the leases of the group until ctx ends. It goes on from the last version that it has come to, so that
// the view also learns of leases that are made and deleted while nothing can be read.
func (g *Group) watch(ctx context.Context) {
	failures := g.newBackoff()
	var course course
	for ctx.Err() == nil {
		began := time.Now()
		err := g.watchOnce(ctx, &course)
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

// rest waits before the next watch. It stops waiting when a write is stored that the news have to come to, because the
// server is there then, unless the server has asked for the wait.
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

// expect notes that the news have to come to a write of ours that was stored just now. The caller holds mu.
func (g *Group) expect() {
	if g.lively != nil {
		g.lively.Reset(g.config.RetryPeriod)
	}
	select {
	case g.expected <- struct{}{}:
	default:
	}
}

// course is how the watches of a Run have gone.
type course struct {
	broken bool // the server or this program cannot go on from the version that the news have come to
	barren int  // how many watches in a row have brought nothing
}

// enoughBarren is how many watches in a row may bring nothing, although the leases can be listed, before the news begin
// anew with a list.
const enoughBarren = 2

var errSilent = errors.New("no news of any lease has come, although replicas renew theirs")

// watchOnce lists the leases, and watches them until the server ends the watch, which is no error.
func (g *Group) watchOnce(outer context.Context, course *course) error {
	ctx, cancel := context.WithCancelCause(outer)
	defer cancel(nil)
	// Each replica renews its lease once in RetryPeriod, this one too. A watch without news is dead.
	patience := 2*g.config.RetryPeriod + g.config.RenewDeadline/4
	silence := time.AfterFunc(patience, func() { cancel(errSilent) })
	defer silence.Stop()
	list, err := g.list(ctx)
	restored := errors.Is(err, errRestored)
	switch {
	case restored:
		g.listFailed(err)
	case err != nil:
		return g.silent(outer, ctx, err)
	}
	from, old := g.learn(list, restored, course)
	g.poke()
	g.listWorks()
	for _, l := range list.Items {
		if old[l.Name] {
			g.delete(ctx, l)
		}
	}
	silence.Reset(patience)
	course.barren++
	o := client.WatchOptions{
		Namespace: g.config.Namespace, LabelSelector: GroupLabel + "=" + g.config.Name, ResourceVersion: from, Bookmarks: true,
	}
	err = g.leases.WatchEach(ctx, o, nil, func(event client.Event[*lease]) error {
		if event.Err != nil {
			course.broken = true
			return event.Err
		}
		course.barren = 0
		now := g.clock.Mono()
		g.mu.Lock()
		defer g.mu.Unlock()
		g.heard(event, now)
		if g.lively = silence; len(g.table.reach.waits) > 0 {
			silence.Reset(g.config.RetryPeriod)
		} else {
			silence.Reset(patience)
		}
		return nil
	})
	g.mu.Lock()
	g.lively = nil
	g.mu.Unlock()
	switch {
	case errors.Is(err, apierrors.Expired):
		course.broken = true
	case errors.Is(err, apierrors.Forbidden):
		course.barren = enoughBarren
	}
	return g.silent(outer, ctx, err)
}

// learn notes the list before a watch. It returns the version that the watch is to begin after, and the names of the
// leases that this replica is to delete.
func (g *Group) learn(list meta.List[*lease], restored bool, course *course) (from string, old map[string]bool) {
	now := g.clock.Mono()
	g.mu.Lock()
	defer g.mu.Unlock()
	v, r := g.view, &g.table.reach
	if restored {
		v.restored(now)
		v.latest = list.ResourceVersion
	}
	v.listed(list.Items, now)
	if v.head == "" || course.broken || restored || course.barren >= enoughBarren && len(r.waits) > 0 {
		v.restart(list.ResourceVersion, now)
		r.came(list.ResourceVersion)
		course.broken = false
	}
	return v.head, g.over(now)
}

// silent returns errSilent for a watch that has been ended because it brought no news, and else err. Later requests use
// other connections then: the one that was silent may be dead.
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

// heard notes an event of the watch at the moment now. The caller holds mu.
func (g *Group) heard(event client.Event[*lease], now time.Duration) {
	switch {
	case event.Type == client.Bookmark:
	case event.Object.Name == g.view.self:
		if _, err := parseShare(event.Object.Annotations[shareAnnotation], g.view.self); err != nil && event.Type != client.Deleted {
			g.edited = true // the others do not know any more what this replica has
		}
	case event.Type == client.Deleted:
		g.view.deleted(event.Object, now)
	default:
		g.view.saw(event.Object, now)
	}
	g.view.came(event.Identity.ResourceVersion)
	if g.table.reach.came(g.view.head) || event.Type != client.Bookmark {
		g.poke()
	}
}

// keptFor is how many lease durations the lease of a replica stays that has ended without deleting it.
const keptFor = 20

// over returns the names of the leases that this replica is to delete, because theirs ended long ago. One replica does
// it for all. The caller holds mu.
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
