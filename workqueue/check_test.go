package workqueue

import (
	"fmt"
	"iter"
)

// check returns an error if the invariants that Queue.mu protects do not hold. It is for the tests that go through many
// states.
func (q *Queue[K]) check() (err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	wrong := func(format string, about ...any) {
		if err == nil {
			err = fmt.Errorf(format, about...)
		}
	}
	n, running, ready, throttled, delayed, held := 0, 0, 0, 0, 0, 0
	for e := range q.store.all() {
		n++
		if q.store.find(e.hash, e.key) != e || q.store.at(e.ref) != e || q.hash(e.key) != e.hash {
			wrong("key %v is not found where it is", e.key)
		}
		if e.running() {
			running++
			if q.running[e.seat].entry != e {
				wrong("key %v does not know its seat", e.key)
			}
		}
		switch {
		case !e.running() && !e.pending():
			wrong("key %v is there for nothing", e.key)
		case e.held && !e.ready || e.aside && !e.running():
			wrong("key %v is held and not ready, or put aside by no run", e.key)
		case e.ready && (e.throttled || e.retry() != never || e.due == never):
			wrong("key %v is ready and waits", e.key)
		case e.throttled && (e.streak == nil || e.streak.retry != never):
			wrong("key %v is throttled and has no failure, or another retry", e.key)
		case e.ready && !e.held && e.running() && e.index >= 0:
			wrong("key %v is in progress, and could be taken", e.key)
		case e.streak != nil && e.streak.failures == 0 && !e.retrying():
			wrong("key %v has no failures, and keeps an account of them", e.key)
		}
		if e.listed() {
			ready++
		}
		if e.held {
			held++
		}
		if e.throttled {
			throttled++
		}
		if (!e.ready || e.held) && min(e.due, e.retry()) != never {
			delayed++
			if e.index < 0 || q.delays[e.index] != e || e.order != min(e.due, e.retry()) {
				wrong("key %v is delayed, and is not in the heap at its time", e.key)
			}
		}
	}
	if n != q.store.table.n || n*4 > len(q.store.table.slots)*3 {
		wrong("%d keys are counted as %d, in a table of %d", n, q.store.table.n, len(q.store.table.slots))
	}
	if running != len(q.running) || ready != q.readyLen() || throttled != q.throttled.len ||
		delayed != len(q.delays) || held != q.held {
		wrong("%d running, %d ready, %d throttled, %d delayed and %d held keys are counted as %d, %d, %d, %d and %d",
			running, ready, throttled, delayed, held, len(q.running), q.readyLen(), q.throttled.len, len(q.delays), q.held)
	}
	wrong2 := func(what string, e error) {
		if e != nil {
			wrong("%s: %w", what, e)
		}
	}
	wrong2("delays", q.delays.check())
	wrong2("throttled", q.throttled.check(&q.store))
	inLists := 0
	for r := range q.allReady() {
		inLists += r.len
		wrong2("ready", r.check())
	}
	if inLists != q.readyLen() {
		wrong("%d keys are ready, %d of them in lists", q.readyLen(), inLists)
	}
	if q.fair != nil {
		wrong2("groups", q.checkGroups())
	}
	parked := 0
	for w := q.parked.first; w != nil; w = w.next {
		parked++
		if !w.parked || w.waking || w.next != nil && w.next.prev != w {
			wrong("a worker is parked and is not")
		}
	}
	switch p := &q.parked; {
	case parked != p.waiting+p.draining:
		wrong("%d parked workers are counted as %d and %d", parked, p.waiting, p.draining)
	case parked > 0 && q.readyLen() > 0 && !p.waking:
		wrong("a worker sleeps, and there is a key for it")
	case p.draining > 0 && q.readyLen() == 0 && len(q.running) == 0:
		wrong("a worker sleeps, and nothing is left for it")
	case p.waiting == 0 && q.armed != never:
		wrong("the timer runs though nobody waits")
	case p.waiting > 0 && len(q.delays) > 0 && q.armed > q.delays[0].order:
		wrong("the timer is too late")
	case q.notes != nil:
		wrong("hooks have not been told")
	}
	return err
}

func (h heap[K]) check() error {
	for i, e := range h {
		if int(e.index) != i {
			return fmt.Errorf("key %v does not know its place", e.key)
		}
		if i > 0 && before(e, h[(i-1)/2]) {
			return fmt.Errorf("key %v is behind a later one", e.key)
		}
	}
	return nil
}

