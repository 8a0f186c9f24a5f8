package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// The shape that finds the waiters of a change quickly finds the same as a look at all of them.
func TestNoWaiterIsForgotten(t *testing.T) {
	for seed := range histories.Seeds(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, version := New[meta.Labelled](), 10
		next := func() string { version += r.IntN(3); return strconv.Itoa(version) }
		identity := func() meta.Identity {
			return meta.Identity{
				Namespace: fmt.Sprint("ns", r.IntN(3)), Name: fmt.Sprint(r.IntN(4)), UID: fmt.Sprint(r.IntN(2)), ResourceVersion: next(),
			}
		}
		ahead := func() string { return strconv.Itoa(version + r.IntN(20)) }
		called, answered, stopped := 0, 0, 0
		var stops []func() bool
		for range 300 {
			w := s.Writer([]string{"", "", "ns0", "ns1"}[r.IntN(4)])
			switch r.IntN(12) {
			case 0, 1, 2:
				w.Set(identity(), labelled{})
			case 3, 4:
				w.Delete(identity(), labelled{})
			case 5:
				w.Bookmark(next())
			case 6:
				l := w.Relist()
				for range r.IntN(5) {
					l.Set(identity(), labelled{})
				}
				l.Commit(next())
			case 7:
				names := []string{"ns0", "ns1", "ns2"}[:r.IntN(4)]
				w.Restrict(func(ns string) bool { return slices.Contains(names, ns) })
			case 8:
				w.Drop()
			case 9:
				if len(stops) > 0 && stops[r.IntN(len(stops))]() {
					stopped++
				}
			default:
				write := Write{Identity: identity(), Outside: r.IntN(4) == 0}
				if write.ResourceVersion = ahead(); r.IntN(4) == 0 {
					write.ResourceVersion = ""
				}
				called++
				once := false
				stops = append(stops, s.AfterSeen(write, func(bool) {
					if once {
						t.Fatalf("seed %d: answered twice", seed)
					}
					once = true
					answered++
				}).Stop)
			}
			waiting := 0
			for key, all := range s.waits.of {
				waiting += len(all)
				for _, w := range all {
					if s.hasSeen(w) {
						t.Fatalf("seed %d: a waiter for %v at %q has not been answered", seed, key, w.version)
					}
					if w.version != "" && (s.waits.all.waiters[w.at[0]] != w || s.waits.in[key.Namespace].waiters[w.at[1]] != w) {
						t.Fatalf("seed %d: a waiter has lost its place", seed)
					}
				}
			}
			if waiting+answered+stopped != called {
				t.Fatalf("seed %d: of %d, %d wait, %d are answered and %d stopped", seed, called, waiting, answered, stopped)
			}
		}
		s.EndWaits(func(string) bool { return true })
		if len(s.waits.of)+len(s.waits.all.waiters)+len(s.waits.in) > 0 {
			t.Fatalf("seed %d: something is left: %+v", seed, s.waits)
		}
	}
}

type labelled struct{}

func (labelled) GetNamespace() string         { return "" }
func (labelled) GetName() string              { return "" }
func (labelled) GetResourceVersion() string   { return "" }
func (labelled) GetLabels() map[string]string { return nil }

// Each change looks at few of the writes that are waited for.
func BenchmarkAfterSeen(b *testing.B) {
	for _, waiting := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(waiting, " waiting"), func(b *testing.B) {
			s, version := New[meta.Labelled](), 1_000_000
			b.ReportAllocs()
			for i := range waiting {
				s.AfterSeen(Write{Identity: at(i, version+i)}, func(bool) {})
			}
			for i := 0; b.Loop(); i++ {
				s.AfterSeen(Write{Identity: at(i+waiting, version+i+waiting)}, func(bool) {})
				s.Writer("").Set(at(i, version+i), labelled{})
			}
		})
	}
}

func at(i, version int) meta.Identity {
	return meta.Identity{Namespace: "ns", Name: strconv.Itoa(i), UID: "u", ResourceVersion: strconv.Itoa(version)}
}
