package ledger

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Forever is the end of what has no end.
const Forever = time.Duration(math.MaxInt64)

// Bounds are what replicas promise.
type Bounds struct {
	// Lease is for how long others leave alone the ranges of a replica that has crashed, and Renew is for how long a
	// replica believes that it has them, after its last renewal.
	Lease, Renew time.Duration
	// Sync is how long a replica may take, besides Lease, to take the range of one that has crashed.
	Sync time.Duration
	// Handover is how long a range may be nobody's when it passes from one replica to another that is ready for it.
	Handover time.Duration
	// Workers is how many writes of a replica may be under way at a time.
	Workers int
}

// Tenure is a time in which a replica had a range, as it says itself.
type Tenure struct {
	Replica  string
	Range    int
	From, To time.Duration // To is Forever if it never said that it is over
	// Lost says that the replica had lost its lease, rather than handed over the range. It may notice that late.
	Lost bool
}

// Work is what a replica did for an object, from its begin to its end.
type Work struct {
	Replica      string
	Range        int
	Object       string
	Began, Ended time.Duration
}

// Write is a write for an object. The replica asked for it, and later it arrived at the server.
type Write struct {
	Replica        string
	Range          int
	Object         string
	Asked, Arrived time.Duration
}

// Ready says for which ranges the caches of a replica were filled, from a moment on.
type Ready struct {
	Replica string
	At      time.Duration
	Ranges  meta.Ranges
}

// Trouble is what has befallen a replica: it was stopped At, and went on at Until; or killed, if that is Forever.
type Trouble struct {
	Replica   string
	At, Until time.Duration
}

// Ledger is what has been recorded, from Begin to End, a time in which replicas were there.
type Ledger struct {
	Bounds     Bounds
	Begin, End time.Duration
	Tenures    []Tenure
	Works      []Work
	Writes     []Write
	Ready      []Ready
	Troubles   []Trouble
}

// Summary is what [Ledger.Faults] has compared.
type Summary struct {
	// Passed counts the times that a range passed from one replica to another, and Taken those after the old one had
	// crashed, was stopped, or had lost its lease.
	Passed, Taken int
	// LongestHandover and LongestTaken are the longest times that a range was nobody's, in the two cases.
	LongestHandover, LongestTaken time.Duration
	// UnderWay counts the writes that replicas had asked for when they were stopped, and that arrived after another
	// replica had begun.
	UnderWay int
}

// tenure is a Tenure with its effective end.
type tenure struct {
	Tenure
	// until is when another replica may begin: not before.
	until time.Duration
	// idle is when the time begins in which nobody had the range.
	idle time.Duration
	// taken says that the replica did not hand it over.
	taken bool
}

// Faults returns what is wrong, in order of the ranges, and what has been compared. Nothing is wrong if all of this
// holds for each range:
//
//   - The tenures of two replicas do not overlap. That of a replica which was killed or stopped counts until the moment
//     when it would have lost its lease at the earliest.
//   - During the tenure of one replica no write of another one arrives, except one that the other had asked for when it
//     was stopped, and of these at most Bounds.Workers.
//   - During the tenure of one replica no other one works, unless that has lost the range and so may not write any
//     more.
//   - Who works or writes has had the range before.
//   - When a replica hands a range over, the next one is ready for it.
//   - It is nobody's for no longer than Bounds.Handover if it is handed over, and than Bounds.Lease and Bounds.Sync
//     together otherwise; these once more for each replica that is killed or stopped or loses its lease meanwhile. At
//     the End somebody has it.
func (l *Ledger) Faults() (faults []string, s Summary) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	works, writes := make([][]Work, meta.RangeCount), make([][]Write, meta.RangeCount)
	for _, w := range l.Works {
		works[w.Range] = append(works[w.Range], w)
	}
	for _, w := range l.Writes {
		writes[w.Range] = append(writes[w.Range], w)
	}
	tenures, underWay := l.byRange(writes), map[string]int{}
	for n := range meta.RangeCount {
		l.checkOverlaps(n, tenures[n], fault)
		for _, w := range writes[n] {
			if l.checkWrite(w, tenures[n], fault) {
				underWay[w.Replica]++
			}
		}
		for _, w := range works[n] {
			checkWork(w, tenures[n], fault)
		}
		l.checkGaps(n, tenures[n], &s, fault)
	}
	for replica, count := range underWay {
		s.UnderWay += count
		if count > l.Bounds.Workers {
			fault("%d writes of %s were under way when it was stopped; it has %d workers", count, replica, l.Bounds.Workers)
		}
	}
	return faults, s
}

// byRange returns the tenures of each range, in order of their begin.
func (l *Ledger) byRange(writes [][]Write) [][]tenure {
	all := make([][]tenure, meta.RangeCount)
	for _, t := range l.Tenures {
		all[t.Range] = append(all[t.Range], tenure{Tenure: t, until: t.To, idle: t.To, taken: t.Lost})
	}
	for n, ts := range all {
		slices.SortStableFunc(ts, func(a, b tenure) int { return cmp.Compare(a.From, b.From) })
		for i := range ts {
			if ts[i].Lost {
				ts[i].until = ts[i].From
			}
		}
		for _, w := range writes[n] {
			// A replica may notice late that it has lost a range. Until then, what counts is what it does.
			if i := owning(w.Replica, w.Asked, ts); i >= 0 && ts[i].Lost {
				ts[i].until = max(ts[i].until, w.Arrived)
			}
		}
		for i, t := range ts {
			for _, trouble := range l.Troubles {
				if trouble.Replica == t.Replica && trouble.At >= t.From && trouble.At < t.To {
					ts[i].until, ts[i].idle, ts[i].taken = min(t.To, trouble.At+l.Bounds.Lease-l.Bounds.Renew), trouble.At, true
				}
			}
		}
	}
	return all
}

