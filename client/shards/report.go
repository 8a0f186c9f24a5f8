package shards

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/hooks"
	"github.com/bowline-go/bowline/internal/inside"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/retry"
	"github.com/go-logr/logr"
)

// Keys of topics.
const (
	aboutLeases = "leases"
	aboutOwn    = "own lease"
	aboutLoss   = "loss"
)

// quiet returns a context without a logger, for the election of our own lease: nobody wants to read that this replica leads.
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
	g.failed(report.Topic{Key: aboutOwn, Fails: g.String() + ": the lease of this replica fails"}, err)
}

// listFailed reports an error of a list or a watch of the leases.
func (g *Group) listFailed(err error) {
	g.mu.Lock()
	g.err = err
	g.mu.Unlock()
	g.failed(report.Topic{Key: aboutLeases, Fails: g.String() + ": the leases of the group cannot be read", Works: g.String() + ": the leases of the group can be read again"}, err)
}

// worksAgain says that what a topic is about works again.
func (g *Group) worksAgain(topic string) {
	g.mu.Lock()
	g.err = nil
	g.mu.Unlock()
	g.log.Works(topic)
}

// newBackoff returns the waits after failures to read the leases.
func (g *Group) newBackoff() *retry.Backoff {
	return retry.New(retry.Policy{Base: g.config.RetryPeriod / 4, Max: 2 * g.config.RetryPeriod})
}

// change is what is said of a change once no lock is held.
type change struct {
	ctx  context.Context
	info ChangedInfo
}

// noteChange notes that the ranges that are worked on may have changed from what they were before; lost is why all of them were lost at
// once, or nil. The caller holds mu.
func (g *Group) noteChange(ctx context.Context, before meta.Ranges, lost error) {
	now := g.table.works
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
		Group: meta.Key{Namespace: g.config.Namespace, Name: g.config.Name}, Identity: g.config.Identity,
		Gained: now.Minus(before), Lost: before.Minus(now), Ranges: now, Err: lost,
	}})
}

// say says what has changed, in order. No lock is held.
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
		details := []any{"identity", c.info.Identity, "ranges", c.info.Ranges.Len()}
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
		inside.SharesChange(c.ctx, inside.ShareChange{Name: g.String(), Gained: c.info.Gained, Lost: c.info.Lost, Ranges: c.info.Ranges, Err: c.info.Err})
	}
}
