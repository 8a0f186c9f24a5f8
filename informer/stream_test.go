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

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/handle"
)

// Streaming lists: how an informer finds out whether a server serves them, what it does where it does not, and what becomes
// of what happens while one comes.

const (
	startObject = `{"type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"default","uid":"x","resourceVersion":"2"}}}`
	plainMark   = `{"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"resourceVersion":"3"}}}`
	wrongMark   = `{"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"resourceVersion":"3","annotations":{"k8s.io/initial-events-end":"false"}}}}`
)

const failsAgain = "streaming lists have failed three times in a row: watch configmaps: "

// behaviours 199, 203, 204: what a server answers to a streaming list, and what that means.
func TestAutoFindsOutWhatTheServerServes(t *testing.T) {
	for _, test := range []struct {
		name   string
		lists  clienttest.StreamingLists
		answer http.HandlerFunc // to a streaming list, as long as it lasts
		lasts  time.Duration
		within time.Duration // synced, since then
		mode   informer.Mode // of the list that works
		why    string
		known  bool // whether the answer is remembered
	}{
		{name: "it serves them", mode: informer.Streaming, why: "server serves streaming lists", known: true},
		{name: "it refuses them", lists: clienttest.StreamingRefused, mode: informer.Paged, why: "(422)", known: true},
		{
			name: "it does not know the parameters", lists: clienttest.StreamingIgnored, within: 31 * time.Second,
			mode: informer.Paged, why: "no progress for 30s", known: true,
		},
		{
			name: "it never ends them", lists: clienttest.StreamingEndless, within: 31 * time.Second,
			mode: informer.Paged, why: "no progress for 30s", known: true,
		},
		{
			name: "it says 400", answer: failure(400, "BadRequest", "what?"), lasts: time.Minute,
			mode: informer.Paged, why: "BadRequest (400)", known: true,
		},
		{
			name: "it says 405, as one without watches", answer: failure(405, "MethodNotAllowed", ""), lasts: time.Second,
			mode: informer.Paged, why: "(405)", known: true,
		},
		{
			name: "it says 501", answer: failure(501, "", ""), lasts: time.Second,
			mode: informer.Paged, why: "(501)", known: true,
		},
		{
			name: "it says within the stream that it is invalid", answer: frames(false, errorEvent(422, "Invalid", "")), lasts: time.Second,
			mode: informer.Paged, why: "(422)", known: true,
		},
		{
			name: "it sends an ordinary bookmark", answer: frames(true, startObject, plainMark), lasts: time.Second,
			mode: informer.Paged, why: "an ordinary bookmark", known: true,
		},
		{
			name: "it sends a bookmark with another value of the annotation", answer: frames(true, startObject, wrongMark), lasts: time.Second,
			mode: informer.Paged, why: "an ordinary bookmark", known: true,
		},
		{
			name: "it ends the watch", answer: frames(false, startObject), lasts: time.Second,
			mode: informer.Paged, why: ": the watch ended", known: true,
		},
		{
			name: "it sends what is no event", answer: frames(false, startObject, unknownType), lasts: time.Minute,
			mode: informer.Paged, why: "its type must be ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", known: true,
		},
		{
			name: "it fails within the stream (behaviour 177)", answer: frames(false, errorEvent(500, "InternalError", "")), lasts: time.Minute,
			mode: informer.Paged, why: "(500)", known: true,
		},
		{
			name: "401 is no answer to the question", answer: failure(401, "Unauthorized", ""), lasts: time.Minute,
			mode: informer.Paged, why: failsAgain,
		},
		{
			name: "nor is 403, but a paged list may be allowed (fault F29)", answer: failure(403, "Forbidden", ""), lasts: time.Second,
			mode: informer.Paged, why: "needs permission to watch: watch configmaps: server said Forbidden (403)",
		},
		{
			name: "nor 404", answer: failure(404, "NotFound", ""), lasts: time.Minute,
			mode: informer.Paged, why: failsAgain,
		},
		{
			name: "nor 429", answer: clienttest.TooManyRequests(time.Second), lasts: time.Minute,
			mode: informer.Paged, why: failsAgain,
		},
		{
			name: "nor 500", answer: failure(500, "InternalError", ""), lasts: time.Minute,
			mode: informer.Paged, why: failsAgain,
		},
		{
			name: "nor 410", answer: failure(410, "Expired", ""), lasts: time.Minute,
			mode: informer.Paged, why: failsAgain,
		},
		{
			name: "nor a version that the server does not have", answer: tooLarge(0), lasts: time.Minute,
			mode: informer.Paged, why: failsAgain,
		},
		{
			name: "nor the page of a proxy (fault F25)", answer: html, lasts: time.Minute,
			mode: informer.Paged, why: failsAgain,
		},
		{
			name: "nor a reset (behaviour 201)", answer: clienttest.Reset(), lasts: time.Minute,
			mode: informer.Paged, why: failsAgain,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubbleOf(t, clienttest.Options{StreamingLists: test.lists}, func(r *rig) {
				r.put("a")
				r.put("b")
				if test.answer != nil {
					r.on("stream", test.answer)
				}
				i := r.informer(informer.Options{})
				i.run()
				r.Cleanup(i.stop)
				if test.lasts > 0 {
					r.pass(test.lasts)
					r.heal()
				}
				r.within(test.within+time.Second, "synced", func() bool { return i.Status().Synced })
				s := i.Status()
				if s.Mode != test.mode || !strings.Contains(s.Why, test.why) {
					r.Errorf("it listed %v because %q, want %v because %q", s.Mode, s.Why, test.mode, test.why)
				}
				has, known := handle.Of(r.things).StreamingLists.Known()
				if known != test.known || has != (test.known && test.mode == informer.Streaming) {
					r.Errorf("the client has learned %v, %v", has, known)
				}
				r.put("c")
				i.current()
				i.tells("add a", "add b", "add c")
				i.relisted(nil)
			})
		})
	}
}