// owning returns the index of the tenure in which a replica began something at a moment; -1 if it had not had the range
// yet.
func owning(replica string, at time.Duration, ts []tenure) int {
	found := -1
	for i, t := range ts {
		if t.Replica == replica && t.From <= at {
			found = i
		}
	}
	return found
}

func (l *Ledger) checkOverlaps(n int, ts []tenure, fault func(string, ...any)) {
	for i, a := range ts {
		for _, b := range ts[i+1:] {
			if a.Replica != b.Replica && b.From < a.until {
				fault("range %d: %s begins at %v, while %s has it from %v to %v", n, b.Replica, b.From, a.Replica, a.From, show(a.until))
			}
		}
	}
}

// checkWrite reports whether a write was under way when its replica was stopped, and arrived when another one had
// begun.
func (l *Ledger) checkWrite(w Write, ts []tenure, fault func(string, ...any)) (underWay bool) {
	if owning(w.Replica, w.Asked, ts) < 0 {
		fault("range %d: %s writes %s at %v, and never had the range before", w.Range, w.Replica, w.Object, w.Asked)
	}
	for _, t := range ts {
		if t.Replica == w.Replica || w.Arrived < t.From || w.Arrived >= t.until {
			continue
		}
		if slices.ContainsFunc(l.Troubles, func(x Trouble) bool { return x.Replica == w.Replica && w.Asked <= x.At && w.Arrived >= x.At }) {
			underWay = true
			continue
		}
		fault("range %d: a write of %s for %s, asked for at %v, arrives at %v, while %s has the range from %v to %v",
			w.Range, w.Replica, w.Object, w.Asked, w.Arrived, t.Replica, t.From, show(t.until))
	}
	return underWay
}

func checkWork(w Work, ts []tenure, fault func(string, ...any)) {
	own := owning(w.Replica, w.Began, ts)
	if own < 0 {
		fault("range %d: %s works on %s at %v, and never had the range before", w.Range, w.Replica, w.Object, w.Began)
		return
	}
	if ts[own].taken { // it may take its time to notice
		return
	}
	for _, t := range ts {
		if t.Replica != w.Replica && w.Ended >= t.From && w.Began < t.until {
			fault("range %d: %s works on %s from %v to %v, while %s has the range from %v to %v",
				w.Range, w.Replica, w.Object, w.Began, w.Ended, t.Replica, t.From, show(t.until))
		}
	}
}

// checkGaps checks how long a range is nobody's.
func (l *Ledger) checkGaps(n int, ts []tenure, s *Summary, fault func(string, ...any)) {
	before := tenure{Tenure: Tenure{Replica: "nobody"}, idle: l.Begin, taken: true} // a group begins as if somebody had crashed
	for _, t := range ts {
		gap := max(0, t.From-before.idle)
		most, longest := l.Bounds.Handover, &s.LongestHandover
		if before.taken {
			most, longest = l.Bounds.Lease+l.Bounds.Sync, &s.LongestTaken
		}
		most += time.Duration(l.unlucky(before, t.From)) * (l.Bounds.Lease + l.Bounds.Sync)
		if before.Replica != "nobody" {
			*longest = max(*longest, gap)
			if before.Replica != t.Replica {
				s.Passed++
			}
			if before.taken {
				s.Taken++
			}
		}
		if gap > most {
			fault("range %d: nobody has it for %v, from %v, when %s had it last, to %v, when %s begins; at most %v were to be",
				n, gap, before.idle, before.Replica, t.From, t.Replica, most)
		}
		if !before.taken && before.Replica != t.Replica && !l.ready(t.Replica, n, before.To) {
			fault("range %d: %s lets it go at %v, when %s is not ready for it", n, before.Replica, before.To, t.Replica)
		}
		before = t
	}
	if before.idle < l.End {
		fault("range %d: nobody has it at the end; %s had it last, until %v", n, before.Replica, before.idle)
	}
}

// unlucky returns how many other replicas something befell, or lost their lease, between the end of a tenure and a
// moment.
func (l *Ledger) unlucky(before tenure, until time.Duration) int {
	replicas := map[string]bool{}
	for _, t := range l.Troubles {
		if t.At > before.idle && t.At < until {
			replicas[t.Replica] = true
		}
	}
	for _, t := range l.Tenures {
		if t.Lost && t.To > before.idle && t.To < until {
			replicas[t.Replica] = true
		}
	}
	delete(replicas, before.Replica)
	return len(replicas)
}

// ready reports whether the caches of a replica were filled for a range at a moment.
func (l *Ledger) ready(replica string, n int, at time.Duration) bool {
	var last Ready
	for _, r := range l.Ready {
		if r.Replica == replica && r.At <= at && r.At >= last.At {
			last = r
		}
	}
	return last.Ranges.Has(n)
}

// show prints a moment.
func show(d time.Duration) string {
	if d == Forever {
		return "the end"
	}
	return d.String()
}
