// Fights, as users see them.

package controller

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/workqueue"
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
func (f FieldWriter) String() string { return f.text([]string{f.Path}) }

// text says who does what to fields that have the same writers.
func (f FieldWriter) text(paths []string) string {
	const most = 3
	rest := ""
	if len(paths) > most {
		rest = fmt.Sprintf(" and %d more", len(paths)-most)
		paths = paths[:most]
	}
	fields := strings.Join(paths, ", ") + rest
	ours, other := strconv.Quote(f.Ours), "another writer"
	if f.Ours == "" {
		ours = "the controller"
	}
	switch {
	case f.Other != "" && f.Other == f.Ours:
		other = "another writer of that name"
	case f.Other != "":
		other = strconv.Quote(f.Other)
	}
	switch {
	case f.OursRemoves:
		return fmt.Sprintf("%s sets %s and %s removes it", other, fields, ours)
	case f.OtherRemoves:
		return fmt.Sprintf("%s sets %s and %s removes it", ours, fields, other)
	}
	if f.Other != "" && f.Other < f.Ours {
		return fmt.Sprintf("%s and %s both write %s", other, ours, fields)
	}
	return fmt.Sprintf("%s and %s both write %s", ours, other, fields)
}

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
		parts = append(parts, one.text(paths))
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

// slowed reports whether key is not to be reconciled yet, because of a fight; then it has been put aside.
func (c *Controller[K]) slowed(ctx context.Context, queue *workqueue.Queue[K], key K) bool {
	overs := c.contests.overs()
	for _, f := range overs {
		if c.hooks.Fight != nil {
			c.hooks.Fight(ctx, f)
		}
	}
	if len(overs) > 0 && c.options.OnError == nil {
		if on, _ := c.contests.on(); on == 0 {
			c.log.Works(fighting)
		}
	}
	d := c.contests.delay(key)
	if d <= 0 {
		return false
	}
	queue.Hold(key, d)
	return true
}

// watch examines the writes of a reconcile that has ended, and reports the fights that are noticed now.
func (c *Controller[K]) watch(ctx context.Context, s *scope[K]) {
	for _, f := range c.contests.settle(&s.round) {
		c.mu.Lock()
		c.status.Fights.Noticed++
		c.mu.Unlock()
		if c.hooks.Fight != nil {
			c.hooks.Fight(ctx, f)
		}
		if c.options.OnError != nil {
			c.options.OnError(&FightError{Fight: f})
			continue
		}
		topic := report.Topic{
			Key:   fighting,
			Fails: c.String() + ": a fight",
			Works: c.String() + ": no more fights",
		}
		c.log.Failed(topic, &FightError{Fight: f}, []string{fmt.Sprint(f.Key), f.Object.String()}, "controller", c.name, "key", f.Key)
	}
}
