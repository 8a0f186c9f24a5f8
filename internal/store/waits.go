package store

import (
	"container/heap"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
)

// waits are the waiters of a store, by key and by version. So a change finds the waiters that it may answer without
// looking at the others. Most stores have no waiters. Guarded by Store.write.
type waits struct {
	of map[meta.Key][]*waiter
	// all holds the waiters that wait for a version, the oldest version first, and in holds the same by namespace.
	all versions
	in  map[string]*versions
}

func (ws *waits) add(w *waiter) {
	if ws.of == nil {
		ws.of, ws.in = make(map[meta.Key][]*waiter), make(map[string]*versions)
	}
	ws.of[w.key] = append(ws.of[w.key], w)
	w.at = [2]int{-1, -1}
	if w.version == "" {
		return
	}
	in := ws.in[w.key.Namespace]
	if in == nil {
		in = &versions{which: 1}
		ws.in[w.key.Namespace] = in
	}
	heap.Push(&ws.all, w)
	heap.Push(in, w)
}

// remove reports whether w was there.
func (ws *waits) remove(w *waiter) bool {
	all := ws.of[w.key]
	i := slices.Index(all, w)
	if i < 0 {
		return false
	}
	if len(all) == 1 {
		delete(ws.of, w.key)
	} else {
		ws.of[w.key] = slices.Delete(all, i, i+1)
	}
	ws.unheap(w)
	if len(ws.of) == 0 {
		*ws = waits{} // frees the memory of a peak
	}
	return true
}

// unheap takes w out of the heaps.
func (ws *waits) unheap(w *waiter) {
	if w.at[0] < 0 {
		return
	}
	heap.Remove(&ws.all, w.at[0])
	in := ws.in[w.key.Namespace]
	if heap.Remove(in, w.at[1]); len(in.waiters) == 0 {
		delete(ws.in, w.key.Namespace)
	}
}

// versions is a heap of waiters, the oldest version first.
type versions struct {
	which   int // the index in waiter.at
	waiters []*waiter
}

func (v *versions) Len() int { return len(v.waiters) }

func (v *versions) Less(i, j int) bool {
	order, _ := meta.CompareVersions(v.waiters[i].version, v.waiters[j].version) // all have an order
	return order < 0
}

func (v *versions) Swap(i, j int) {
	w := v.waiters
	w[i], w[j] = w[j], w[i]
	w[i].at[v.which], w[j].at[v.which] = i, j
}

func (v *versions) Push(x any) {
	w := x.(*waiter)
	w.at[v.which] = len(v.waiters)
	v.waiters = append(v.waiters, w)
}

func (v *versions) Pop() any {
	last := len(v.waiters) - 1
	w := v.waiters[last]
	v.waiters[last] = nil
	v.waiters = v.waiters[:last]
	w.at[v.which] = -1
	return w
}
