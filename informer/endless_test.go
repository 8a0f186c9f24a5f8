package informer_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/filler"
)

// Faults that never end. The cache must be as current as the server allows, and the status must say how current it is.

// unwatched answers every watch, streaming lists among them, in this way.
func (r *rig) unwatched(h http.HandlerFunc) {
	r.server.Intercept(func(q *http.Request) http.HandlerFunc {
		if what := asks(q); what == "watch" || what == "stream" {
			return h
		}
		return nil
	})
}

// leave makes the server one that nobody can reach, until comeBack.
func (r *rig) leave() {
	r.server.Refuse(syscall.ECONNREFUSED)
	r.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.Reset() }) // on the connections that are there
	r.server.DropWatches()
}

func (r *rig) comeBack() {
	r.server.Refuse(nil)
	r.heal()
}

// lasting is a runner that needs an informer for as long as it runs.
type lasting struct{ needing }

func (lasting) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// endless are the answers to watches of a server that answers lists.
var endless = []struct {
	name   string
	answer http.HandlerFunc
	first  time.Duration // until there is a list
	polls  time.Duration // until a change is in the cache, an hour later
	err    string
}{
	{"403, by a role without watch", failure(403, "Forbidden", "no watch"), time.Second, 40 * time.Second, "Forbidden (403): no watch"},
	{"405, as the metrics API", failure(405, "MethodNotAllowed", "no watch"), time.Second, 40 * time.Second, "MethodNotAllowed (405)"},
	{"400", failure(400, "BadRequest", "no watch"), time.Second, 40 * time.Second, "BadRequest (400)"},
	{"406", failure(406, "NotAcceptable", "no watch"), time.Second, 40 * time.Second, "NotAcceptable (406)"},
	{"422", failure(422, "Invalid", "no watch"), time.Second, 40 * time.Second, "Invalid (422)"},
	{"501", failure(501, "", "no watch"), time.Second, 40 * time.Second, "(501)"},
	{"401", failure(401, "Unauthorized", "no watch"), 10 * time.Second, 40 * time.Second, "Unauthorized (401)"},
	{"404", failure(404, "NotFound", "no watch"), 90 * time.Second, 2 * time.Minute, "NotFound (404)"},
	{"410", failure(410, "Expired", "no watch"), 10 * time.Second, 2 * time.Minute, "Expired (410)"},
	{"429", clienttest.TooManyRequests(time.Second), 10 * time.Second, 40 * time.Second, "TooManyRequests (429)"},
	{"500", failure(500, "InternalError", "no watch"), 10 * time.Second, 40 * time.Second, "InternalError (500)"},
	{"502", failure(502, "", "no watch"), 10 * time.Second, 40 * time.Second, "(502)"},
	{"503", failure(503, "ServiceUnavailable", "no watch"), 10 * time.Second, 40 * time.Second, "ServiceUnavailable (503)"},
	{"504", failure(504, "Timeout", "no watch"), 10 * time.Second, 40 * time.Second, "Timeout (504)"},
	{"every replica lags behind", tooLarge(0), 10 * time.Second, 2 * time.Minute, "(504)"},
	{"HTML", html, 10 * time.Second, 40 * time.Second, "text/html"},
	{"resets", clienttest.Reset(), 40 * time.Second, 40 * time.Second, "reset"},
	{"no answer", clienttest.Hang(), 5 * time.Minute, 3 * time.Minute, "no answer within"},
	{"500 in the stream", frames(false, errorEvent(500, "InternalError", "")), 10 * time.Second, 2 * time.Minute, "InternalError (500)"},
	{"503 in the stream", frames(false, errorEvent(503, "ServiceUnavailable", "")), 10 * time.Second, 40 * time.Second, "ServiceUnavailable (503)"},
	{"empty", frames(false), 10 * time.Second, 3 * time.Minute, ""},
}

