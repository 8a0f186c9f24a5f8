package store

import (
	"slices"
	"sort"
)

// rowSet is an ordered set of rows: the objects of a namespace, or those with one value of an index. Most values of
// most indexes have one object or a few, so small sets are a short slice and only larger sets are in runs. Views of it
// are stable by the same rule as those of rows.
//
// The zero rowSet is empty.
type rowSet struct {
	few  []uint32 // never changed in place, so a view needs no generations
	many *runs
}

// fewest and most are the sizes at which runs become few and few become runs. They differ, so that an object that
// comes and goes does not convert the set each time.
const fewest, most = 8, 16

func (s *rowSet) len() int {
	if s.many != nil {
		return s.many.n
	}
	return len(s.few)
}

// fork returns a set with the same rows. In later generations it can change without changing s.
func (s *rowSet) fork() rowSet {
	f := *s
	if s.many != nil {
		many := *s.many
		f.many = &many
	}
	return f
}

func (s *rowSet) add(row uint32, gen uint64) {
	if s.many != nil {
		s.many.add(row, gen)
		return
	}
	i, found := slices.BinarySearch(s.few, row)
	switch {
	case found:
	case len(s.few) < most:
		few := make([]uint32, len(s.few)+1)
		copy(few, s.few[:i])
		few[i] = row
		copy(few[i+1:], s.few[i:])
		s.few = few
	default:
		s.many = &runs{gen: gen, n: len(s.few), runs: []*run{{gen: gen, rows: slices.Clone(s.few)}}}
		s.few = nil
		s.many.add(row, gen)
	}
}

func (s *rowSet) drop(row uint32, gen uint64) {
	if s.many == nil {
		if i, found := slices.BinarySearch(s.few, row); found {
			few := make([]uint32, len(s.few)-1)
			copy(few[copy(few, s.few[:i]):], s.few[i+1:])
			s.few = few
		}
		return
	}
	s.many.drop(row, gen)
	if s.many.n <= fewest {
		few := make([]uint32, 0, s.many.n)
		for _, r := range s.many.runs {
			few = append(few, r.rows...)
		}
		s.few, s.many = few, nil
	}
}

// each calls yield with each row.
func (s *rowSet) each(yield func(row uint32)) {
	for _, row := range s.few {
		yield(row)
	}
	if s.many != nil {
		for _, r := range s.many.runs {
			for _, row := range r.rows {
				yield(row)
			}
		}
	}
}

// renumber replaces each row by its number in to, which keeps their order.
func (s *rowSet) renumber(to []uint32, gen uint64) {
	renumbered := func(rows []uint32) []uint32 {
		out := make([]uint32, len(rows))
		for i, row := range rows {
			out[i] = to[row]
		}
		return out
	}
	if s.many == nil {
		s.few = renumbered(s.few)
		return
	}
	fresh := &runs{gen: gen, n: s.many.n}
	for _, r := range s.many.runs {
		fresh.runs = append(fresh.runs, &run{gen: gen, rows: renumbered(r.rows)})
	}
	s.many = fresh
}

// runs is a large set of rows. A writer copies a run before changing it if a view may have the run.
type runs struct {
	runs []*run
	gen  uint64 // the generation that the slice runs was made in
	n    int
}

// run is a non-empty slice of rows in ascending order.
type run struct {
	gen  uint64
	rows []uint32
}

// runSize is the most rows of a run: 2 KiB.
const runSize = 512

func (r *run) last() uint32 { return r.rows[len(r.rows)-1] }

// find returns the run and position where row is or belongs. A row beyond the last one belongs after the last run.
func (s *runs) find(row uint32) (i, j int, found bool) {
	i = len(s.runs)
	if i == 0 || s.runs[i-1].last() < row {
		return i, 0, false
	}
	i = sort.Search(i, func(i int) bool { return s.runs[i].last() >= row })
	j, found = slices.BinarySearch(s.runs[i].rows, row)
	return i, j, found
}

func (s *runs) add(row uint32, gen uint64) {
	i, j, found := s.find(row)
	if found {
		return
	}
	s.n++
	if i == len(s.runs) {
		if i > 0 && len(s.runs[i-1].rows) < runSize {
			r := s.own(i-1, gen)
			r.rows = append(r.rows, row)
			return
		}
		s.ownRuns(gen)
		s.runs = append(s.runs, &run{gen: gen, rows: []uint32{row}})
		return
	}
	r := s.own(i, gen)
	if len(r.rows) == runSize {
		right := &run{gen: gen, rows: slices.Clone(r.rows[runSize/2:])}
		r.rows = r.rows[:runSize/2]
		s.runs = slices.Insert(s.runs, i+1, right)
		if j > runSize/2 {
			r, j = right, j-runSize/2
		}
	}
	r.rows = slices.Insert(r.rows, j, row)
}

func (s *runs) drop(row uint32, gen uint64) {
	i, j, found := s.find(row)
	if !found {
		return
	}
	s.n--
	r := s.own(i, gen)
	r.rows = slices.Delete(r.rows, j, j+1)
	switch {
	case len(r.rows) == 0:
		s.runs = slices.Delete(s.runs, i, i+1)
	case len(r.rows) < runSize/4:
		s.merge(i, gen)
	}
}

// merge joins run i to a neighbour if the two fill no more than half a run. So deletions do not leave many short runs,
// and the next insertion does not split the result again.
func (s *runs) merge(i int, gen uint64) {
	for _, left := range [2]int{i - 1, i} {
		if left < 0 || left+1 >= len(s.runs) || len(s.runs[left].rows)+len(s.runs[left+1].rows) > runSize/2 {
			continue
		}
		r := s.own(left, gen)
		r.rows = append(r.rows, s.runs[left+1].rows...)
		s.runs = slices.Delete(s.runs, left+1, left+2)
		return
	}
}

// own returns run i, copied if necessary, to be changed in place.
func (s *runs) own(i int, gen uint64) *run {
	s.ownRuns(gen)
	r := s.runs[i]
	if r.gen != gen {
		r = &run{gen: gen, rows: slices.Clone(r.rows)}
		s.runs[i] = r
	}
	return r
}

func (s *runs) ownRuns(gen uint64) {
	if s.gen != gen {
		s.runs, s.gen = slices.Clone(s.runs), gen
	}
}
