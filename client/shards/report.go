package shards

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/hooks"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/retry"
)

// The keys of the log topics.
const (
	aboutLeases = "leases"
	aboutOwn    = "own lease"
	aboutLoss   = "loss"
	aboutWork   = "work"
)

// quiet returns a context without a logger, for the election of our own lease: nobody wants to read that this replica
// leads.
func quiet(ctx context.Context) context.Context { return logr.NewContext(ctx, logr.Discard()) }

// failed reports an error that Run does not return.
func (g *Group) failed(t report.Topic, err error) {
	if g.config.OnError != nil {
		g.config.OnError(err)
		return
	}
	g.log.Failed(t, err, nil)
}

// electionFailed reports an error of our own lease.
func (g *Group) electionFailed(err error) {
	g.failed(report.Topic{Key: aboutOwn, Fails: g.String() + ": the lease of this replica fails", Works: g.String() + ": the lease of this replica works again"}, err)
}

// listFailed reports an error of a list or a watch of the leases.
func (g *Group) listFailed(err error) {
	g.mu.Lock()
	g.err = err
	g.mu.Unlock()
	g.failed(report.Topic{Key: aboutLeases, Fails: g.String() + ": the leases of the group cannot be read", Works: g.String() + ": the leases of the group can be read again"}, err)
}

// listWorks records, and logs, that the leases can be read again.
func (g *Group) listWorks() {
	g.mu.Lock()
	g.err = nil
	g.mu.Unlock()
	g.log.Works(aboutLeases)
}

// block records why the work is not shared as it should be; p was made at the moment now. It returns the time after
// which it must be called again; 0 if time alone does not change the answer. The caller holds mu.
func (g *Group) block(p plan, now time.Duration) (next time.Duration) {
	missing := p.wanted.Minus(g.replica.have).Len()
	if g.blocked = nil; p.foreign != nil {
		g.blocked = fmt.Errorf("replica %q shares by %s, and this one by %s: one works on nothing while the other works; all replicas of a group must have one By, so change it together with Name",
			p.foreign.identity, p.foreign.share.by, g.config.By)
	}
	if missing == 0 {
		g.unready = 0
		return 0
	}
	if g.unready == 0 {
		g.unready = max(now, 1)
	}
	if left := g.config.LeaseDuration - (now - g.unready); left > 0 {
		return left
	}
	if g.blocked == nil {
		g.blocked = fmt.Errorf("no work on %d of %d ranges, because these are not ready for them: %s", missing, meta.RangeCount, strings.Join(g.notReady(), ", "))
	}
	return 0
}

// notReady returns the names of the followers that are not ready for all wanted ranges. The caller holds mu.
func (g *Group) notReady() (names []string) {
	for _, f := range g.followers {
		if g.wanted.Minus(f.have) != (meta.Ranges{}) {
			names = append(names, f.name)
		}
	}
	return names
}

// sayBlocked reports why the work is not shared as it should be, at most once in LeaseDuration. said is when it last
// reported that; 0 if it has not.
func (g *Group) sayBlocked(said *time.Duration) {
	now := g.clock.Mono()
	g.mu.Lock()
	why := g.blocked
	g.mu.Unlock()
	switch {
	case why == nil:
		*said = 0
		g.log.Works(aboutWork)
	case *said == 0 || now-*said >= g.config.LeaseDuration:
		*said = max(now, 1)
		g.failed(report.Topic{Key: aboutWork, Fails: g.String() + ": the work is not shared as it should be", Works: g.String() + ": the work is shared as it should be"}, why)
	}
}

// leaseStays logs that the lease of a replica that has ended was not deleted.
func (g *Group) leaseStays(name string, err error) {
	if !errors.Is(err, apierrors.NotFound) {
		g.log.Logger().V(1).Info(g.String()+": the lease of a replica that has ended stays", "lease", name, "reason", err.Error())
	}
}

// newBackoff returns the waits after failures to read the leases.
func (g *Group) newBackoff() *retry.Backoff {
	return retry.New(retry.Policy{Base: g.config.RetryPeriod / 4, Max: 2 * g.config.RetryPeriod})
}

// change is a change of the owned ranges, which say reports when no lock is held.
type change struct {
	ctx  context.Context
	info ChangedInfo
}

// noteChange records a change of the owned ranges, if they differ from before. lost is why all of them were lost at
// once, or nil. The caller holds mu.
func (g *Group) noteChange(ctx context.Context, before meta.Ranges, lost error) {
	now := g.replica.owns
	if now == before {
		return
	}
	g.since = time.Now()
	if lost != nil {
		g.lost, g.lostErr = g.since, lost
	}
	close(g.begun)
	g.begun = make(chan struct{})
	g.changes = append(g.changes, change{ctx, ChangedInfo{
		Group:  meta.Key{Namespace: g.config.Namespace, Name: g.config.Name},
		Gained: now.Minus(before), Lost: before.Minus(now), Ranges: now, Err: lost,
	}})
}

// say logs the recorded changes and calls the hooks with them, in order. The caller holds no lock.
func (g *Group) say() {
	g.saying.Lock() // keeps the order
	defer g.saying.Unlock()
	for {
		g.mu.Lock()
		if len(g.changes) == 0 {
			g.mu.Unlock()
			return
		}
		c := g.changes[0]
		g.changes = g.changes[1:]
		g.mu.Unlock()
		details := []any{"identity", g.config.Identity, "ranges", c.info.Ranges.Len()}
		if c.info.Gained.Len() > 0 {
			details = append(details, "gained", c.info.Gained.Len())
		}
		if c.info.Lost.Len() > 0 {
			details = append(details, "lost", c.info.Lost.Len())
		}
		if c.info.Err != nil {
			details = append(details, "cause", c.info.Err.Error())
		}
		g.log.Logger().Info(g.String()+": the ranges of this replica have changed", details...)
		carried, _ := hooks.In[Hooks](c.ctx)
		if f := g.config.Hooks.and(carried).Changed; f != nil {
			f(context.WithoutCancel(c.ctx), c.info)
		}
	}
}
