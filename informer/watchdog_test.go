package informer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

// behaviours 193, 196, 197, faults F3, F31: a connection that is dead without a word is noticed by the bookmarks that do not come,
// over HTTP/1.1, and by the pings, over HTTP/2. The next one is dialled, to wherever that leads by then.
func TestAConnectionThatDiesInSilenceIsReplaced(t *testing.T) {
	for _, test := range []struct {
		name    string
		o       clienttest.Options
		mute    bool          // no bookmarks are known
		silence time.Duration // until it is noticed, at most
	}{
		{"over HTTP/1.1, by bookmarks", clienttest.Options{}, false, 3*time.Minute + time.Second},
		{"over HTTP/2, by pings", clienttest.Options{HTTP2: true}, false, time.Minute},
		{"over HTTP/1.1, by frequent bookmarks", clienttest.Options{BookmarkEvery: 5 * time.Second}, false, 91 * time.Second},
		{"over HTTP/1.1, by the time", clienttest.Options{}, true, 10*time.Minute + 31*time.Second},
		{"over HTTP/2, by pings, without bookmarks", clienttest.Options{HTTP2: true}, true, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			modes(t, func(t *testing.T, mode informer.Mode) {
				bubbleOf(t, test.o, func(r *rig) {
					r.server.MuteBookmarks(test.mute)
					r.put("a")
					i := r.start(informer.Options{Mode: mode})
					r.pass(200 * time.Second) // two bookmarks in a row, and not the end of the watch
					r.server.Freeze()
					before := i.Status()
					r.another().put("b")
					r.within(test.silence+800*time.Millisecond, "watching again", func() bool {
						_, ok := i.Reader().Get(key("b"))
						return ok
					})
					i.relisted(nil)
					if s := i.Status(); s.Err != nil || s.Watches > before.Watches+2 {
						r.Errorf("status is %v", s)
					}
					i.tells("add a", "add b")
				})
			})
		})
	}
}

// A watch over which something comes is not taken for a dead one, although it is not what the watchdog has seen before.
func TestEventsAndRecentBookmarksKeepAWatchOpen(t *testing.T) {
	for _, test := range []struct {
		name string
		f    func(r *rig)
	}{
		{"events, in the place of bookmarks", func(r *rig) {
			for range 3 {
				r.pass(time.Second)
				r.server.Bookmark()
			}
			r.server.MuteBookmarks(true)
			for n := range 8 { // for longer than three bookmarks may be missed
				r.pass(20 * time.Second)
				r.put("a", "n", fmt.Sprint(n))
			}
		}},
		{"bookmarks in quick succession, and none for a minute then", func(r *rig) {
			for range 4 {
				r.pass(time.Second)
				r.server.Bookmark()
			}
			r.server.MuteBookmarks(true)
			r.pass(80 * time.Second)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			modes(t, func(t *testing.T, mode informer.Mode) {
				bubble(t, func(r *rig) {
					i := r.start(informer.Options{Mode: mode})
					before := i.Status().Watches
					test.f(r)
					if s := i.Status(); s.Watches != before || len(i.reported()) != 0 {
						r.Errorf("status is %v, reported %v", s, i.reported())
					}
					i.current()
				})
			})
		})
	}
}

// A watch that the server does not end in time is replaced. Where something has come over it, that is no failure: there may be
// nothing else to come.
func TestAWatchThatTheServerForgetsToEnd(t *testing.T) {
	for _, delivered := range []bool{true, false} {
		t.Run(fmt.Sprint("delivered ", delivered), func(t *testing.T) {
			modes(t, func(t *testing.T, mode informer.Mode) {
				bubble(t, func(r *rig) {
					r.server.MuteBookmarks(true)
					i := r.start(informer.Options{Mode: mode})
					r.server.DropWatches() // the next one is without initial events
					r.pass(time.Minute)
					if delivered {
						r.put("a")
						synctest.Wait()
					}
					before, told := i.Status().Watches, len(i.reported())
					r.server.Freeze()
					r.pass(11 * time.Minute)
					if s, got := i.Status(), i.reported()[told:]; len(got) == 0 != delivered || s.Watches <= before {
						r.Errorf("reported %v, status is %v", got, s)
					}
				})
			})
		})
	}
}