// A streaming list takes the permission to watch, and a paged one that to list. An informer without the former never synced,
// although the server would have told it everything.
func TestOnePermissionIsEnoughForAList(t *testing.T) {
	for _, test := range []struct {
		name    string
		allowed string
		mode    informer.Mode
	}{
		{"to list only", "list", informer.Paged},
		{"to watch only", "watch", informer.Streaming},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a")
				permit := func(verbs string) {
					r.server.Intercept(func(q *http.Request) http.HandlerFunc {
						if verb := clienttest.RequestOf(q).Verb; (verb == "list" || verb == "watch") && !strings.Contains(verbs, verb) {
							return failure(403, "Forbidden", "not yours")
						}
						return nil
					})
				}
				permit("none")
				i := r.informer(informer.Options{})
				i.run()
				r.Cleanup(i.stop)
				r.pass(time.Hour)
				r.says(i.Status().Err, "list configmaps: server said Forbidden (403): not yours")

				permit(test.allowed)
				r.within(35*time.Second, "synced", func() bool { return i.Status().Synced })
				i.tells("add a")
				s := i.Status()
				if s.Mode != test.mode {
					r.Errorf("it listed %v because %q, want %v", s.Mode, s.Why, test.mode)
				}
				if test.allowed == "list" { // the cache stays readable, and the status says what it lacks
					r.says(s.Err, "watch configmaps: server said Forbidden (403): not yours")
					if s.State != informer.Waiting {
						r.Errorf("status is %v", s)
					}
				}

				// A relist finds its way in the same manner.
				permit("list watch")
				r.pass(35 * time.Second)
				permit(test.allowed)
				r.server.DropWatches()
				r.put("b")
				r.server.Compact()
				r.pass(time.Minute)
				permit("list watch")
				r.within(35*time.Second, "current", func() bool { return i.difference() == "" })
				i.tells("add b")
				want := map[informer.Cause]int{informer.Expired: 1}
				if test.allowed == "list" { // and to poll while it may not watch
					want = map[informer.Cause]int{informer.Polled: i.Status().Relists[informer.Polled]}
				}
				i.relisted(want)
				if r.pass(2 * time.Minute); i.Status().Err != nil || r.server.Watches() != 1 {
					r.Errorf("afterwards the status is %v", i.Status())
				}
			})
		})
	}
}

