package recorder

import (
	"slices"
	"time"
)

// Records that differ only in their notes are similar. Many similar records are combined into one.

const (
	// similarFor is how long a record counts towards Options.Similar.
	similarFor = 10 * time.Minute
	// combinedNote is the beginning of the note of a combined record.
	combinedNote = "(combined from similar events): "
)

// group has the notes of similar records.
type group struct {
	notes    []seen    // of the last ten minutes; fewer than Options.Similar
	combined time.Time // when one was last combined
}

type seen struct {
	note string
	at   time.Time
}

// combines reports whether a new record is combined with similar ones.
func (b *book) combines(now time.Time, k key) bool {
	if b.o.Similar < 0 {
		return false
	}
	note := k.note
	k.note = ""
	g := b.groups.get(k)
	known := false
	g.notes = slices.DeleteFunc(g.notes, func(n seen) bool {
		old := now.Sub(n.at) >= similarFor
		known = known || !old && n.note == note
		return old || n.note == note
	})
	goesOn := !g.combined.IsZero() && now.Sub(g.combined) < similarFor
	if !known && (goesOn || len(g.notes) >= b.o.Similar-1) {
		g.combined = now
		return true
	}
	g.notes = append(g.notes, seen{note, now})
	return false
}