func TestACacheFollowsAServerThatAnswersListsAndNeverServesAWatch(t *testing.T) {
	for _, test := range endless {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a")
				r.unwatched(test.answer)
				i := r.informer(informer.Options{})
				g := &informer.Group{Runners: []informer.Runner{i}, MustBeFresh: []informer.Runner{i}}
				running := r.running(g)
				r.within(test.first, "there is a cache", func() bool { return i.Status().Synced })
				i.current()
				r.pass(time.Hour)
				r.put("b")
				r.remove("a")
				r.within(test.polls, "the cache is current", func() bool { return i.difference() == "" })
				i.tells("add a", "add b", "delete a")
				s := i.Status()
				if s.Stale || g.Ready() != nil || g.Live() != nil {
					r.Errorf("after an hour: ready is %v, live is %v, the status is %v", g.Ready(), g.Live(), s)
				}
				if test.err != "" && (s.Err == nil || !strings.Contains(s.Err.Error(), test.err)) || !i.hasReported(test.err) {
					r.Errorf("the status is %v, want %q", s, test.err)
				}
				r.heal()
				r.pass(2 * time.Minute)
				r.put("c")
				i.current()
				if s := i.Status(); s.Err != nil || s.Polling != nil || !s.PollingSince.IsZero() || r.server.Watches() != 1 {
					r.Errorf("after the fault the status is %v, with %d watches", s, r.server.Watches())
				}
				running.stop()
			})
		})
	}
}

// Between two polls are 24 s to 30 s, or 20 to 25 times what a list takes if that is longer.
func TestPollsGrowRare(t *testing.T) {
	for _, test := range []struct {
		takes, least, most time.Duration
	}{
		{0, 24 * time.Second, 30 * time.Second},
		{10 * time.Second, 200 * time.Second, 251 * time.Second},
	} {
		t.Run(fmt.Sprint(test.takes), func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a")
				var asked journal[time.Time]
				refuse := func() {
					r.server.Intercept(func(q *http.Request) http.HandlerFunc {
						switch asks(q) {
						case "watch", "stream":
							return failure(403, "Forbidden", "no watch")
						case "list":
							asked.add(time.Now())
							time.Sleep(test.takes)
						}
						return nil
					})
				}
				refuse()
				i := r.start(informer.Options{Mode: informer.Paged, PageSize: -1})
				r.pass(5 * time.Hour)
				at := asked.list()
				for n, least := 1, max(test.takes, time.Second); least < test.least; n, least = n+1, 2*least { // it doubles
					if pause := at[n].Sub(at[n-1]) - test.takes; pause < least || pause > least*5/4 {
						r.Errorf("%v between poll %d and the next, want %v to %v", pause, n, least, least*5/4)
					}
				}
				for n := len(at) - 20; n < len(at); n++ {
					if pause := at[n].Sub(at[n-1]) - test.takes; pause < test.least || pause > test.most {
						r.Errorf("%v between two polls, want %v to %v", pause, test.least, test.most)
					}
				}
				if s := i.Status(); s.Polling == nil || time.Since(s.PollingSince) < 4*time.Hour {
					r.Errorf("the status is %v", s)
				}

				r.heal()
				r.within(10*time.Minute, "watching", func() bool { return r.server.Watches() == 1 })
				r.pass(3 * time.Minute) // then the watch breaks and does not end
				cut := time.Now()
				refuse()
				r.server.DropWatches()
				r.pass(time.Hour)
				again := asked.list()[len(at):]
				if first := again[slices.IndexFunc(again, cut.Before)].Sub(cut); first > max(test.takes, time.Second)*5/4+2*time.Second {
					r.Errorf("the first poll of the second time was after %v", first)
				}
			})
		})
	}
}