func (l list[K]) check(s *store[K]) error {
	n := 0
	for e := range l.all(s) {
		n++
		if e.next == 0 && l.last != e.ref || e.next != 0 && s.at(e.next).prev != e.ref || e.prev == 0 && l.first != e.ref {
			return fmt.Errorf("key %v is not linked well", e.key)
		}
	}
	if n != l.len || n == 0 && l.last != 0 {
		return fmt.Errorf("%d keys are counted as %d", n, l.len)
	}
	return nil
}

// all returns the entries of l.
func (l list[K]) all(s *store[K]) iter.Seq[*entry[K]] {
	return func(yield func(*entry[K]) bool) {
		for r := l.first; r != 0; r = s.at(r).next {
			if !yield(s.at(r)) {
				return
			}
		}
	}
}

func (r *ready[K]) check() (err error) {
	wrong := func(format string, about ...any) {
		if err == nil {
			err = fmt.Errorf(format, about...)
		}
	}
	if e := r.front.check(); e != nil {
		wrong("front: %w", e)
	}
	inLists, firsts, byPriority := 0, 0, map[int]int{}
	for l, priority := range r.levels() {
		if e := l.list.check(r.store); e != nil {
			wrong("a level: %w", e)
		}
		inLists += l.list.len
		var prev *entry[K]
		for e := range l.list.all(r.store) {
			byPriority[int(e.priority)]++
			switch {
			case prev == nil:
				firsts++
				if e.index < 0 {
					wrong("key %v is the first of priority %d, and is not compared with others", e.key, priority)
				}
			case prev.due > e.due || prev.sequence >= e.sequence:
				wrong("keys %v and %v of a level have not become ready in order", prev.key, e.key)
			}
			if int(e.level) != priority || e.priority < e.level || !e.ready || e.running() {
				wrong("key %v is in the level of priority %d", e.key, priority)
			}
			if e.priority > e.level {
				if e.index < 0 {
					wrong("key %v was raised, and is not compared with others", e.key)
				}
				if prev != nil {
					firsts++
				}
			}
			if e.index >= 0 && e.order != r.rank(e) {
				wrong("key %v has a wrong place", e.key)
			}
			prev = e
		}
	}
	for l, priority := range r.levels() {
		if l.len != byPriority[priority] {
			wrong("%d ready keys of priority %d are counted as %d", byPriority[priority], priority, l.len)
		}
	}
	if inLists != r.len || firsts != len(r.front) {
		wrong("%d keys are ready, %d of them in lists; %d are compared, want %d", r.len, inLists, len(r.front), firsts)
	}
	return err
}

// checkGroups returns an error if the groups are not those of the keys, or if one is not where it belongs.
func (q *Queue[K]) checkGroups() (err error) {
	wrong := func(format string, about ...any) {
		if err == nil {
			err = fmt.Errorf(format, about...)
		}
	}
	f := q.fair
	keys, running := map[*group[K]]int{}, map[*group[K]]int64{}
	for e := range q.store.all() {
		g := q.group(e)
		if f.groups[g.name] != g {
			wrong("key %v is in group %q, which is not known", e.key, g.name)
		}
		keys[g]++
		if e.running() {
			running[g]++
		}
	}
	waiting, weight := 0, int64(0)
	for _, g := range f.groups {
		if keys[g] == 0 || keys[g] != g.keys || running[g] != g.running {
			wrong("group %q has %d keys and %d in progress, counted as %d and %d", g.name, keys[g], running[g], g.keys, g.running)
		}
		if g.active() {
			weight += g.weight
		}
		if g.ready.len == 0 {
			continue
		}
		waiting++
		if h := f.heap(g).all; g.index >= len(h) || h[g.index] != g {
			wrong("group %q waits, and is not where it is looked for", g.name)
		}
		if g.tag > f.now+turn {
			wrong("group %q is more than a turn ahead", g.name)
		}
	}
	if weight != f.weight || waiting != len(f.below.all)+len(f.above.all) {
		wrong("the weight is %d, counted as %d; %d groups wait, %d and %d in heaps", weight, f.weight, waiting, len(f.below.all), len(f.above.all))
	}
	for _, h := range []*groupHeap[K]{&f.below, &f.above} {
		for i := range h.all {
			if i > 0 && h.Less(i, (i-1)/2) {
				wrong("group %q is behind a later one", h.all[i].name)
			}
		}
	}
	return err
}