// What the client has learned holds for every informer of the resource, for an hour.
func TestTheAnswerIsRemembered(t *testing.T) {
	bubbleOf(t, clienttest.Options{StreamingLists: clienttest.StreamingRefused}, func(r *rig) {
		r.put("a")
		var streams atomic.Int32
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if asks(q) == "stream" {
				streams.Add(1)
			}
			return nil
		})
		r.start(informer.Options{})
		second := r.start(informer.Options{LabelSelector: "a=b"})
		if n := streams.Load(); n != 1 {
			r.Errorf("%d streaming lists were asked for, want one", n)
		}
		if s := second.Status(); s.Mode != informer.Paged || !strings.Contains(s.Why, "within the last hour") {
			r.Errorf("the second informer listed %v because %q", s.Mode, s.Why)
		}
		r.server.SetStreamingLists(clienttest.StreamingServed)
		r.pass(time.Hour)
		third := r.start(informer.Options{LabelSelector: "c=d"})
		if s := third.Status(); s.Mode != informer.Streaming || streams.Load() != 2 {
			r.Errorf("after an hour it listed %v because %q", s.Mode, s.Why)
		}
	})
}

// A black hole is no answer about streaming lists: neither the one nor the other list worked.
func TestSilenceIsRememberedOnlyIfAPagedListWorks(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		r.on("collection", clienttest.Hang())
		i := r.informer(informer.Options{})
		i.run()
		r.Cleanup(i.stop)
		r.pass(10 * time.Minute)
		if has, known := handle.Of(r.things).StreamingLists.Known(); known {
			r.Errorf("the client believes %v", has)
		}
		r.heal()
		r.within(3*time.Minute, "synced", func() bool { return i.Status().Synced })
		i.current()
	})
}

// A server that has served streaming lists, and stops in the midst of one, is trusted twice.
func TestAKnownServerMayFailOnce(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		first := r.start(informer.Options{})
		first.tells("add a")
		var broken atomic.Int32
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if asks(q) == "stream" && broken.Add(1) <= 2 {
				return frames(false, startObject)
			}
			return nil
		})
		second := r.start(informer.Options{LabelSelector: "!no"})
		if s := second.Status(); s.Mode != informer.Streaming || s.Lists != 3 {
			r.Errorf("it listed %v because %q, %d times", s.Mode, s.Why, s.Lists)
		}
		second.tells("add a")
	})
}

// What changes is no sign that a list goes on. Where something changed all the time, an informer of a server that never ends
// its streaming lists waited for the end of the watch, which takes up to ten minutes.
func TestAListThatDoesNotEndIsGivenUpWhateverChanges(t *testing.T) {
	bubbleOf(t, clienttest.Options{StreamingLists: clienttest.StreamingEndless}, func(r *rig) {
		r.put("a")
		i := r.informer(informer.Options{})
		i.run()
		r.Cleanup(i.stop)
		for n := range 31 {
			r.pass(time.Second)
			r.put("a", "n", fmt.Sprint(n))
		}
		if s := i.Status(); !s.Synced || s.Mode != informer.Paged || !strings.Contains(s.Why, "no progress for 30s") {
			r.Errorf("status is %v", s)
		}
		i.current()
	})
}

