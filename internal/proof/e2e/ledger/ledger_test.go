package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

const s = time.Second

// shared is a record without faults: "a" has all ranges, "b" joins and gets range 1, "a" is killed, "b" is stopped and goes on, and "c"
// has everything in the end.
func shared() *Ledger {
	l := &Ledger{
		Bounds: Bounds{Lease: 6 * s, Renew: 4 * s, Sync: 3 * s, Handover: s, Workers: 2},
		Begin:  0, End: 60 * s,
		Troubles: []Trouble{{"a", 20 * s, Forever}, {"b", 30 * s, 45 * s}},
		Ready: []Ready{
			{"a", 0, meta.AllRanges()},
			{"b", 9 * s, meta.Ranges{}.With(1)},
			{"b", 26 * s, meta.AllRanges()},
			{"c", 37 * s, meta.AllRanges()},
		},
	}
	for n := range meta.RangeCount {
		a := Tenure{Replica: "a", Range: n, From: s, To: Forever}
		b := Tenure{Replica: "b", Range: n, From: 27 * s, To: 45 * s, Lost: true}
		if n == 1 {
			a.To, b.From = 10*s, 10*s+s/10
		}
		l.Tenures = append(l.Tenures, a, b, Tenure{Replica: "c", Range: n, From: 38 * s, To: Forever})
	}
	l.Works = []Work{
		{"a", 1, "x", 2 * s, 10 * s},
		{"b", 1, "x", 11 * s, 12 * s},
		{"b", 1, "x", 29 * s, 46 * s}, // it was stopped meanwhile
		{"c", 1, "x", 39 * s, 40 * s},
	}
	l.Writes = []Write{
		{"a", 1, "x", 9 * s, 10 * s},
		{"b", 1, "x", 11 * s, 12 * s},
		{"b", 1, "x", 30*s - 1, 45*s + 1}, // it was under way
		{"c", 1, "x", 39 * s, 40 * s},
	}
	return l
}

