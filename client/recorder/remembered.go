package recorder

import (
	"encoding/binary"
	"time"
)

// remembered is an idle series. It keeps no record: the record of the next occurrence equals the first one in
// everything that belongs to the key. Times are by the clock of the book. Only first also has the time of the wall
// clock, because the recorder sends it to the server.
type remembered struct {
	first    time.Time
	last     time.Duration
	earliest time.Duration
	interval time.Duration
	count    int
	stamp    int64
	rest     string // the parts of the first record that do not belong to the key
}

// remember returns the remembered form of a series that has become idle.
func (b *book) remember(s *series) remembered {
	return remembered{
		first: s.first, last: b.clock(s.last), earliest: max(0, b.clock(s.earliest)), interval: s.interval,
		count: s.count, stamp: s.stamp, rest: s.rest(),
	}
}

// recall returns the series that remember has turned into m. r is the occurrence that ends its idle time; recall does
// not count it. The caller makes the series active.
func (b *book) recall(m remembered, d digest, r Record, combined bool) *series {
	s := &series{
		digest: d, combined: combined, record: r, stamp: m.stamp, first: m.first, last: b.began.Add(m.last),
		count: m.count, settled: m.count, created: true,
		interval: m.interval, earliest: b.began.Add(m.earliest), index: -1,
	}
	s.restore(m.rest)
	s.at = b.at(s)
	return s
}

// rest returns the parts of the record that do not belong to the key: the resource versions, and the note of a combined
// series.
func (s *series) rest() string {
	var rest []byte
	add := func(text string) {
		rest = binary.AppendUvarint(rest, uint64(len(text)))
		rest = append(rest, text...)
	}
	add(s.record.Regarding.Identity.ResourceVersion)
	add(s.record.Related.Identity.ResourceVersion)
	if s.combined {
		add(s.record.Note)
	}
	return string(rest)
}

// restore sets the parts of the record that rest has returned.
func (s *series) restore(rest string) {
	next := func() string {
		n, used := binary.Uvarint([]byte(rest))
		text := rest[used:][:n]
		rest = rest[used:][n:]
		return text
	}
	s.record.Regarding.Identity.ResourceVersion = next()
	s.record.Related.Identity.ResourceVersion = next()
	if s.combined {
		s.record.Note = next()
	}
}