// Nor is something that is created, or that nobody wants: an informer of a server that does not end its streaming lists waited
// for the end of the watch, which takes up to ten minutes, wherever something of that kind came more often than every 30 s.
func TestAListThatDoesNotEndIsGivenUpWhateverIsCreated(t *testing.T) {
	for _, lists := range []clienttest.StreamingLists{clienttest.StreamingIgnored, clienttest.StreamingEndless} {
		for _, muted := range []bool{false, true} {
			for _, test := range []struct {
				name   string
				o      informer.Options
				src    func(informer.Source[*Thing]) informer.Source[*Thing]
				change func(r *rig, n int)
			}{
				{name: "created", change: func(r *rig, n int) { r.put(fmt.Sprintf("z%09d", n)) }},
				{name: "deleted and created", change: func(r *rig, n int) {
					if n > 0 {
						r.remove("z")
					}
					r.put("z")
				}},
				{
					name: "filtered", change: func(r *rig, n int) { r.put("a", "n", fmt.Sprint(n)) },
					src: func(src informer.Source[*Thing]) informer.Source[*Thing] {
						return informer.Filter(src, func(obj *Thing) bool { return obj.Name != "a" })
					},
				},
				{
					name: "elsewhere", change: func(r *rig, n int) { r.putIn("kube-public", fmt.Sprintf("z%09d", n)) },
					src: func(src informer.Source[*Thing]) informer.Source[*Thing] {
						return informer.Filter(src, func(obj *Thing) bool { return obj.Namespace != "kube-public" })
					},
				},
			} {
				t.Run(fmt.Sprintf("%s, %v, without bookmarks %v", test.name, lists, muted), func(t *testing.T) {
					bubbleOf(t, clienttest.Options{StreamingLists: lists}, func(r *rig) {
						r.server.MuteBookmarks(muted)
						r.put("b")
						r.put("a")
						var src informer.Source[*Thing] = r.things
						if test.src != nil {
							src = test.src(src)
						}
						i := informer.New(src, test.o)
						ctx, cancel := context.WithCancel(r.Context())
						ended := make(chan error)
						go func() { ended <- i.Run(ctx) }()
						for n := range 40 {
							r.pass(time.Second)
							test.change(r, n)
						}
						if s := i.Status(); !s.Synced || s.Mode != informer.Paged {
							r.Errorf("status is %v", s)
						}
						cancel()
						if err := <-ended; err != nil {
							r.Error(err)
						}
					})
				})
			}
		}
	}
}

// A streaming list that takes its time is not given up while it goes on, also where the objects were created in the order of
// their keys: each of them was taken for one that was created meanwhile, so the list was given up and read in pages.
func TestASlowStreamingListIsWaitedFor(t *testing.T) {
	for _, test := range []struct {
		name   string
		o      informer.Options
		upward bool // each object has a higher version than the one before it
		asked  int  // how often for a list, to see where the server is
	}{
		{name: "in any order"},
		{name: "as they were created", upward: true, asked: 1},
		{name: "as they were created, Mode Streaming", o: informer.Options{Mode: informer.Streaming}, upward: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				const most = 20
				for n := range most {
					if !test.upward {
						n = most - n
					}
					r.put(fmt.Sprintf("a%02d", n))
				}
				r.on("stream", func(w http.ResponseWriter, q *http.Request) {
					r.server.ServeHTTP(&slowly{ResponseWriter: w, every: 9 * time.Second}, q)
				})
				i := r.informer(test.o)
				i.run()
				r.Cleanup(i.stop)
				r.within(10*time.Minute, "synced", func() bool { return i.Status().Synced })
				if s := i.Status(); s.Mode != informer.Streaming || s.Lists != 1 || r.requests("list") != test.asked {
					r.Errorf("status is %v, and %d lists were asked for, want %d", s, r.requests("list"), test.asked)
				}
			})
		})
	}
}

// slowly waits before each write, and sends what is written.
type slowly struct {
	http.ResponseWriter
	every time.Duration
}

func (s *slowly) Write(p []byte) (int, error) {
	<-time.After(s.every)
	n, err := s.ResponseWriter.Write(p)
	return n, errors.Join(err, http.NewResponseController(s.ResponseWriter).Flush())
}