func TestACorrectLedgerHasNoFaults(t *testing.T) {
	faults, got := shared().Faults()
	if len(faults) > 0 {
		t.Errorf("%d faults: %q", len(faults), faults[:min(3, len(faults))])
	}
	want := Summary{Passed: 2*256 + 0, Taken: 2*256 - 1, LongestHandover: s / 10, LongestTaken: 8 * s, UnderWay: 1}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// of returns the tenure of a replica for range 1.
func (l *Ledger) of(replica string) *Tenure {
	for i := range l.Tenures {
		if t := &l.Tenures[i]; t.Replica == replica && t.Range == 1 {
			return t
		}
	}
	panic("no tenure of " + replica)
}

// lose lets a replica lose its lease at a moment, instead of being killed.
func (l *Ledger) lose(replica string, at time.Duration) {
	for i := range l.Tenures {
		if t := &l.Tenures[i]; t.Replica == replica && t.To == Forever {
			t.To, t.Lost = at, true
		}
	}
	l.Troubles = slices.DeleteFunc(l.Troubles, func(x Trouble) bool { return x.Replica == replica })
	l.Works, l.Writes = nil, nil
}

func TestFaultsAreFound(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(l *Ledger)
		want   string // begins the only fault; "" for none
	}{
		{"a write that arrives after the range has passed on", func(l *Ledger) {
			l.Writes[0].Arrived = 10*s + s/10
		}, "range 1: a write of a for x"},
		{"a write that arrives right before", func(l *Ledger) { l.Writes[0].Arrived = 10*s + s/10 - 1 }, ""},
		{"a write asked for after the range has passed on", func(l *Ledger) {
			l.Writes = append(l.Writes, Write{"a", 1, "y", 12 * s, 12 * s})
		}, "range 1: a write of a for y"},
		{"a write of another while the one that begins later goes on", func(l *Ledger) {
			l.Writes = append(l.Writes, Write{"c", 1, "y", 28 * s, 28 * s})
		}, "range 1: c writes y at 28s, and never had the range before"},
		{"a write that a process asks for after it was stopped", func(l *Ledger) {
			l.Writes[2].Asked = 45 * s
		}, "range 1: a write of b for x"},
		{"more writes under way than workers", func(l *Ledger) {
			l.Writes = append(l.Writes, l.Writes[2], l.Writes[2])
		}, "3 writes of b were under way"},
		{"a write that was under way when another process was stopped", func(l *Ledger) {
			l.Writes[0].Arrived = 10*s + s/10
			l.Troubles = append(l.Troubles, Trouble{"c", 9*s + 1, 15 * s})
		}, "range 1: a write of a for x"},
		{"a tenure before the end of another one", func(l *Ledger) { l.of("b").From = 10*s - 1 }, "range 1: b begins at 9.999999999s, while a has it"},
		{"a tenure before a killed replica would have lost its lease", func(l *Ledger) {
			l.of("a").To, l.of("b").From, l.Ready[1].At = Forever, 22*s-1, 0
			l.Works, l.Writes = l.Works[3:], l.Writes[3:]
		}, "range 1: b begins at 21.999999999s, while a has it from 1s to 22s"},
		{"a tenure when it would", func(l *Ledger) {
			l.of("a").To, l.of("b").From = Forever, 22*s
			l.Works, l.Writes = l.Works[3:], l.Writes[3:]
		}, ""},
		{"a tenure before a stopped replica would have lost its lease", func(l *Ledger) { l.of("c").From = 32*s - 1 }, "range 1: c begins at 31.999999999s"},
		{"work that ends after the range has passed on", func(l *Ledger) { l.Works[0].Ended = 10*s + s/10 }, "range 1: a works on x from 2s"},
		{"work that begins after the range has passed on", func(l *Ledger) {
			l.Works = append(l.Works, Work{"a", 1, "y", 15 * s, 15 * s})
		}, "range 1: a works on y from 15s"},
		{"work without the range", func(l *Ledger) {
			l.Works = append(l.Works, Work{"c", 1, "y", 15 * s, 15 * s})
		}, "range 1: c works on y at 15s, and never had the range before"},
		{"a range handed to a replica that is not ready", func(l *Ledger) { l.Ready[1].At = 10*s + 1 }, "range 1: a lets it go at 10s, when b is not ready for it"},
		{"a range handed to a replica that was ready once", func(l *Ledger) {
			l.Ready = append(l.Ready, Ready{"b", 9*s + 1, meta.Ranges{}})
		}, "range 1: a lets it go at 10s, when b is not ready for it"},
		{"a gap in a handover", func(l *Ledger) { l.of("b").From = 11*s + 1; l.Works, l.Writes = nil, nil }, "range 1: nobody has it for 1.000000001s, from 10s"},
		{"no gap in a handover", func(l *Ledger) { l.of("b").From = 11 * s; l.Works, l.Writes = nil, nil }, ""},
		{"a gap after a crash", func(l *Ledger) {
			l.of("a").To, l.of("b").From = Forever, 29*s+1
			l.Works, l.Writes = nil, nil
		}, "range 1: nobody has it for 9.000000001s, from 20s"},
		{"a gap after a stop", func(l *Ledger) { l.of("c").From, l.Works, l.Writes = 39*s+1, nil, nil }, "range 1: nobody has it for 9.000000001s, from 30s"},
		{"a gap in which another replica is killed", func(l *Ledger) {
			l.of("c").From, l.Works, l.Writes = 48*s, nil, nil
			l.Troubles = append(l.Troubles, Trouble{"d", 35 * s, Forever})
		}, ""},
		{"a longer gap in which another replica is killed", func(l *Ledger) {
			l.of("c").From, l.Works, l.Writes = 48*s+1, nil, nil
			l.Troubles = append(l.Troubles, Trouble{"d", 35 * s, Forever})
		}, "range 1: nobody has it for 18.000000001s"},
		{"a gap in which another replica loses its lease", func(l *Ledger) {
			l.of("c").From, l.Works, l.Writes = 48*s, nil, nil
			l.Tenures = append(l.Tenures, Tenure{Replica: "d", Range: 2, From: 34 * s, To: 35 * s, Lost: true})
			l.Tenures = append(l.Tenures[:2*3+2], l.Tenures[2*3+3:]...) // d had range 2 instead of c
			l.Tenures = append(l.Tenures, Tenure{Replica: "c", Range: 2, From: 40 * s, To: Forever})
		}, ""},
		{"a gap at the begin", func(l *Ledger) { l.Begin = -8 * s }, ""},
		{"a range that nobody has at first", func(l *Ledger) { l.of("a").From = 9*s + 1; l.Works, l.Writes = nil, nil }, "range 1: nobody has it for 9.000000001s, from 0s, when nobody had it last"},
		{"a range that nobody has in the end", func(l *Ledger) { l.of("c").To = 60*s - 1 }, "range 1: nobody has it at the end"},
		{"a range that nobody ever has", func(l *Ledger) {
			var others []Tenure
			for _, t := range l.Tenures {
				if t.Range != 1 {
					others = append(others, t)
				}
			}
			l.Tenures, l.Works, l.Writes = others, nil, nil
		}, "range 1: nobody has it at the end"},
		{"a replica that notices late that it has lost a range, and writes nothing", func(l *Ledger) {
			l.lose("a", 28*s)
		}, ""},
		{"a replica that notices late that it has lost a range, and writes", func(l *Ledger) {
			l.lose("a", 28*s)
			l.Writes = []Write{{"a", 2, "x", 26 * s, 27 * s}}
		}, "range 2: a write of a for x, asked for at 26s"},
		{"a replica that writes after it has noticed", func(l *Ledger) {
			l.lose("a", 26*s)
			l.Writes = []Write{{"a", 2, "x", 27 * s, 27*s + 1}}
		}, "range 2: b begins at 27s, while a has it from 1s to 27.000000001s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := shared()
			tc.change(l)
			faults, _ := l.Faults()
			switch {
			case tc.want == "" && len(faults) > 0:
				t.Errorf("%d faults: %q", len(faults), faults[:min(3, len(faults))])
			case tc.want != "" && (len(faults) == 0 || !strings.HasPrefix(faults[0], tc.want)):
				t.Errorf("%d faults: %q, want %s...", len(faults), faults[:min(3, len(faults))], tc.want)
			}
		})
	}
}

// Faults finds what is wrong in each of the 256 ranges.
func TestEveryRangeIsChecked(t *testing.T) {
	for n := range meta.RangeCount {
		l := shared()
		for i := range l.Tenures {
			if t := &l.Tenures[i]; t.Range == n && t.Replica == "c" {
				t.From = 31 * s
			}
		}
		faults, _ := l.Faults()
		if want := fmt.Sprintf("range %d: c begins at 31s", n); len(faults) != 1 || !strings.HasPrefix(faults[0], want) {
			t.Errorf("%d faults: %q, want %s", len(faults), faults[:min(3, len(faults))], want)
		}
	}
}
