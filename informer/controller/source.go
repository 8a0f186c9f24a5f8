// Where keys come from.

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Source names keys that need work. This package has [Watch], [Map] and [Owned] for the objects of a cache, and [Every]
// and [Chan]; anything else that satisfies the interface will do.
type Source[K comparable] interface {
	// Run calls add for every key that needs work until ctx ends, and calls synced once it has named all that needed work
	// when it started: no reconcile runs before. A source without such a beginning calls synced at once.
	//
	// It returns nil when ctx ends. If it returns nil before, it has nothing more to say and counts as synced. If it
	// returns an error before, the controller ends with that error. When it has returned, nothing of it runs, and it does
	// not call add or synced again. Both may be called from any goroutine and do not block.
	//
	// A source that has a method String is called by that name in errors and in the status.
	Run(ctx context.Context, add func(K), synced func()) error
}

func nameOf[K comparable](s Source[K]) string {
	if named, ok := s.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", s)
}

// Every names keys when it starts, and again each time that period has passed, so that they are reconciled even if nothing
// is known to have changed. A period of 0 or less is an error of Run.
func Every[K comparable](period time.Duration, keys ...K) Source[K] {
	return every[K]{period, slices.Clone(keys)}
}

type every[K comparable] struct {
	period time.Duration
	keys   []K
}

func (e every[K]) String() string { return fmt.Sprintf("Every(%v)", e.period) }

func (e every[K]) Run(ctx context.Context, add func(K), synced func()) error {
	if e.period <= 0 {
		return fmt.Errorf("the period must be above 0, got %v", e.period)
	}
	ticker := time.NewTicker(e.period)
	defer ticker.Stop()
	for {
		for _, k := range e.keys {
			add(k)
		}
		synced()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Chan names the keys that it receives, until keys is closed. It has nothing to name at the start. Keys that are sent
// while no controller runs wait for one, as channels do.
func Chan[K comparable](keys <-chan K) Source[K] { return channel[K](keys) }

type channel[K comparable] <-chan K

func (channel[K]) String() string { return "Chan" }

func (c channel[K]) Run(ctx context.Context, add func(K), synced func()) error {
	synced()
	for {
		select {
		case k, open := <-c:
			if !open {
				return nil
			}
			add(k)
		case <-ctx.Done():
			return nil
		}
	}
}

// describe names a source of this package after what it is made of.
func describe(constructor string, of ...any) string {
	parts := make([]string, len(of))
	for i, o := range of {
		parts[i] = fmt.Sprint(o)
	}
	return constructor + "(" + strings.Join(parts, ", ") + ")"
}
