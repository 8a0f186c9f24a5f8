package informer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer"
)

// A server that is restored from a backup: what it has is older, and its versions come a second time.

// rollback returns the one rollback that was reported.
func (i *informed) rollback() (found error) {
	i.r.Helper()
	for _, err := range i.reported() {
		if strings.HasSuffix(err.Error(), ", as after a restore from a backup") {
			if found != nil {
				i.r.Errorf("two rollbacks were reported: %v and %v", found, err)
			}
			found = err
		}
	}
	return found
}

func TestAServerThatIsRolledBack(t *testing.T) {
	for _, test := range []struct {
		name  string
		then  func(r *rig) // happens to the restored server before anybody comes back
		calls []string     // of the handler
	}{
		{
			"nothing happens since",
			func(*rig) {},
			[]string{"add gone", "delete new", "update changed"},
		},
		{
			"the same versions come again, for other states",
			func(r *rig) { r.put("changed", "v", "other") },
			[]string{"add gone", "delete new", "update changed"},
		},
		{
			"an object comes again under its old name",
			func(r *rig) { r.put("new", "v", "another") },
			[]string{"add gone", "add new", "delete new", "update changed"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			modes(t, func(t *testing.T, mode informer.Mode) {
				bubble(t, func(r *rig) {
					r.put("same")
					r.put("changed", "v", "old")
					r.put("gone")
					backup := r.server.ResourceVersion()
					i := r.informer(informer.Options{Mode: mode})
					i.run()
					r.Cleanup(i.stop)
					if err := i.WaitSynced(r.Context()); err != nil {
						r.Fatal(err)
					}
					r.put("changed", "v", "new") // its version is the first after the backup
					r.put("new")
					r.remove("gone")
					for range 5 {
						r.put("changed", "v", time.Now().String())
						r.pass(time.Second)
					}
					r.put("changed", "v", "last")
					i.told()
					same := i.held()[key("same")]
					i.forgive()
					if err := r.server.Rollback(backup); err != nil {
						r.Fatal(err)
					}
					test.then(r)
					r.slowly(32*time.Minute, "current", func() bool { return i.difference() == "" })
					i.tells(test.calls...)
					if i.held()[key("same")] != same {
						r.Error("what is the same, by its content too, is another reference")
					}
					e := i.rollback()
					s := i.Status()
					if e == nil || s.Resets != 1 || s.Relists[informer.Reset] != 1 || s.Err != nil {
						r.Errorf("it reported %v, and the status is %v", e, s)
					}
					r.pass(10 * time.Minute)
					r.put("later")
					i.current()
					if n := i.Status().Resets; n != 1 {
						r.Errorf("%d resets", n)
					}
				})
			})
		})
	}
}

// forgive makes the witness accept older versions from now on.
func (w *witness) forgive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versions = map[string]string{}
}

// slowly is within for what takes long.
func (r *rig) slowly(d time.Duration, what string, ok func() bool) {
	r.Helper()
	for began := time.Now(); !ok(); r.pass(30 * time.Second) {
		if time.Since(began) > d {
			r.Fatalf("after %v not yet: %s", d, what)
		}
	}
}

// One version may mean two states: what has the version of the cache, and another content, is told of.
func TestOneVersionThatMeansTwoStates(t *testing.T) {
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			r.put("a", "v", "0")
			backup := r.server.ResourceVersion()
			i := r.start(informer.Options{Mode: mode})
			r.put("a", "v", "1")
			r.put("b")
			r.put("b", "v", "1")
			i.told()
			was := i.held()[key("a")]
			if err := r.server.Rollback(backup); err != nil {
				r.Fatal(err)
			}
			i.forgive()
			r.put("a", "v", "2")
			r.slowly(32*time.Minute, "current", func() bool { return i.difference() == "" })
			now := i.held()[key("a")]
			if was.ResourceVersion != now.ResourceVersion || was.UID != now.UID || now.Data["v"] != "2" {
				r.Errorf("a was %v %v, and is %v %v: this tests nothing", was.ResourceVersion, was.Data, now.ResourceVersion, now.Data)
			}
			i.tells("delete b", "update a")
		})
	})
}

// The restored server has a state that does not decode, so the cache keeps its own one. The next state, under the version
// of that one, is told of all the same.
func TestOneVersionThatMeansTwoStatesAfterOneThatDoesNotDecode(t *testing.T) {
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			r.put("a", "bad", "yes")
			backup := r.server.ResourceVersion()
			i := r.start(informer.Options{Mode: mode})
			r.put("a", "v", "1")
			r.put("b")
			r.put("b", "v", "1")
			i.told()
			was := i.held()[key("a")]
			if err := r.server.Rollback(backup); err != nil {
				r.Fatal(err)
			}
			i.forgive()
			r.slowly(32*time.Minute, "relisted", func() bool { return i.Status().Relists[informer.Reset] == 1 && len(i.Status().Undecodable) == 1 })
			r.put("a", "v", "2")
			r.slowly(32*time.Minute, "current", func() bool { return i.difference() == "" })
			now := i.held()[key("a")]
			if was.ResourceVersion != now.ResourceVersion || was.UID != now.UID || now.Data["v"] != "2" {
				r.Errorf("a was %v %v, and is %v %v: this tests nothing", was.ResourceVersion, was.Data, now.ResourceVersion, now.Data)
			}
		})
	})
}

// A bookmark from before what has come says the same.
func TestABookmarkThatGoesBack(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		for n := range 9 {
			r.put("b", "n", fmt.Sprint(n))
		}
		i := r.start(informer.Options{})
		i.told()
		r.on("watch", frames(true, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}`))
		r.server.DropWatches()
		r.within(5*time.Second, "relisted", func() bool { return i.Status().Relists[informer.Reset] == 1 })
		if e := i.rollback(); e == nil || !strings.Contains(e.Error(), "server went back from resource version 13 to 7, ") {
			r.Errorf("it reported %v", e)
		}
		i.current()
		i.tells()
	})
}

// fault F33, behaviour 170: servers that lag behind are no rollback, and never make the cache go back.
func TestServersThatLag(t *testing.T) {
	for _, stale := range []bool{false, true} {
		t.Run(fmt.Sprint("AllowStale: ", stale), func(t *testing.T) {
			modes(t, func(t *testing.T, mode informer.Mode) {
				bubbleOf(t, clienttest.Options{Replicas: 2}, func(r *rig) {
					lag := func() { r.server.Replica(1).SetLag(5, 0) }
					if stale {
						lag()
					}
					for n := range 8 {
						r.put("a", "n", fmt.Sprint(n))
					}
					i := r.start(informer.Options{Mode: mode, AllowStale: stale})
					lag() // later, or a client whose only connection leads to the replica would never get a consistent list
					for n := range 20 {
						r.put("a", "n", fmt.Sprint("x", n))
						r.put(fmt.Sprint("b", n))
						r.server.DropWatches()
						if n%5 == 4 {
							r.server.Compact()
						}
						r.pass(time.Second)
					}
					r.server.Replica(1).SetLag(0, 0)
					r.within(70*time.Second, "current", func() bool { return i.difference() == "" })
					if e := i.rollback(); e != nil || i.Status().Resets != 0 {
						r.Errorf("it reported %v", e)
					}
				})
			})
		})
	}
}