// A server that can neither be listed nor watched, from the start or later, in whatever way.
func TestAnHourWithoutTheServer(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"403": failure(403, "Forbidden", "no"), "404": failure(404, "NotFound", "no"), "500": failure(500, "InternalError", "no"),
		"429": clienttest.TooManyRequests(time.Second), "hang": clienttest.Hang(), "reset": clienttest.Reset(), "HTML": html,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a")
				i := r.informer(informer.Options{})
				all := func(*http.Request) http.HandlerFunc { return answer }
				r.server.Intercept(all)
				running := r.running(i)
				r.pass(time.Hour)
				if s := i.Status(); s.Synced || s.Stale || s.Err == nil || i.Unsynced() == nil {
					r.Errorf("an hour without a list: %v", s)
				}
				r.heal()
				r.within(3*time.Minute, "synced", func() bool { return i.Status().Synced })
				r.server.Intercept(all)
				r.server.DropWatches()
				r.pass(4 * time.Minute)
				if s := i.Status(); s.Stale || filler.Of(i).Stale() != nil {
					r.Errorf("after 4 minutes: %v", s)
				}
				r.pass(56 * time.Minute)
				if s := i.Status(); !s.Synced || !s.Stale || s.Err == nil || filler.Of(i).Stale() == nil || i.Reader().Len() != 1 {
					r.Errorf("an hour after it was current: %v", s)
				}
				r.heal()
				r.within(3*time.Minute, "watching", func() bool { return r.server.Watches() == 1 && !i.Status().Stale })
				i.current()
				running.stop()
			})
		})
	}
}

// A group is not ready while a cache is stale that its controllers need, unless it says otherwise. It lives.
func TestReadinessWantsFreshCaches(t *testing.T) {
	for _, test := range []struct {
		name  string
		of    func(needed, other informer.Runner) []informer.Runner
		stale string // what Ready names
	}{
		{"what controllers need", func(_, _ informer.Runner) []informer.Runner { return nil }, `informer "needed" of configmaps.v1: the cache was last renewed 1`},
		{"nothing", func(_, _ informer.Runner) []informer.Runner { return []informer.Runner{} }, ""},
		{"what is named", func(_, other informer.Runner) []informer.Runner { return []informer.Runner{other} }, `informer "other" of configmaps.v1: the cache was last renewed 1`},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				silent := func(error) {}
				needed := informer.New(r.things, informer.Options{Name: "needed", OnError: silent})
				other := informer.New(r.things, informer.Options{Name: "other", OnError: silent})
				never := informer.New(r.things, informer.Options{Name: "never", OnError: silent, StaleAfter: -1})
				g := &informer.Group{Runners: []informer.Runner{&lasting{needing{needed}}, &lasting{needing{never}}, other}, MustBeFresh: test.of(needed, other)}
				running := r.running(g)
				r.pass(10 * time.Minute)
				if err := g.Ready(); err != nil {
					r.Error(err)
				}
				r.leave()
				r.pass(10 * time.Minute)
				err := g.Ready()
				switch {
				case g.Live() != nil:
					r.Errorf("it is not alive: %v", g.Live())
				case test.stale == "" && err != nil, test.stale != "" && (err == nil || !strings.Contains(err.Error(), test.stale) || strings.Count(err.Error(), "renewed") != 1):
					r.Errorf("ready is %v, want %q", err, test.stale)
				}
				r.comeBack()
				r.pass(2 * time.Minute)
				if err := g.Ready(); err != nil {
					r.Error(err)
				}
				running.stop()
			})
		})
	}
	bubble(t, func(r *rig) {
		g := &informer.Group{MustBeFresh: []informer.Runner{informer.New(r.things, informer.Options{})}}
		r.says(g.Run(r.Context()), "MustBeFresh[0] must be in Services or Runners, or a cache that one of them needs")
	})
}

// The watch of a server that sends no bookmarks is open, and so the cache is fresh although nothing happens.
func TestAQuietServerIsFresh(t *testing.T) {
	for _, mute := range []bool{true, false} {
		t.Run(fmt.Sprint(mute), func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.server.MuteBookmarks(mute)
				i := r.start(informer.Options{StaleAfter: 2 * time.Minute})
				for range 60 {
					r.pass(time.Minute)
					if s := i.Status(); s.Stale || time.Since(s.Renewed) > 2*time.Minute {
						r.Fatalf("the status is %v, renewed %v ago", s, time.Since(s.Renewed))
					}
				}
			})
		})
	}
}

