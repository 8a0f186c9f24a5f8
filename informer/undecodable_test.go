package informer_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/informer"
)

// An object that does not decode is reported once per change, stays in the cache as it was last good, is listed in Status
// until it is mended or gone, and affects no other object.

// undecodable fails unless these objects are listed in Status, as the server has them, and so many errors were reported.
func (i *informed) undecodable(reports int, names ...string) {
	i.r.Helper()
	i.current()
	_, bad := i.r.truth(i.o)
	listed := i.Status().Undecodable
	if len(listed) != len(names) || len(bad) != len(names) {
		i.r.Fatalf("status lists %v, want %q", listed, names)
	}
	for n, u := range listed {
		if u.Identity.Key() != key(names[n]) || u.Identity != bad[key(names[n])] || !errors.Is(u.Err, errBad) {
			i.r.Errorf("status lists %v (%v), want %v", u.Identity, u.Err, bad[key(names[n])])
		}
	}
	got := 0
	for _, err := range i.reported() {
		if e := (*client.DecodeError)(nil); errors.As(err, &e) {
			got++
		}
	}
	if got != reports {
		i.r.Errorf("%d objects were reported, want %d: %v", got, reports, i.reported())
	}
	if err := i.Status().Err; err != nil {
		i.r.Errorf("an object that does not decode counts as an error of the watch: %v", err)
	}
}

func (i *informed) holds(name string, want string) {
	i.r.Helper()
	obj, ok := i.Reader().Get(key(name))
	if got := "nothing"; want != "nothing" || ok {
		if ok {
			got = obj.Data["v"]
		}
		if got != want {
			i.r.Errorf("the cache has %s as %s, want %s", name, got, want)
		}
	}
}

// relist makes the informer list again.
func (i *informed) relist() {
	i.r.Helper()
	n := i.Status().Relists[informer.Expired]
	i.r.server.DropWatches()
	i.r.put("other", "n", time.Now().String()) // the present version is never too old
	i.r.server.Compact()
	i.r.within(10*time.Second, "relisted", func() bool { return i.Status().Relists[informer.Expired] == n+1 })
	i.told()
}

// behaviour 224
func TestObjectsThatDoNotDecode(t *testing.T) {
	for _, test := range []struct {
		name string
		f    func(r *rig, i *informed)
	}{
		{"in the first list", func(_ *rig, i *informed) {
			i.undecodable(1, "bad")
			i.holds("bad", "nothing")
			i.tells("add good", "add other")
		}},
		{"again in a relist, unchanged", func(_ *rig, i *informed) {
			i.relist()
			i.undecodable(1, "bad")
		}},
		{"changed in the watch, and still bad", func(r *rig, i *informed) {
			r.put("bad", "bad", "yes", "v", "2")
			i.undecodable(2, "bad")
			i.holds("bad", "nothing")
			if s := i.Status(); s.ResourceVersion != s.Undecodable[0].Identity.ResourceVersion {
				r.Errorf("the cache is at version %s, the object at %s", s.ResourceVersion, s.Undecodable[0].Identity.ResourceVersion)
			}
		}},
		{"mended in the watch", func(r *rig, i *informed) {
			r.put("bad", "v", "2")
			i.undecodable(1)
			i.holds("bad", "2")
		}},
		{"mended while disconnected", func(r *rig, i *informed) {
			r.put("bad", "v", "2")
			i.relist()
			i.undecodable(1)
			i.holds("bad", "2")
		}},
		{"deleted in the watch", func(r *rig, i *informed) {
			r.remove("bad")
			i.undecodable(2) // its final state is a change of it, too
			i.tells("add good", "add other")
		}},
		{"deleted while disconnected", func(r *rig, i *informed) {
			r.server.DropWatches()
			r.remove("bad")
			i.relist()
			i.undecodable(1)
		}},
		{"a good one goes bad in the watch", func(r *rig, i *informed) {
			i.told()
			r.put("good", "bad", "yes", "v", "2")
			i.undecodable(2, "bad", "good")
			i.holds("good", "1")
			i.tells()
			i.relist()
			i.undecodable(2, "bad", "good")
			i.holds("good", "1")
			r.put("good", "v", "3")
			i.tells("update good")
			i.holds("good", "3")
			i.undecodable(2, "bad")
		}},
		{"a good one goes bad while disconnected", func(r *rig, i *informed) {
			r.server.DropWatches()
			r.put("good", "bad", "yes", "v", "2")
			i.relist()
			i.undecodable(2, "bad", "good")
			i.holds("good", "1")
		}},
		{"a good one goes bad and is deleted: handlers are given its last good state", func(r *rig, i *informed) {
			r.put("good", "bad", "yes", "v", "2")
			i.undecodable(2, "bad", "good")
			i.told()
			r.remove("good")
			i.tells("delete good")
			i.holds("good", "nothing")
			i.undecodable(3, "bad")
		}},
		{"resumed after it, the event does not come again", func(r *rig, i *informed) {
			r.put("bad", "bad", "yes", "v", "2")
			events := i.Status().Events
			i.undecodable(2, "bad")
			r.server.DropWatches()
			r.pass(2 * time.Minute)
			i.undecodable(2, "bad")
			if n := i.Status().Events - events; n > 1 {
				r.Errorf("%d events, want 1", n)
			}
			i.relisted(nil)
		}},
		{"a list that is cut after it reports it once", func(r *rig, i *informed) {
			r.put("bad", "bad", "yes", "v", "2")
			i.undecodable(2, "bad")
			r.server.DropWatches()
			r.put("bad", "bad", "yes", "v", "3")
			r.put("zzz")
			r.server.Compact()
			r.server.Intercept(func(q *http.Request) http.HandlerFunc {
				if collects(q) {
					return r.server.CutBody(500)
				}
				return nil
			})
			r.pass(time.Minute)
			if i.Status().Lists < 5 {
				r.Errorf("status is %v, want several lists", i.Status())
			}
			r.heal()
			r.within(35*time.Second, "relisted", func() bool { return i.Status().Relists[informer.Expired] == 1 })
			i.undecodable(3, "bad")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			modes(t, func(t *testing.T, mode informer.Mode) {
				bubble(t, func(r *rig) {
					r.put("bad", "bad", "yes")
					r.put("good", "v", "1")
					r.put("other")
					test.f(r, r.start(informer.Options{Mode: mode}))
				})
			})
		})
	}
}
