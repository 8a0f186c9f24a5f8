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

// Fight says that a controller and another writer undo each other's writes: the reconciles of a key write the same to an object
// again and again, because each time somebody has changed those fields since. The package documentation says when a fight is
// noticed, and what happens then.
type Fight struct {
	// Controller is the name of the controller.
	Controller string
	// Key is the key of the reconciles; its type is the controller's type of keys.
	Key any
	// Resource, Kind and Object are where they write.
	Resource meta.GVR
	Kind     string
	Object   meta.Key
	// UID is the object's.
	UID string
	// Fields are the fields that both write, at most 16, in the last of the writes that were undone.
	Fields []FieldWriter
	// Count is how many writes were seen to be undone, and Since and Last are when the first and the last of them were repeated.
	Count       int
	Since, Last time.Time
	// Delay is how long the key waits after each such write.
	Delay time.Duration
	// Over says that no write has been undone for ten minutes, or that the object is gone.
	Over bool
}

// FieldWriter is a field that a controller and another writer write.
type FieldWriter struct {
	// Path is the field as the server spells it in conflicts, such as .spec.replicas or .metadata.finalizers[="example.com/a"].
	Path string
	// Ours is the field manager of the reconciles (client.WriteOptions.FieldManager), and Other is that of the other writer. If
	// both are the same, two writers use one name. Other is empty if the server has noted none, as for a field that was removed.
	Ours, Other string
	// OursRemoves says that the reconciles remove what the other writer sets; OtherRemoves, that the other one removes what they
	// set. Otherwise both set it.
	OursRemoves, OtherRemoves bool
}

// String says who does what to the field.
func (f FieldWriter) String() string { return fights.Field(f).String() }

// kind returns the kind, or the resource if the handle has asked for metadata alone.
func (f Fight) kind() string {
	if f.Kind == "" || f.Kind == "PartialObjectMetadata" {
		return f.Resource.Resource
	}
	return f.Kind
}

// String says who fights over which fields, in one line. Its form may change.
func (f Fight) String() string {
	var parts []string
	done := make([]bool, len(f.Fields))
	for i, one := range f.Fields {
		if done[i] {
			continue
		}
		var paths []string
		for j := i; j < len(f.Fields); j++ {
			same := f.Fields[j]
			if same.Path = one.Path; same == one {
				done[j] = true
				paths = append(paths, f.Fields[j].Path)
			}
		}
		parts = append(parts, fights.Field(one).Text(paths))
	}
	s := fmt.Sprintf("fight over %s (%s): %s, %d times in %v",
		f.Object, f.kind(), strings.Join(parts, "; "), f.Count, f.Last.Sub(f.Since).Round(time.Millisecond))
	if f.Over {
		return s + "; it is over"
	}
	return fmt.Sprintf("%s; %q is reconciled at most every %v from now on", s, fmt.Sprint(f.Key), f.Delay)
}

// FightError reports a [Fight] to Options.OnError, once when it is noticed.
type FightError struct {
	// Fight is what has been noticed.
	Fight Fight
}

// Error names the controller, the object, the writers and the fields.
func (e *FightError) Error() string {
	return fmt.Sprintf("controller %q: %v", e.Fight.Controller, e.Fight)
}

// FightStats says which fights are on.
type FightStats struct {
	// On is how many are on, and First are those of them that were noticed first, at most 20.
	On    int
	First []Fight
	// Noticed is how many have been noticed since the controller was made.
	Noticed int
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
	watcher *fights.Watcher[K]
}

func newFightGate[K comparable](c *Controller[K]) *fightGate[K] {
	return &fightGate[K]{c, fights.New[K]()}
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
		c.status.Fights.Noticed++
		c.mu.Unlock()
		err := &FightError{Fight: g.tell(ctx, f)}
		if c.options.OnError != nil {
			c.options.OnError(err)
			continue
		}
		topic := report.Topic{
			Key:   fighting,
			Fails: c.String() + ": a fight",
			Works: c.String() + ": no more fights",
		}
		c.log.Failed(topic, err, []string{fmt.Sprint(f.Key), f.Object.String()}, "controller", c.name, "key", f.Key)
	}
}

// tell calls the hook.
func (g *fightGate[K]) tell(ctx context.Context, f fights.Fight) Fight {
	told := g.public(f)
	if g.c.hooks.Fight != nil {
		g.c.hooks.Fight(ctx, told)
	}
	return told
}

// stats returns which fights are on. Noticed is not filled in.
func (g *fightGate[K]) stats() (s FightStats) {
	on, first := g.watcher.On()
	s.On = on
	for _, f := range first {
		s.First = append(s.First, g.public(f))
	}
	return s
}

// public returns a fight as users see it.
func (g *fightGate[K]) public(f fights.Fight) Fight {
	told := Fight{
		Controller: g.c.name, Key: f.Key, Resource: f.Resource, Kind: f.Kind, Object: f.Object, UID: f.UID,
		Count: f.Count, Since: f.Since, Last: f.Last, Delay: f.Delay, Over: f.Over,
	}
	for _, field := range f.Fields {
		told.Fields = append(told.Fields, FieldWriter(field))
	}
	return told
}