// That a server is silent was reported as context.Canceled, and as an end of a context, although no caller's had ended: a program
// that leaves such errors out said nothing.
func TestTheSilenceOfAServerIsATimeout(t *testing.T) {
	for _, test := range []struct {
		name  string
		mode  informer.Mode
		fault func(r *rig)
		pass  time.Duration
		err   string
	}{
		{"of a watch with bookmarks", informer.Paged, func(r *rig) { r.pass(200 * time.Second); r.server.Freeze() }, 4 * time.Minute, "server sent neither an event nor a bookmark for 3m"},
		{"of a watch without", informer.Paged, func(r *rig) {
			r.server.MuteBookmarks(true)
			r.server.DropWatches()
			r.pass(time.Second)
			r.server.Freeze()
		}, 11 * time.Minute, "did not end the watch"},
		{"of a streaming list", informer.Streaming, func(r *rig) { r.on("stream", frames(true, startObject)); r.lose() }, 40 * time.Second, "no progress for 30s"},
		{"of a paged list", informer.Paged, func(r *rig) {
			r.on("list", frames(true, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[`))
			r.lose()
		}, 3 * time.Minute, "server sent nothing for 2m"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				cfg := r.server.Config()
				cfg.StallTimeout = -1
				i := r.with(cfg).start(informer.Options{Mode: test.mode})
				test.fault(r)
				r.pass(test.pass)
				found := false
				for _, err := range i.reported() {
					if errors.Is(err, context.Canceled) || apierrors.NetworkOf(err) == apierrors.NetworkContext {
						r.Errorf("it is the end of a context: %v", err)
					}
					if strings.Contains(err.Error(), test.err) {
						found = true
						if op := (*client.OpError)(nil); !errors.As(err, &op) || op.Resource.Resource != "configmaps" {
							r.Errorf("it does not say what failed: %v", err)
						}
						if !strings.Contains(test.err, "30s") && apierrors.NetworkOf(err) != apierrors.NetworkTimeout {
							r.Errorf("it is %s, want a timeout: %v", apierrors.NetworkOf(err), err)
						}
					}
				}
				if !found {
					r.Errorf("reported %v", i.reported())
				}
			})
		})
	}
}

// lose makes what has been watched too old.
func (r *rig) lose() {
	r.Helper()
	r.server.DropWatches()
	r.put("lost", "n", time.Now().String())
	r.server.Compact()
}

// fault F14, behaviour 197: a server without bookmarks whose versions expire is listed when they have, and no more often.
func TestAServerThatStopsToSendBookmarks(t *testing.T) {
	for _, from := range []string{"the start", "some time on"} {
		t.Run("from "+from, func(t *testing.T) {
			modes(t, func(t *testing.T, mode informer.Mode) {
				bubble(t, func(r *rig) {
					r.put("a")
					r.server.MuteBookmarks(from == "the start")
					i := r.start(informer.Options{Mode: mode})
					i.told()
					if from != "the start" {
						r.pass(10 * time.Minute)
						r.server.MuteBookmarks(true)
					}
					for range 12 {
						r.put("elsewhere")
						r.pass(time.Hour)
					}
					r.pass(12 * time.Hour) // in which nothing happens
					bodies := decoded.Load()
					s := i.Status()
					// Watches last for 5 to 10 minutes.
					if s.Relists[informer.Silent] > 1 || len(s.Relists) > 1 || s.Watches > 24*60/5+12 {
						r.Errorf("a day of mostly nothing led to %v", s)
					}
					r.server.Compact()
					r.pass(time.Hour)
					i.current()
					if n := decoded.Load() - bodies; n > 2*2 { // current decodes what it compares with
						r.Errorf("%d objects were decoded", n)
					}
				})
			})
		})
	}
}

// fault F4: a server that ends its watches every 3 s, with traffic, is followed without a relist, and without longer waits.
func TestWatchesThatEndEveryThreeSeconds(t *testing.T) {
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) {
			i := r.start(informer.Options{Mode: mode})
			for n := range 100 {
				r.put("a", "n", fmt.Sprint(n))
				r.pass(2 * time.Second)
				r.put("b", "n", fmt.Sprint(n))
				r.pass(time.Second)
				r.server.EndWatches()
			}
			r.within(800*time.Millisecond, "current", func() bool { return i.difference() == "" })
			i.relisted(nil)
			if errs := i.reported(); len(errs) != 0 {
				r.Errorf("reported %v", errs)
			}
		})
	})
}

// faults F32, F44: the informers that a server has served come back spread out when it comes back. With the waits of a
// backoff of 800 ms to 30 s those are, after 20 s, spread over 5 s and more, and no second sees more than a fifth of their requests,
// a list and a watch each.
func TestManyInformersComeBackSpreadOut(t *testing.T) {
	const informers = 500
	bubble(t, func(r *rig) {
		var down atomic.Bool
		var back journal[time.Time]
		for range informers {
			i := r.informer(informer.Options{Mode: informer.Paged})
			i.run()
			r.Cleanup(i.stop)
		}
		r.within(time.Minute, "all watch", func() bool { return r.server.Watches() == informers })
		r.server.Intercept(func(*http.Request) http.HandlerFunc {
			if down.Load() {
				return clienttest.Reset()
			}
			back.add(time.Now())
			return nil
		})
		down.Store(true)
		r.server.DropWatches()
		r.pass(20 * time.Second)
		down.Store(false)
		r.within(35*time.Second, "all watch again", func() bool { return r.server.Watches() == informers })
		at := back.list()
		if spread := at[len(at)-1].Sub(at[0]); spread < 5*time.Second {
			r.Errorf("they came back within %v", spread)
		}
		for first := range at {
			n := 0
			for n < len(at)-first && at[first+n].Sub(at[first]) < time.Second {
				n++
			}
			if n > len(at)/5 {
				r.Errorf("%d of %d requests came within a second", n, len(at))
				break
			}
		}
	})
}