// The error of an outage is gone once a watch is open, although nothing comes.
func TestTheErrorEndsWhenTheWatchIsOpenAgain(t *testing.T) {
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			r.server.MuteBookmarks(true)
			var got said
			i := r.running(informer.New(r.things, informer.Options{Mode: mode, Logger: got.logger()}))
			r.pass(time.Minute)
			r.leave()
			r.pass(time.Minute)
			r.comeBack()
			r.within(35*time.Second, "watching", func() bool { return r.server.Watches() == 1 })
			r.pass(2 * time.Second)
			i.stop()
			if lines := got.with("works again"); len(lines) != 1 {
				r.Errorf("logged %q", got.lines)
			}
		})
	})
}

// Lists of the metrics API have no version, and neither have its objects; it serves no watch.
func TestACollectionWithoutVersionsIsPolled(t *testing.T) {
	for _, watches := range []http.HandlerFunc{failure(405, "MethodNotAllowed", "the server does not allow this method"), failure(403, "Forbidden", "no")} {
		bubble(t, func(r *rig) {
			var value atomic.Value
			value.Store("1")
			r.server.Intercept(func(q *http.Request) http.HandlerFunc {
				if what := asks(q); what == "watch" || what == "stream" {
					return watches
				}
				return frames(false, fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[
					{"metadata":{"name":"same","namespace":"default"},"data":{"v":"0"}},{"metadata":{"name":%q,"namespace":"default"},"data":{"v":%q}}]}`, "a", value.Load()))
			})
			i := r.informer(informer.Options{})
			i.run()
			r.Cleanup(i.stop)
			r.within(time.Minute, "there is a cache", func() bool { return i.WaitSyncedNow() })
			same := i.held()[key("same")]
			r.pass(time.Hour)
			value.Store("2")
			r.pass(40 * time.Second)
			held := i.held()
			if len(held) != 2 || held[key("a")].Data["v"] != "2" || held[key("same")] != same {
				r.Errorf("the cache has %v", held)
			}
			i.tells("add a", "add same", "update a")
			if s := i.Status(); s.Polling == nil || !strings.Contains(s.Polling.Error(), "(40") || s.Stale {
				r.Errorf("the status is %v", s)
			}
		})
	}
}

// WaitSyncedNow reports whether the informer is synced, and says so to those who wait.
func (i *informed) WaitSyncedNow() bool {
	return i.Status().Synced && i.WaitSynced(i.r.Context()) == nil && i.Unsynced() == nil
}

// A server without streaming lists is no error.
func TestTheFallbackToPagedListsIsNotAnError(t *testing.T) {
	for _, serves := range []clienttest.StreamingLists{clienttest.StreamingRefused, clienttest.StreamingIgnored, clienttest.StreamingEndless} {
		bubbleOf(t, clienttest.Options{StreamingLists: serves}, func(r *rig) {
			r.put("a")
			i := r.start(informer.Options{})
			i.current()
			if errs := i.reported(); len(errs) > 0 || i.Status().Err != nil {
				r.Errorf("reported %v, status %v", errs, i.Status())
			}
		})
	}
}

// A server is restored from a backup while the informer cannot reach it. When it can, the server is behind the cache; soon it is not.
func TestARestoredServerUnderLoad(t *testing.T) {
	for name, away := range map[string]func(r *rig, restore func()){
		"refuses meanwhile": func(r *rig, restore func()) {
			r.leave()
			r.pass(20 * time.Second)
			restore()
			r.comeBack()
		},
		"resets meanwhile": func(r *rig, restore func()) {
			r.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.Reset() })
			r.server.DropWatches()
			r.pass(20 * time.Second)
			restore()
			r.heal()
		},
		"answers 503 meanwhile": func(r *rig, restore func()) {
			r.server.Intercept(func(*http.Request) http.HandlerFunc { return failure(503, "ServiceUnavailable", "etcd") })
			r.server.DropWatches()
			r.pass(20 * time.Second)
			restore()
			r.heal()
		},
		"cuts its watches": func(r *rig, restore func()) {
			restore()
			r.server.DropWatches()
		},
	} {
		t.Run(name, func(t *testing.T) {
			modes(t, func(t *testing.T, mode informer.Mode) {
				bubble(t, func(r *rig) {
					r.put("gone")
					r.put("changed", "v", "old")
					backup := r.server.ResourceVersion()
					i := r.start(informer.Options{Mode: mode})
					r.remove("gone")
					r.put("ghost")
					for n := range 60 { // so that the server is behind for longer than any wait of the informer
						r.put("changed", "v", fmt.Sprint(n))
					}
					i.current()
					was := i.Status().ResourceVersion
					i.forgive()
					away(r, func() {
						if err := r.server.Rollback(backup); err != nil {
							r.Fatal(err)
						}
					})
					busy := func() { // another object of the server, such as a lease
						r.put("busy", "v", time.Now().String())
						r.pass(time.Second)
					}
					for range 120 {
						busy()
					}
					if order, _ := meta.CompareVersions(r.server.ResourceVersion(), was); order <= 0 {
						r.Fatalf("the server is at %s, and was at %s", r.server.ResourceVersion(), was)
					}
					i.current()
					if i.rollback() == nil || i.Status().Resets != 1 {
						r.Errorf("the rollback is not reported: %v, %v", i.reported(), i.Status())
					}
				})
			})
		})
	}
}

// A load balancer that cuts quiet watches, and a server that ends them, cause no list.
func TestWatchesThatAreCutCauseNoList(t *testing.T) {
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			r.put("a")
			i := r.start(informer.Options{Mode: mode})
			for range 60 {
				r.pass(55 * time.Second)
				r.server.DropWatches()
			}
			r.pass(35 * time.Second)
			r.put("b")
			i.current()
			i.relisted(nil)
			if s := i.Status(); s.Lists != 1 || s.Polling != nil {
				r.Errorf("the status is %v", s)
			}
		})
	})
}

// A further Run.

func TestAFurtherRunIsSyncedOnceItIsCurrent(t *testing.T) {
	for _, test := range []struct {
		name    string
		between func(r *rig)
		during  func(r *rig)  // once it runs
		after   time.Duration // when it is synced
		relists map[informer.Cause]int
	}{
		{name: "nothing has happened", between: func(*rig) {}},
		{name: "its objects have changed", between: func(r *rig) { r.put("a", "v", "2"); r.remove("b"); r.put("c") }},
		{
			name: "something else has changed", between: func(r *rig) { r.putIn("kube-system", "x") },
			after: time.Second,
		},
		{
			name: "its objects and then others", between: func(r *rig) { r.remove("b"); r.putIn("kube-system", "x") },
			after: time.Second,
		},
		{
			name:    "something else has changed, and there are no bookmarks",
			between: func(r *rig) { r.putIn("kube-system", "x"); r.server.MuteBookmarks(true) },
			after:   4 * time.Second, relists: map[informer.Cause]int{informer.Resumed: 1},
		},
		{
			name: "the history is gone", between: func(r *rig) { r.remove("b"); r.server.Compact() },
			after: 2 * time.Second, relists: map[informer.Cause]int{informer.Expired: 1},
		},
		{
			name:    "the server cannot be reached at first",
			between: func(r *rig) { r.remove("b"); r.leave() },
			during:  func(r *rig) { r.pass(20 * time.Second); r.comeBack() },
			after:   30 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			modes(t, func(t *testing.T, mode informer.Mode) {
				bubble(t, func(r *rig) {
					r.put("a")
					r.put("b")
					i := r.informer(informer.Options{Mode: mode, Namespace: "default"})
					i.run()
					if err := i.WaitSynced(r.Context()); err != nil {
						r.Fatal(err)
					}
					synctest.Wait()
					i.stop()
					if s := i.Status(); s.Synced || i.Unsynced() == nil || s.Objects != 2 {
						r.Errorf("between two Runs the status is %v", s)
					}
					test.between(r)
					r.pass(time.Hour)
					sub := i.Reader().Subscribe(cache.HandlerFuncs[*Thing]{})
					i.run()
					r.Cleanup(i.stop)
					if test.during != nil {
						synctest.Wait()
						if i.Status().Synced {
							r.Errorf("it is synced without the server: %v", i.Status())
						}
						test.during(r)
					}
					began := time.Now()
					if err := i.WaitSynced(r.Context()); err != nil {
						r.Fatal(err)
					}
					if d := differ("cache", i.held(), first(r.truth(i.o))); d != "" {
						r.Errorf("it is synced, and %s", d)
					}
					if err := sub.WaitSynced(r.Context()); err != nil {
						r.Error(err)
					}
					if d := time.Since(began); d > test.after {
						r.Errorf("synced after %v, want %v", d, test.after)
					}
					i.relisted(test.relists)
				})
			})
		})
	}
}

func first[A, B any](a A, _ B) A { return a }

// The next Run finds out whether the server serves watches, and must not say that it polls before it knows.
func TestAFurtherRunDoesNotPollFromTheStart(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		r.unwatched(failure(403, "Forbidden", "no watch"))
		i := r.informer(informer.Options{})
		first := r.running(i)
		r.within(time.Minute, "it polls", func() bool { return i.Status().Polling != nil })
		first.stop()
		r.leave()
		second := r.running(i)
		r.pass(time.Minute)
		if s := i.Status(); s.Polling != nil || !s.PollingSince.IsZero() {
			r.Errorf("the status is %v", s)
		}
		second.stop()
	})
}

func TestTheStatusSaysWhyAnInformerThatPollsLists(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		r.unwatched(failure(405, "MethodNotAllowed", "no watch"))
		i := r.informer(informer.Options{})
		running := r.running(i)
		r.pass(time.Minute)
		if s := i.Status(); s.Mode != informer.Paged || !strings.HasPrefix(s.Why, "server does not serve watches: ") || !strings.Contains(s.Why, "405") {
			r.Errorf("the status is %v, because %q", s, s.Why)
		}
		running.stop()
	})
}

// Status.Polling is nil while an informer waits for a watch: here a list without changes has just shown that the silent
// watches had missed nothing, and now they cannot be opened.
func TestAnInformerThatWaitsForAWatchDoesNotPoll(t *testing.T) {
	bubble(t, func(r *rig) {
		var calm atomic.Bool // no list finds changes, and no watch can be opened
		lists := 0
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			switch what := asks(q); {
			case what == "list" && !calm.Load():
				lists++
				r.put("a", "n", fmt.Sprint(lists))
			case what == "watch" && calm.Load():
				return clienttest.Reset()
			case what == "watch":
				return unheard
			}
			return nil
		})
		i := r.informer(informer.Options{Mode: informer.Paged})
		running := r.running(i)
		r.within(2*time.Hour, "it polls", func() bool { return i.Status().Polling != nil })
		calm.Store(true)
		r.within(2*time.Minute, "it waits for a watch", func() bool { return i.Status().Polling == nil })
		if s := i.Status(); !s.PollingSince.IsZero() || s.State != informer.Waiting {
			r.Errorf("the status is %v", s)
		}
		running.stop()
	})
}

// unheard is a watch without events, until its time is over.
func unheard(w http.ResponseWriter, q *http.Request) {
	asked, _ := time.ParseDuration(q.URL.Query().Get("timeoutSeconds") + "s")
	ctx, cancel := context.WithTimeout(q.Context(), asked)
	defer cancel()
	frames(true)(w, q.WithContext(ctx))
}
