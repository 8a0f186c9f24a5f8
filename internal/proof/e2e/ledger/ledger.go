package ledger

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Forever is the end of a time that has not ended.
const Forever = time.Duration(math.MaxInt64)

// Bounds are what replicas promise.
type Bounds struct {
	// Lease is how long other replicas leave the ranges of a crashed replica alone, and Renew how long a replica
	// believes that it has its ranges. Both count from its last renewal.
	Lease, Renew time.Duration
	// Sync is how long a replica may take, besides Lease, to take the range of one that has crashed.
	Sync time.Duration
	// Handover is how long a range may have no owner while it passes from one replica to another that is ready for it.
	Handover time.Duration
	// Workers is how many writes of a replica may be under way at a time.
	Workers int
}

// Tenure is a time in which a replica had a range, according to the replica.
type Tenure struct {
	Replica  string
	Range    int
	From, To time.Duration // To is Forever if the replica never said that the tenure is over
	// Lost says that the replica had lost its lease, rather than handed over the range. It may notice that late.
	Lost bool
}

// Work is what a replica did for an object, from start to end.
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

// Trouble says that a replica was stopped at At and went on at Until. If Until is Forever, it was killed.
type Trouble struct {
	Replica   string
	At, Until time.Duration
}

// Ledger is the record of the time from Begin to End, in which replicas ran.
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
	// Passed counts the times that a range passed from one replica to another. Taken counts the times that a range got
	// an owner after its last owner had crashed, was stopped, or had lost its lease.
	Passed, Taken int
	// LongestHandover and LongestTaken are the longest times for which a range had no owner, in the two cases.
	LongestHandover, LongestTaken time.Duration
	// UnderWay counts the writes that replicas had asked for when they were stopped, and that arrived after another
	// replica had begun.
	UnderWay int
}

// tenure is a Tenure with its effective end.
type tenure struct {
	Tenure
	// until is the earliest time at which another replica may begin.
	until time.Duration
	// idle is the start of the time in which the range had no owner.
	idle time.Duration
	// taken says that the replica did not hand it over.
	taken bool
}

// Faults returns what is wrong, in order of the ranges, and what has been compared. Nothing is wrong if all of this
// holds for each range:
//
//   - The tenures of two replicas do not overlap. The tenure of a replica that was killed or stopped counts until the
//     earliest moment at which it would have lost its lease.
//   - During the tenure of one replica no write of another one arrives, except one that the other had asked for when
//     it was stopped, and of these at most Bounds.Workers.
//   - During the tenure of one replica no other replica works, unless the other has lost the range, so that it may not
//     write any more.
//   - A replica that works or writes has had the range before.
//   - When a replica hands a range over, the next one is ready for it.
//   - The range has no owner for at most Bounds.Handover if it is handed over, and otherwise for at most Bounds.Lease
//     plus Bounds.Sync. For each other replica that is killed or stopped or loses its lease in that time, Bounds.Lease
//     plus Bounds.Sync are added. At the End the range has an owner.
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

// byRange returns the tenures of each range, in the order in which they began.
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
			// A replica may notice late that it has lost a range. Its tenure then ends with its last write.
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

// owning returns the index of the tenure in which a replica began work or a write at a moment; -1 if it had not had the
// range yet.
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

// checkGaps checks how long a range has no owner.
func (l *Ledger) checkGaps(n int, ts []tenure, s *Summary, fault func(string, ...any)) {
	// At its beginning, a group takes the ranges as if another replica had crashed.
	before := tenure{Tenure: Tenure{Replica: "nobody"}, idle: l.Begin, taken: true}
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

// unlucky returns how many other replicas were killed or stopped, or lost their lease, between the end of a tenure and
// a moment.
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
