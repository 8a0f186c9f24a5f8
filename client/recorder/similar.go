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
	notes    []seen        // of the last ten minutes; fewer than Options.Similar
	combined time.Duration // when a record was last combined, by the clock of the book; 0 means never
}

type seen struct {
	note uint64        // the hash of the note
	at   time.Duration // by the clock of the book
}

// combines reports whether a new record is combined with similar ones.
func (b *book) combines(at time.Time, k key) bool {
	if b.o.Similar < 0 {
		return false
	}
	now, note := b.clock(at), b.digests.note(k.note)
	k.note = ""
	g := b.groups.get(b.digests.key(k))
	known := false
	g.notes = slices.DeleteFunc(g.notes, func(n seen) bool {
		old := now-n.at >= similarFor
		known = known || !old && n.note == note
		return old || n.note == note
	})
	goesOn := g.combined != 0 && now-g.combined < similarFor
	if !known && (goesOn || len(g.notes) >= b.o.Similar-1) {
		g.combined = now
		return true
	}
	g.notes = append(g.notes, seen{note, now})
	return false
}
