package informer_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// The oracle for informers of ranges: the histories of oracle_test.go, with other followers and many more changes of what they
// follow. Its flags apply:
//
//	go test ./informer -run RangesOracle -first 17 -seeds 1 -v
func TestRangesOracle(t *testing.T) {
	failed := 0
	for seed := range histories.Seeds(60) {
		ok := t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			h := newRangesHistory(seed)
			if testing.Verbose() && histories.One() {
				t.Log(h)
			}
			faults := h.play(t)
			if len(faults) == 0 {
				return
			}
			small, why := h, faults
			small.steps, why = histories.Shorten(h.steps, faults, mostTries, func(steps []step) []string {
				return history{config: h.config, steps: steps}.play(t)
			})
			t.Errorf("%s\n\nThe shortest history that was found to fail:\n%v\nIt fails with:\n%s\n\nAgain with: go test ./informer -run RangesOracle -first %d -seeds 1",
				strings.Join(faults, "\n"), small, strings.Join(why, "\n"), seed)
		})
		if !ok {
			if failed++; failed == enoughFailures {
				return
			}
		}
	}
}

// newRangesHistory is newHistory for followers of ranges. After some steps, what they follow changes, sometimes twice at once.
func newRangesHistory(seed uint64) history {
	h := newHistory(seed)
	h.sharded = clienttest.ShardedLists(seed % 3)
	r := rand.New(rand.NewPCG(seed, 2))
	for i := range h.kinds {
		h.kinds[i] = len(catalogue) + r.IntN(len(rangeCatalogue))
	}
	steps := h.steps
	h.steps = nil
	for i, s := range steps {
		h.steps = append(h.steps, s)
		for i > h.atFirst && r.IntN(5) == 0 {
			h.add(r, spaces, false)
		}
	}
	return h
}

// kindOf returns the kind of a number in a history.
func kindOf(k int) kind {
	if k < len(catalogue) {
		return catalogue[k]
	}
	return rangeCatalogue[k-len(catalogue)]
}

// someRanges returns a set of ranges: a run of them, two runs, any of them, all, or none.
func someRanges(a, b int) meta.Ranges {
	from, to := b%256, b/256%257
	switch a % 8 {
	case 0:
		return meta.Ranges{}
	case 1:
		return meta.AllRanges()
	case 2, 3:
		r := rand.New(rand.NewPCG(uint64(a), uint64(b)))
		some := meta.Ranges{}
		for n := range meta.RangeCount {
			if r.IntN(2) == 0 {
				some = some.With(n)
			}
		}
		return some
	case 4:
		return meta.AllRanges().Minus(rangesOf(min(from, to), max(from, to)))
	}
	return rangesOf(min(from, to), max(from, to))
}

// rangeCatalogue is what histories of ranges choose their followers from.
var rangeCatalogue = []kind{
	{
		name: "ranges of things, paged", covers: everything,
		make: func(k kind, w *world) follower {
			o := informer.Options{Shards: newSpread(meta.ShardByUID, rangesOf(0, 128)), Mode: informer.Paged, PageSize: 2}
			f := newFollowing(k, w, client.For(w.client, thingType(k.resource)), o, printThing, wholeOf)
			f.strict = true
			return f
		},
	},
	{
		name: "ranges of things with a label, auto", covers: func(u *meta.Unstructured) bool { return labelOf(u) == "web" },
		make: func(k kind, w *world) follower {
			o := informer.Options{Shards: newSpread(meta.ShardByUID, meta.Ranges{}), LabelSelector: "app=web"}
			f := newFollowing(k, w, client.For(w.client, thingType(k.resource)), o, printThing, wholeOf)
			f.strict = true
			return f
		},
	},
	{
		name: "ranges of slim things of a namespace, streaming", covers: func(u *meta.Unstructured) bool { return u.GetNamespace() == "default" },
		make: func(k kind, w *world) follower {
			o := informer.Options{Shards: newSpread(meta.ShardByUID, rangesOf(100, 256)), Mode: informer.Streaming, Namespace: "default"}
			return newFollowing(k, w, client.For(w.client, typeAs[*Slim](k.resource)), o, func(s *Slim) string { return s.Data.V }, valueOf)
		},
	},
	{
		name: "ranges of metadata by namespace, auto", covers: everything,
		make: func(k kind, w *world) follower {
			o := informer.Options{Shards: newSpread(meta.ShardByNamespace, rangesOf(0, 200))}
			return newFollowing(k, w, client.Metadata(client.For(w.client, resources[k.resource])), o,
				func(p *meta.Partial) string { return p.Labels["app"] }, labelOf)
		},
	},
	{
		name: "ranges of unstructured widgets, streaming", covers: everything, resource: 1,
		make: func(k kind, w *world) follower {
			o := informer.Options{Shards: newSpread(meta.ShardByUID, rangesOf(0, 50)), Mode: informer.Streaming}
			return newFollowing(k, w, client.For(w.client, resources[k.resource]), o, wholeOf, wholeOf)
		},
	},
	{
		name: "ranges of filtered things, paged", covers: everything, lets: func(u *meta.Unstructured) bool { return valueOf(u) != "3" },
		make: func(k kind, w *world) follower {
			src := informer.Filter(client.For(w.client, thingType(k.resource)), func(t *Thing) bool { return t.Data["v"] != "3" })
			f := newFollowing(k, w, src, informer.Options{Shards: newSpread(meta.ShardByUID, meta.AllRanges()), Mode: informer.Paged}, printThing, wholeOf)
			f.strict = true
			return f
		},
	},
}
