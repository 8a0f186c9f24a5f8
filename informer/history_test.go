package informer_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

// history is what an oracle's seed stands for: data, so that it can be printed, and played again with steps left out. Each
// step means something whatever has happened before, or nothing.
type history struct {
	config
	steps []step
}

// config is what does not change during a history.
type config struct {
	seed    uint64
	http2   bool
	silent  bool  // connections may go silent, which takes long to notice
	kinds   []int // of followers, as they stand in followers
	atFirst int   // steps that happen before anybody follows
	sharded clienttest.ShardedLists
}

// binary reports whether the followers ask for protobuf. Those of widgets get JSON all the same, because the kind is custom.
func (c config) binary() bool { return c.seed%2 == 1 }

// compact reports whether the followers keep their objects compressed.
func (c config) compact() bool { return c.seed/2%2 == 1 }

// op is what happens in a step.
type op int

const (
	put op = iota
	remove
	recreate
	pass
	drop     // every watch is cut in the middle of a frame
	compact  // the history is forgotten
	storm    // some of the lists and watches meet a fault
	calm     // none do any more
	restart  // a follower's informer ends and runs again
	join     // a handler subscribes
	leave    // a handler's subscription is closed
	bookmark // every watch that wants them gets one now
	spaces   // the set of namespaces of those who follow several changes
	freeze   // connections go silent
	goAway   // HTTP/2 connections are told to end
	lag      // replicas fall behind, or catch up
	rollback // the server loses what happened last
	vanish   // a resource is not served any more, and its objects are gone
	appear   // it is served again
	swap     // the server has another certificate
	quiet    // no more bookmarks, or again
)

var opNames = [...]string{
	"put", "remove", "recreate", "pass", "drop", "compact", "storm", "calm", "restart", "join", "leave", "bookmark", "spaces", "freeze",
	"goAway", "lag", "rollback", "vanish", "appear", "swap", "quiet",
}

// step is one thing that happens. Each op has its own meaning for a, b, c and d.
type step struct {
	op      op
	a, b, c int
	d       time.Duration
}

func (s step) String() string {
	switch s.op {
	case put, recreate:
		return fmt.Sprintf("%s %s %s, labels %d, value %d%s", opNames[s.op], resourceOf(s), keyOf(s), s.c%2, s.c/2%5, bad(s))
	case remove:
		return fmt.Sprintf("%s %s %s", opNames[s.op], resourceOf(s), keyOf(s))
	case pass:
		return fmt.Sprint("pass ", s.d)
	}
	return fmt.Sprintf("%s %d %d %d %v", opNames[s.op], s.a, s.b, s.c, s.d)
}

func bad(s step) string {
	if isBad(s) {
		return ", which some cannot decode"
	}
	return ""
}

func isBad(s step) bool { return s.c/10%12 == 0 }

func (h history) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, HTTP/2: %v, protobuf: %v, compact: %v, silence: %v, followers:", h.seed, h.http2, h.binary(), h.compact(), h.silent)
	for _, k := range h.kinds {
		fmt.Fprintf(&b, " %s;", kindOf(k).name)
	}
	b.WriteByte('\n')
	for i, s := range h.steps {
		if i == h.atFirst {
			b.WriteString("  -- everybody follows from here\n")
		}
		fmt.Fprintf(&b, "  %v\n", s)
	}
	return b.String()
}

// followersEach is how many informers a history has.
const followersEach = 3

func newHistory(seed uint64) history {
	r := rand.New(rand.NewPCG(seed, 0))
	h := history{config: config{seed: seed, http2: r.IntN(4) == 0, silent: r.IntN(4) == 0}}
	for range followersEach {
		h.kinds = append(h.kinds, r.IntN(len(catalogue)))
	}
	// Only some histories have rare events. The others converge fast and show other things.
	rare := func(one int) bool { return r.IntN(one) == 0 }
	rollbacks := rare(8)
	deck := []struct {
		weight int
		op     op
		in     bool
	}{
		{30, put, true},
		{10, remove, true},
		{8, recreate, true},
		{22, pass, true},
		{5, drop, true},
		{3, compact, true},
		{7, storm, true},
		{4, calm, true},
		{3, restart, true},
		{4, join, true},
		{2, leave, true},
		{3, bookmark, true},
		{6, spaces, true},
		{3, freeze, h.silent},
		{4, goAway, true},
		{3, lag, rare(4)},
		{2, rollback, rollbacks},
		{3, vanish, rare(5)},
		{2, swap, rare(4)},
		// A rollback that no list has met shows when bookmarks stay away, and so only to those who have seen some.
		{1, quiet, !rollbacks},
	}
	total := 0
	for _, c := range deck {
		if c.in {
			total += c.weight
		}
	}
	h.atFirst = r.IntN(8)
	n := h.atFirst + 25 + r.IntN(60)
	for len(h.steps) < n {
		at := r.IntN(total)
		for _, c := range deck {
			if !c.in {
				continue
			}
			if at -= c.weight; at < 0 {
				h.add(r, c.op, len(h.steps) < h.atFirst)
				break
			}
		}
	}
	return h
}

func (h *history) add(r *rand.Rand, o op, first bool) {
	if first {
		o = put
	}
	s := step{op: o, a: r.IntN(1 << 20), b: r.IntN(1 << 20), c: r.IntN(1 << 20)}
	if o == pass {
		// Mostly moments, sometimes minutes, so that bookmarks, timeouts and backoff come in.
		s.d = time.Duration(1+r.IntN(3000)) * time.Millisecond
		if r.IntN(8) == 0 {
			s.d = time.Duration(1+r.IntN(400)) * time.Second
		}
	}
	h.steps = append(h.steps, s)
	if o == vanish {
		h.steps = append(h.steps,
			step{op: pass, d: time.Duration(1+r.IntN(20_000)) * time.Millisecond},
			step{op: appear, a: s.a})
	}
}