func (s *slowly) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Mode Streaming never falls back; the Status says why it does not work.
func TestStreamingNeverFallsBack(t *testing.T) {
	for _, test := range []struct {
		lists clienttest.StreamingLists
		err   string
		least int
		most  int
	}{
		{clienttest.StreamingRefused, "(422)", 100, 750},
		{clienttest.StreamingIgnored, "no progress for 30s", 50, 120},
		{clienttest.StreamingEndless, "no progress for 30s", 50, 120},
	} {
		t.Run(test.err, func(t *testing.T) {
			bubbleOf(t, clienttest.Options{StreamingLists: test.lists}, func(r *rig) {
				r.put("a")
				i := r.informer(informer.Options{Mode: informer.Streaming})
				i.run()
				r.Cleanup(i.stop)
				r.pass(time.Hour)
				s := i.Status()
				if s.Synced || s.Err == nil || !strings.Contains(s.Err.Error(), test.err) || s.Lists < test.least || s.Lists > test.most {
					r.Errorf("after an hour the status is %v", s)
				}
				if n := r.requests("list"); n != 0 {
					r.Errorf("%d paged lists", n)
				}
				r.server.SetStreamingLists(clienttest.StreamingServed)
				r.within(70*time.Second, "synced", func() bool { return i.Status().Synced })
				i.current()
			})
		})
	}
}

// behaviours 199, 206: what changes until the end bookmark belongs to the list, which appears at once.
func TestAStreamingListIncludesChangesBeforeItsEndBookmark(t *testing.T) {
	bubbleOf(t, clienttest.Options{StreamingLists: clienttest.StreamingEndless}, func(r *rig) {
		r.put("same")
		r.put("changed")
		r.put("gone")
		r.put("again")
		r.put("bad", "bad", "yes")
		r.put("mended", "bad", "yes")
		r.put("badgone", "bad", "yes")
		i := r.informer(informer.Options{})
		i.run()
		r.Cleanup(i.stop)
		list := func() {
			r.Helper()
			time.AfterFunc(20*time.Second, func() { r.server.Bookmark() })
			r.pass(time.Second)
			before := i.held()
			r.put("changed", "v", time.Now().String())
			r.put("mended", "v", "1")
			r.remove("gone")
			r.remove("badgone")
			r.remove("again")
			r.put("again", "v", "2")
			r.put("new", "v", time.Now().String())
			r.put("short")
			r.remove("short")
			r.pass(time.Second)
			if d := differ("the cache", i.held(), before); d != "" {
				r.Errorf("before the end bookmark: %s", d)
			}
			i.tells()
		}
		list()
		r.within(20*time.Second, "synced", func() bool { return i.Status().Synced })
		i.current()
		i.tells("add again", "add changed", "add mended", "add new", "add same")
		i.undecodable(3, "bad") // mended and badgone were reported when they came, too

		// And the same as a relist.
		r.put("gone")
		r.put("badgone", "bad", "yes")
		i.told()
		r.server.DropWatches()
		r.put("other")
		r.server.Compact()
		same := i.held()[key("same")]
		list()
		r.within(25*time.Second, "relisted", func() bool { return i.Status().Relists[informer.Expired] == 1 })
		i.current()
		i.tells("add again", "add other", "delete again", "delete gone", "update changed", "update new")
		i.undecodable(4, "bad")
		if i.held()[key("same")] != same {
			r.Error("what has not changed is another reference")
		}
		r.put("changed", "v", "last")
		i.tells("update changed")
		if s := i.Status(); s.Watches != 1 || s.Lists != 2 {
			r.Errorf("status is %v, want the one watch that expired", s)
		}
	})
}

// behaviour 209 in our way: a streaming list and a paged one make the same cache.
func TestBothKindsOfListsMakeTheSameCache(t *testing.T) {
	bubble(t, func(r *rig) {
		for n := range 30 {
			r.put(fmt.Sprint("a", n), "n", fmt.Sprint(n))
		}
		paged := r.start(informer.Options{Mode: informer.Paged, PageSize: 7})
		streamed := r.start(informer.Options{Mode: informer.Streaming})
		if d := differ("streamed", streamed.held(), paged.held()); d != "" {
			r.Error(d)
		}
		if p, s := paged.Status(), streamed.Status(); p.ResourceVersion != s.ResourceVersion || p.Listed != 30 || s.Listed != 30 {
			r.Errorf("%v and %v", p, s)
		}
	})
}

