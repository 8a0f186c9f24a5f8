package workqueue

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// fairModel is the rule of groups, written down as plainly as possible: no heap, and nothing is kept that can be counted.
type fairModel struct {
	weights [modelGroups]int // what Options.Weight returns
	groups  [modelGroups]modelGroup
	now     int // the virtual time
	places  int // how many places were given
}

type modelGroup struct {
	weight             int
	tag, place, placed int // while it waits; placed is its weight when it got its place
	// passed counts the runs of each group that have started since this one began to wait, had less than its share and started
	// none; heaviest and lightest are the extremes of all weights since.
	passed             [modelGroups]int
	heaviest, lightest [modelGroups]int
}

const modelGroups = 5

func groupOf(b byte) int { return int(b) % modelGroups }

func groupName(b byte) string { return fmt.Sprint("group ", groupOf(b)) }

// weightOf returns the weight that Options.Weight of the test returns.
func (f *fairModel) weightOf(name string) int {
	for g := range f.weights {
		if groupName(byte(g)) == name {
			return f.weights[g]
		}
	}
	panic("there is no group " + name)
}

// join notes the weight of the group of b, which is about to enter the queue.
func (m *model) join(b byte) {
	if k := m.key(b); m.fair != nil && !k.running && k.pending == never {
		m.fair.groups[groupOf(b)].weight = min(max(m.fair.weights[groupOf(b)], minWeight), maxWeight)
	}
}

// count returns how many keys of the group wait for a worker, and how many are in progress.
func (m *model) count(g int) (waiting, running int) {
	for b, k := range m.keys {
		switch {
		case groupOf(b) != g:
		case k.running:
			running++
		case k.listed:
			waiting++
		}
	}
	return waiting, running
}

// lacks reports whether a group has less than its share, if one more worker than those that have a key picks now.
func (m *model) lacks(g int) bool {
	all, workers := 0, 1
	for other := range modelGroups {
		waiting, running := m.count(other)
		workers += running
		if waiting+running > 0 {
			all += m.fair.groups[other].weight
		}
	}
	_, running := m.count(g)
	return running*all < workers*m.fair.groups[g].weight
}

// arrive notes the keys that have become ready since the last operation, in the order of time.
func (m *model) arrive() {
	if m.fair == nil {
		return
	}
	var arrived []byte
	for b, k := range m.keys {
		if !k.running && m.isReady(k) && !k.listed {
			arrived = append(arrived, b)
		}
	}
	slices.SortFunc(arrived, func(a, b byte) int { return int(m.key(a).since() - m.key(b).since()) })
	for _, b := range arrived {
		g := groupOf(b)
		if waiting, _ := m.count(g); waiting == 0 {
			m.place(g)
			m.fair.groups[g].forget()
		}
		m.key(b).listed = true
	}
}

// place gives a group its place.
func (m *model) place(g int) {
	f := m.fair
	f.places++
	of := &f.groups[g]
	of.tag, of.place, of.placed = f.now+(1<<16+of.weight-1)/of.weight, f.places, of.weight
}

func (g *modelGroup) forget() {
	g.passed = [modelGroups]int{}
	g.heaviest, g.lightest = [modelGroups]int{}, [modelGroups]int{}
}

// group returns the group that comes next, -1 if none waits.
func (m *model) group() int {
	best, bestLacks := -1, false
	for g := range modelGroups {
		if waiting, _ := m.count(g); waiting == 0 {
			continue
		}
		lacks := m.lacks(g)
		if best < 0 || lacks && !bestLacks || lacks == bestLacks && m.before(g, best, lacks) {
			best, bestLacks = g, lacks
		}
	}
	return best
}

// before reports whether a comes before b, which both lack or both do not.
func (m *model) before(a, b int, lack bool) bool {
	of, than := m.fair.groups[a], m.fair.groups[b]
	_, runningA := m.count(a)
	_, runningB := m.count(b)
	switch x, y := runningA*than.weight, runningB*of.weight; {
	case !lack && x != y:
		return x < y
	case of.tag != than.tag:
		return of.tag < than.tag
	default:
		return of.place < than.place
	}
}

// at returns the model as it is at a later moment, if nothing happens until then but that delays pass.
func (m *model) at(now time.Duration) *model {
	then := &model{now: now, keys: map[byte]*modelKey{}, fair: new(*m.fair)}
	for b, k := range m.keys {
		then.keys[b] = new(*k)
	}
	then.arrive()
	return then
}

// bounds returns an error if a run of b, which is taken, breaks what DESIGN.md promises to the other groups.
func (m *model) bounds(b byte) error {
	g := groupOf(b)
	lacked, waits := m.lacks(g), map[int]bool{}
	for other := range modelGroups {
		if waiting, _ := m.count(other); waiting > 0 && other != g && m.lacks(other) {
			waits[other] = true
		}
	}
	if len(waits) > 0 && !lacked {
		return fmt.Errorf("group %d gets a worker beyond its share, and %v wait for theirs", g, slices.Collect(maps.Keys(waits)))
	}
	for other := range modelGroups {
		o := &m.fair.groups[other]
		if !waits[other] {
			o.forget()
			continue
		}
		for each := range modelGroups {
			w := m.fair.groups[each].weight
			o.heaviest[each] = max(o.heaviest[each], w)
			if o.lightest[each] == 0 || w < o.lightest[each] {
				o.lightest[each] = w
			}
		}
		o.passed[g]++
		own := min(o.lightest[other], o.placed)
		if bound := (o.heaviest[g] + own - 1) / own; o.passed[g] > bound {
			return fmt.Errorf("group %d has started %d runs while group %d waited below its share, want at most %d", g, o.passed[g], other, bound)
		}
	}
	return nil
}

func (m *model) groupStats() (all []GroupStats) {
	for g := range modelGroups {
		waiting, running := m.count(g)
		if waiting+running == 0 {
			continue
		}
		s := GroupStats{Name: groupName(byte(g)), Weight: m.fair.groups[g].weight, Ready: waiting, InProgress: running}
		for b, k := range m.keys {
			if groupOf(b) == g && k.listed {
				s.Oldest = max(s.Oldest, m.now-k.since())
			}
		}
		all = append(all, s)
	}
	return all
}
