// A source that names each object periodically.

package controller

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
)

// everySlots is the maximum number of parts of the period of EveryObject. A part takes at least everySlot.
const (
	everySlots = 100
	everySlot  = time.Second
)

// EveryObject names the key of each object in r once in each period, for work that no change of the objects triggers,
// such as a comparison with something outside of the cluster. Other libraries call that a resync:
//
//	controller.EveryObject(sites.Reader(), 10*time.Hour)
//
// The keys have workqueue.LowPriority, so changes are served first.
//
// Each object has its own time within the period, which stays the same while the source runs, so the work is spread
// over the period. A new object is named for the first time within one period; [Watch] names it at once. The source
// waits until r holds a complete list. Run returns an error if the period is 0 or less, or if an object has no name.
//
// A period of 100 s or more is divided into 100 parts, and a shorter one into parts of a second; in each part the
// source iterates once over all objects.
func EveryObject[T meta.Object](r cache.Reader[T], period time.Duration) Source[meta.Key] {
	return everyObject[T]{r, period}
}

type everyObject[T meta.Object] struct {
	r      cache.Reader[T]
	period time.Duration
}

func (e everyObject[T]) String() string {
	if e.r.Behind() == nil {
		return "EveryObject(the zero Reader)"
	}
	return fmt.Sprintf("EveryObject(%s, %v)", subject[T](e.r), e.period)
}

func (e everyObject[T]) Runners() []runner {
	if r := fillerOf(e.r); r != nil {
		return []runner{r}
	}
	return nil
}

func (e everyObject[T]) isPartial() bool { return asByNamespace(fillerOf(e.r)) != nil }

func (e everyObject[T]) waitsIn(namespace string, all bool) bool {
	return lacks(fillerOf(e.r), namespace, true, all)
}

func (e everyObject[T]) Unsynced() error { return whyUnsynced(fillerOf(e.r)) }

func (e everyObject[T]) Run(ctx context.Context, add func(meta.Key), synced func()) error {
	return e.run(ctx, plain(add, synced))
}

func (e everyObject[T]) run(ctx context.Context, to sink[meta.Key]) error {
	if e.period <= 0 {
		return fmt.Errorf("the period must be above 0, got %v", e.period)
	}
	if e.r.Behind() == nil {
		return errors.New("r must not be the zero Reader")
	}
	sub := e.r.Subscribe(nil)
	defer sub.Close()
	failed, stop, err := await(ctx, to, func() {}, supply{cache: fillerOf(e.r), whole: func(ctx context.Context) error {
		err := sub.WaitSynced(ctx)
		if err == nil {
			sub.Close() // it is no longer needed
		}
		return err
	}})
	defer stop()
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	slots := min(max(uint64(e.period/everySlot), 1), everySlots)
	seed := maphash.MakeSeed()
	ticker := time.NewTicker(e.period / time.Duration(slots))
	defer ticker.Stop()
	for slot := uint64(0); ; slot = (slot + 1) % slots {
		select {
		case <-ticker.C:
		case err := <-failed:
			if ctx.Err() != nil {
				return nil
			}
			return err
		case <-ctx.Done():
			return nil
		}
		for obj := range allOf(e.r) {
			k := meta.KeyOf(obj)
			if k.Name == "" {
				return noName(obj)
			}
			if slots == 1 || maphash.Comparable(seed, k)%slots == slot {
				to.low(k)
			}
		}
	}
}

// noName returns the error for an object that has no name, so it has no key.
func noName[T meta.Object](obj T) error {
	return fmt.Errorf("object of type %T has no name: "+
		"embed meta.ObjectMeta or meta.Identity as its metadata, with the tag `json:\"metadata\"`", obj)
}