// A server may begin a streaming list with an older state than the cache has, and then catch up. An object that was deleted in
// the course of that, and created again as the cache has it, was lost: it was found unchanged before its deletion was staged,
// because in a burst that is asked some events ahead.
func TestAnObjectThatComesAgainWithinAStreamingList(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("x")
		r.remove("x")
		r.put("x", "v", "again")
		i := r.start(informer.Options{})
		i.tells("add x")
		event := func(kind, name, uid, version, rest string) string {
			return fmt.Sprintf(`{"type":%q,"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":"default","uid":%q,"resourceVersion":%q%s}}}`,
				kind, name, uid, version, rest)
		}
		x := i.held()[key("x")]
		lines := []string{event("ADDED", "x", "before", "1", "")}
		for n := range 200 {
			lines = append(lines, event("ADDED", fmt.Sprint("other", n), "u", "1", fmt.Sprintf(`,"labels":{"a":%q}`, strings.Repeat("a", 2000))))
		}
		lines = append(lines,
			event("DELETED", "x", "before", "2", ""),
			event("ADDED", "x", x.UID, x.ResourceVersion, ""),
			event("BOOKMARK", "", "", r.server.ResourceVersion(), `,"annotations":{"k8s.io/initial-events-end":"true"}`))
		stream := frames(true, lines...)
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			switch asks(q) {
			case "watch":
				return failure(410, "Expired", "")
			case "stream":
				return stream
			}
			return nil
		})
		r.server.DropWatches()
		r.within(5*time.Second, "relisted", func() bool { return i.Status().Relists[informer.Expired] == 1 })
		if i.held()[key("x")] != x {
			r.Errorf("the cache holds %v, want %v", i.held()[key("x")], x)
		}
		for _, call := range i.told() {
			if strings.HasSuffix(call, " x") {
				r.Errorf("the handler was told %q", call)
			}
		}
	})
}

// A relist by a streaming list decodes nothing that has not changed.
// An older state at the beginning of a streaming list that does not decode says nothing about the present one, which the cache
// has: the object is not one of those that do not decode.
func TestAnOldStateWithinAStreamingListThatDoesNotDecode(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("x", "v", "1")
		r.put("x", "v", "2")
		i := r.start(informer.Options{})
		x := i.held()[key("x")]
		state := func(version, data string) string {
			return fmt.Sprintf(`{"type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"default","uid":%q,"resourceVersion":%q},"data":%s}}`,
				x.UID, version, data)
		}
		stream := frames(true, state("1", `{"bad":"yes"}`), state(x.ResourceVersion, `{"v":"2"}`),
			fmt.Sprintf(`{"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"resourceVersion":%q,"annotations":{"k8s.io/initial-events-end":"true"}}}}`,
				r.server.ResourceVersion()))
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			switch asks(q) {
			case "watch":
				return failure(410, "Expired", "")
			case "stream":
				return stream
			}
			return nil
		})
		r.server.DropWatches()
		r.within(5*time.Second, "relisted", func() bool { return i.Status().Relists[informer.Expired] == 1 })
		if bad := i.Status().Undecodable; len(bad) != 0 || !i.hasReported(`decode "default/x" (resource version "1")`) {
			r.Errorf("the undecodable objects are %v, reported %v", bad, i.reported())
		}
		if i.held()[key("x")] != x {
			r.Errorf("the cache holds %v, want %v", i.held()[key("x")], x)
		}
	})
}

func TestAStreamingRelistOfAnUnchangedCache(t *testing.T) {
	bubble(t, func(r *rig) {
		for n := range 50 {
			r.put(fmt.Sprint("a", n), "n", fmt.Sprint(n))
		}
		i := r.start(informer.Options{})
		i.told()
		before, bodies := i.held(), decoded.Load()
		r.on("watch", failure(410, "Expired", ""))
		r.server.DropWatches()
		r.within(5*time.Second, "relisted", func() bool { return i.Status().Relists[informer.Expired] == 1 })
		synctest.Wait()
		if n := decoded.Load() - bodies; n != 0 {
			r.Errorf("%d objects were decoded", n)
		}
		i.tells()
		for k, obj := range i.held() {
			if before[k] != obj {
				r.Errorf("%v is another reference", k)
			}
		}
	})
}
