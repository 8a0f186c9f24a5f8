// Fights, as users see them.

package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fights"
	"github.com/bowline-go/bowline/internal/follow"
	"github.com/bowline-go/bowline/internal/report"
)

// FightError says that a controller and another writer undo each other's writes: the reconciles of a key repeatedly
// write the same to an object, because another writer changes those fields each time. The package documentation says
// when a fight is noticed, and what happens then. Options.OnError receives it once, when it is noticed.
type FightError struct {
	// Controller is the name of the controller.
	Controller string
	// Key is the key of the reconciles; its type is the controller's type of keys.
	Key any
	// Resource, Kind and Object say which object they write.
	Resource meta.GVR
	Kind     string
	Object   meta.Key
	// UID is the uid of the object.
	UID string
	// Fields say which fields both writers write, as the last undone write shows them: one text for each pair of
	// writers, such as: "labeller" and "teams" both write .metadata.labels.team. The names are the field managers
	// (client.WriteOptions.FieldManager), and the fields are written as the server writes them in conflicts.
	Fields []string
	// Count is how many undone writes were seen. Since and Last are when the first and the last of them were repeated.
	Count       int
	Since, Last time.Time
	// Delay is how long the key waits after each such write.
	Delay time.Duration
	// Over says that no write has been undone for ten minutes, or that the object is gone.
	Over bool
}

// Error says which writers fight over which fields, in one line. Its form may change.
func (e *FightError) Error() string {
	kind := e.Kind
	if kind == "" || kind == "PartialObjectMetadata" { // the handle has requested metadata only
		kind = e.Resource.Resource
	}
	s := fmt.Sprintf("controller %q: fight over %s (%s): %s, %d times in %v",
		e.Controller, e.Object, kind, strings.Join(e.Fields, "; "), e.Count, e.Last.Sub(e.Since).Round(time.Millisecond))
	if e.Over {
		return s + "; it is over"
	}
	return fmt.Sprintf("%s; %q is reconciled at most every %v from now on", s, fmt.Sprint(e.Key), e.Delay)
}

// fighting is the key of the topic of fights.
const fighting = "fight"

// slowGate puts a key aside while a fight slows it down.
type slowGate[K comparable] struct{ *fightGate[K] }

func (g slowGate[K]) enter(ctx context.Context, v *visit[K]) (context.Context, func(), bool) {
	over := g.watcher.Over()
	for _, f := range over {
		g.tell(ctx, f)
	}
	if len(over) > 0 && g.c.options.OnError == nil {
		if on, _ := g.watcher.On(); on == 0 {
			g.c.log.Works(fighting)
		}
	}
	d := g.watcher.Delay(v.key)
	if d > 0 {
		v.epoch.queue.Hold(v.key, d)
	}
	return ctx, nil, d <= 0
}

// fightGate looks for fights in the writes of reconciles.
type fightGate[K comparable] struct {
	c       *Controller[K]
	watcher *fights.Watcher
}

func newFightGate[K comparable](c *Controller[K]) *fightGate[K] {
	return &fightGate[K]{c, fights.New()}
}

func (g *fightGate[K]) enter(ctx context.Context, v *visit[K]) (context.Context, func(), bool) {
	g.watcher.Look(ctx, v.key, &v.writes)
	return ctx, func() { g.settle(ctx, v) }, true
}

func (g *fightGate[K]) listen(v *visit[K]) func(follow.Write) {
	return func(w follow.Write) { g.watcher.Wrote(v.key, &v.writes, w) }
}

// settle examines the writes of a reconcile that has ended, and reports the fights that are noticed now.
func (g *fightGate[K]) settle(ctx context.Context, v *visit[K]) {
	c := g.c
	for _, f := range g.watcher.Settle(&v.writes) {
		c.mu.Lock()
		c.status.FightsNoticed++
		c.mu.Unlock()
		err := g.tell(ctx, f)
		if c.options.OnError != nil {
			c.options.OnError(err)
			continue
		}
		topic := report.Topic{
			Key:   fighting,
			Fails: c.String() + ": fights with another writer over the same fields",
			Works: c.String() + ": fights have ended",
		}
		c.log.Failed(topic, err, []string{fmt.Sprint(f.Key), f.Object.String()}, "controller", c.name, "key", f.Key)
	}
}

// tell calls Hooks.Fight.
func (g *fightGate[K]) tell(ctx context.Context, f fights.Fight) *FightError {
	told := g.public(f)
	if g.c.hooks.Fight != nil {
		g.c.hooks.Fight(ctx, told)
	}
	return told
}

// on returns the number of current fights, and the first of them.
func (g *fightGate[K]) on() (n int, first []*FightError) {
	n, some := g.watcher.On()
	for _, f := range some {
		first = append(first, g.public(f))
	}
	return n, first
}

// public returns a fight as users see it.
func (g *fightGate[K]) public(f fights.Fight) *FightError {
	return &FightError{
		Controller: g.c.name, Key: f.Key, Resource: f.Resource, Kind: f.Kind, Object: f.Object, UID: f.UID, Fields: fights.Texts(f.Fields),
		Count: f.Count, Since: f.Since, Last: f.Last, Delay: f.Delay, Over: f.Over,
	}
}
