package informer_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

// Every fault has one recovery. Each case of the first table breaks the watch of an informer that is synced, lets the world
// change meanwhile, and says what it must take to be current again.

const (
	noVersion   = `{"type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"ghost","namespace":"default","uid":"u"}}}`
	unknownType = `{"type":"RENAMED","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"ghost","namespace":"default","uid":"u","resourceVersion":"99"}}}`
	wrongKind   = `{"type":"ADDED","object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"ghost","namespace":"default","uid":"u","resourceVersion":"99"}}}`
)

func TestAfterAnyFaultOfAWatchTheCacheIsCurrent(t *testing.T) {
	type causes = map[informer.Cause]int
	for _, test := range []struct {
		name    string
		fault   http.HandlerFunc // answers watches; nil: they are only cut
		lasts   time.Duration
		within  time.Duration // how soon after the fault the cache is current
		relists causes
		watches int // how many are opened at most, the last one included
		compact bool
		polled  bool // the server answers lists meanwhile, so the informer polls, unless lists must be watches too
		err     string
	}{
		{name: "cut in the middle of a frame (fault F2)", within: 800 * time.Millisecond, watches: 1},
		{
			name: "reset before an answer (behaviour 41)", fault: clienttest.Reset(),
			lasts: time.Minute, within: 30 * time.Second, watches: 40, err: "watch configmaps: ",
		},
		{
			name: "429 with Retry-After (behaviour 175, fault F7)", fault: clienttest.TooManyRequests(7 * time.Second),
			lasts: time.Minute, within: 31 * time.Second, watches: 10, err: "TooManyRequests (429)",
		},
		{
			name: "429 in the stream (behaviour 175, fault F7)", fault: frames(false, errorEvent(429, "TooManyRequests", `,"details":{"retryAfterSeconds":7}`)),
			lasts: time.Minute, within: 31 * time.Second, watches: 10, err: "TooManyRequests (429)",
		},
		{
			name: "ten minutes of 500 (fault F8)", fault: failure(500, "InternalError", "etcd"),
			lasts: 10 * time.Minute, within: 35 * time.Second, polled: true, watches: 100, err: "InternalError (500)",
		},
		{
			name: "ten minutes of 500, and the history is gone (faults F8, F14)", fault: failure(500, "InternalError", "etcd"), compact: true,
			lasts: 10 * time.Minute, within: 35 * time.Second, relists: causes{informer.Expired: 1}, polled: true, watches: 100, err: "InternalError (500)",
		},
		{
			name: "ten minutes of 503 (fault F8)", fault: failure(503, "ServiceUnavailable", "starting"),
			lasts: 10 * time.Minute, within: 35 * time.Second, polled: true, watches: 100, err: "ServiceUnavailable (503)",
		},
		{
			name: "hours of 403, then mended (fault F29)", fault: failure(403, "Forbidden", "not yours"),
			lasts: 5 * time.Hour, within: 35 * time.Second, polled: true, watches: 1700, err: "watch configmaps: server said Forbidden (403): not yours",
		},
		{
			name: "hours of 401, then mended (fault F29)", fault: failure(401, "Unauthorized", "who is that"),
			lasts: 5 * time.Hour, within: 35 * time.Second, polled: true, watches: 1700, err: "Unauthorized (401)",
		},
		{
			name: "the page of a proxy (fault F25)", fault: html,
			lasts: 10 * time.Minute, within: 35 * time.Second, polled: true, watches: 100, err: "text/html",
		},
		{
			name: "no answer at all (behaviour 196, fault F3)", fault: clienttest.Hang(),
			lasts: time.Hour, within: 2 * time.Minute, polled: true, watches: 80, err: "server stalled: no answer within 1m15s",
		},
		{
			name: "410 (fault F6)", fault: failure(410, "Expired", "too old"),
			lasts: time.Second, within: 10 * time.Second, relists: causes{informer.Expired: 1}, watches: 6,
		},
		{
			name: "410 in the stream, reason Expired (fault F6)", fault: frames(false, errorEvent(410, "Expired", "")),
			lasts: time.Second, within: 10 * time.Second, relists: causes{informer.Expired: 1}, watches: 6,
		},
		{
			name: "410 in the stream, reason Gone (fault F6)", fault: frames(false, errorEvent(410, "Gone", "")),
			lasts: time.Second, within: 10 * time.Second, relists: causes{informer.Expired: 1}, watches: 6,
		},
		{
			name: "410 in the stream, the code alone (fault F6)", fault: frames(false, errorEvent(410, "", "")),
			lasts: time.Second, within: 10 * time.Second, relists: causes{informer.Expired: 1}, watches: 6,
		},
		{
			name:  "a version that the server does not have (behaviour 174, fault F9)",
			fault: frames(false, errorEvent(504, "Timeout", `,"details":{"retryAfterSeconds":1,"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]}`)),
			lasts: time.Second, within: 10 * time.Second, relists: causes{informer.TooLarge: 1}, watches: 6,
		},
		{
			name: "404 for a minute (fault F40)", fault: failure(404, "NotFound", "no such resource"),
			lasts: time.Minute, within: 35 * time.Second, relists: causes{informer.Absent: 1}, watches: 15,
		},
		{
			name: "an event without a resource version", fault: frames(true, noVersion),
			lasts: 20 * time.Second, within: 35 * time.Second, relists: causes{informer.Reset: 1}, watches: 30, err: "metadata.resourceVersion must not be empty",
		},
		{
			name: "an event of an unknown type (behaviour 45, fault F20)", fault: frames(true, unknownType),
			lasts: 20 * time.Second, within: 35 * time.Second, relists: causes{informer.Reset: 1}, watches: 30, err: "its type must be ADDED, MODIFIED, DELETED, BOOKMARK or ERROR",
		},
		{
			name: "an event of another kind", fault: frames(true, wrongKind),
			lasts: 20 * time.Second, within: 35 * time.Second, relists: causes{informer.Reset: 1}, watches: 30, err: "v1 Secret, want v1 ConfigMap",
		},
		{
			name: "a bare Status that says 410, with the code 200", fault: frames(false, bareExpired),
			lasts: time.Second, within: 5 * time.Second, relists: causes{informer.Expired: 1}, watches: 6, err: "said Expired (410)",
		},
		{
			name: "a list in place of a watch", fault: frames(false, bareList),
			lasts: 20 * time.Second, within: 35 * time.Second, relists: causes{informer.Reset: 1}, watches: 30, err: "the answer is not a watch",
		},
		{
			name: "a bookmark and then an event that is none", fault: bookmarkAndPoison,
			lasts: 5 * time.Minute, within: 65 * time.Second, relists: causes{informer.Reset: 1}, watches: 60, err: "v1 Secret, want v1 ConfigMap",
		},
		{
			name: "an event that is no JSON", fault: frames(true, `{"type":"ADDED",}`),
			lasts: 20 * time.Second, within: 35 * time.Second, relists: causes{informer.Reset: 1}, watches: 30, err: "unusable event",
		},
		{
			name: "an error event without a Status (behaviour 337)", fault: frames(true, `{"type":"ERROR","object":{"kind":"Pod"}}`),
			lasts: 20 * time.Second, within: 35 * time.Second, relists: causes{informer.Reset: 1}, watches: 30, err: "not a Status",
		},
		{
			name: "an event that the server cannot read (behaviour 182)", fault: frames(false, errorEvent(500, "StorageReadError", "")),
			lasts: 20 * time.Second, within: 35 * time.Second, relists: causes{informer.Reset: 1}, watches: 30, err: "StorageReadError (500)",
		},
		{
			name: "500 in the stream (behaviour 177)", fault: frames(false, errorEvent(500, "InternalError", "")),
			lasts: 20 * time.Second, within: 35 * time.Second, relists: causes{informer.Reset: 1}, watches: 30, err: "within the stream, server said InternalError (500)",
		},
		{
			name: "503 in the stream", fault: frames(false, errorEvent(503, "ServiceUnavailable", "")),
			lasts: time.Minute, within: 35 * time.Second, polled: true, watches: 30, err: "ServiceUnavailable (503)",
		},
		{
			name: "a version that the server does not have, by the message of a cause (behaviour 174, fault F9)", fault: tooLarge(1),
			lasts: time.Second, within: 10 * time.Second, relists: causes{informer.TooLarge: 1}, watches: 6,
		},
		{
			name: "and by the message (behaviour 174, fault F9)", fault: tooLarge(2),
			lasts: time.Second, within: 10 * time.Second, relists: causes{informer.TooLarge: 1}, watches: 6,
		},
		{
			name: "watches that end at once and empty (behaviour 179, fault F4)", fault: frames(false),
			lasts: 20 * time.Second, within: 35 * time.Second, relists: causes{informer.Refused: 1}, polled: true, watches: 30,
		},
	} {
		run := func(t *testing.T, mode informer.Mode) {
			polled := test.polled && mode != informer.Streaming
			test := test
			if polled && test.compact {
				test.relists = nil
			}
			bubble(t, func(r *rig) {
				r.put("a")
				r.put("b")
				r.put("c")
				i := r.start(informer.Options{Mode: mode})
				i.tells("add a", "add b", "add c")
				before := i.Status()
				if test.fault != nil {
					r.on("watch", test.fault)
				}
				r.server.DropWatches()
				r.put("a", "x", "1")
				r.remove("b")
				r.put("d")
				if test.compact {
					r.server.Compact()
				}
				if test.lasts > 0 {
					r.pass(test.lasts)
					if !i.hasReported(test.err) {
						r.Errorf("in the fault it reported %v, want %q", i.reported(), test.err)
					}
					if s := i.Status(); test.err != "" && test.relists == nil && (s.Err == nil || !strings.Contains(s.Err.Error(), test.err)) {
						r.Errorf("in the fault the status says %v, want %q", s, test.err)
					}
					if s := i.Status(); polled && (i.difference() != "" || s.Polling == nil || !strings.Contains(s.Polling.Error(), test.err) || s.PollingSince.IsZero()) {
						r.Errorf("in the fault the cache is not current, or the status does not say how: %v, %s", s, i.difference())
					}
					if !polled && test.relists == nil && len(i.held()) != 3 {
						r.Errorf("in the fault the cache holds %v, want what it held", i.held())
					}
				}
				r.heal()
				r.within(test.within, "the cache is current", func() bool { return i.difference() == "" })
				i.tells("add d", "delete b", "update a")

				s := i.Status()
				if test.relists == nil && !polled {
					i.relisted(nil)
					if n := s.Events - before.Events; n != 3 {
						r.Errorf("%d events were applied, want each of the three once", n)
					}
				}
				for cause := range s.Relists {
					if test.relists[cause] == 0 && !(polled && cause == informer.Polled) {
						r.Errorf("a relist because of %s", cause)
					}
				}
				for cause, n := range test.relists { // a fault that lasts may lead to more
					if got := s.Relists[cause]; got < n {
						r.Errorf("%d relists because of %s, want %d", got, cause, n)
					}
				}
				r.pass(time.Minute) // the last watch is open by now
				s = i.Status()
				if n := s.Watches - before.Watches; n > test.watches {
					r.Errorf("%d watches were opened, want at most %d", n, test.watches)
				}
				if r.pass(2 * time.Minute); i.Status().Err != nil || r.server.Watches() != 1 {
					r.Errorf("afterwards the status is %v, with %d watches", i.Status(), r.server.Watches())
				}
				if s := i.Status(); polled && (s.Relists[informer.Polled]+s.Relists[informer.Refused] == 0 || s.Polling != nil || !s.PollingSince.IsZero()) {
					r.Errorf("after it was polled, the status is %v", s)
				}
				i.current()
			})
		}
		t.Run(test.name, func(t *testing.T) { modes(t, run) })
	}
}

// What some servers and proxies answer a watch with, as a success.
const (
	bareExpired = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old"}`
	bareList    = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`
)

// bookmarkAndPoison answers a watch with a bookmark at the version that it begins at, and an event that cannot be applied.
func bookmarkAndPoison(w http.ResponseWriter, q *http.Request) {
	bookmark := `{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":%q}}}`
	frames(true, fmt.Sprintf(bookmark, q.URL.Query().Get("resourceVersion")), wrongKind)(w, q)
}

// The same for a list, the first and a later one, in each mode.
func TestAfterAnyFaultOfAListTheCacheIsCurrent(t *testing.T) {
	for _, test := range []struct {
		name   string
		fault  http.HandlerFunc
		lasts  time.Duration
		within time.Duration
		lists  int
		err    string
		paged  bool // it makes sense for paged lists only
	}{
		{name: "429 with Retry-After (behaviour 204, fault F7)", fault: clienttest.TooManyRequests(7 * time.Second), lasts: time.Minute, within: 31 * time.Second, lists: 10, err: "TooManyRequests (429)"},
		{name: "ten minutes of 500 (behaviour 181, fault F8)", fault: failure(500, "InternalError", "etcd"), lasts: 10 * time.Minute, within: 35 * time.Second, lists: 100, err: "InternalError (500)"},
		{name: "ten minutes of 503 (fault F8)", fault: failure(503, "ServiceUnavailable", "starting"), lasts: 10 * time.Minute, within: 35 * time.Second, lists: 100, err: "(503)"},
		{name: "a conversion webhook that is down (fault F41)", fault: failure(500, "", "conversion webhook failed"), lasts: time.Hour, within: 35 * time.Second, lists: 400, err: "conversion webhook failed"},
		{name: "hours of 403, then mended (behaviour 247, fault F29)", fault: failure(403, "Forbidden", "not yours"), lasts: 5 * time.Hour, within: 35 * time.Second, lists: 1700, err: "configmaps: server said Forbidden (403): not yours"},
		{name: "hours of 401, then mended (fault F29)", fault: failure(401, "Unauthorized", "who is that"), lasts: 5 * time.Hour, within: 35 * time.Second, lists: 1700, err: "Unauthorized (401)"},
		{name: "404 for a while (fault F40)", fault: failure(404, "NotFound", "no such resource"), lasts: 10 * time.Minute, within: 35 * time.Second, lists: 100, err: "NotFound (404)"},
		{name: "410 (behaviours 172, 204)", fault: failure(410, "Expired", "too old"), lasts: 10 * time.Minute, within: 35 * time.Second, lists: 100, err: "Expired (410)"},
		{name: "a version that the server does not have, by its cause (behaviours 174, 204, fault F9)", fault: tooLarge(0), lasts: 10 * time.Minute, within: 35 * time.Second, lists: 100, err: "(504)"},
		{name: "by the message of a cause (behaviours 174, 204, fault F9)", fault: tooLarge(1), lasts: 10 * time.Minute, within: 35 * time.Second, lists: 100, err: "(504)"},
		{name: "by the message (behaviours 174, 204, fault F9)", fault: tooLarge(2), lasts: 10 * time.Minute, within: 35 * time.Second, lists: 100, err: "(504)"},
		{name: "the page of a proxy (fault F25)", fault: html, lasts: 10 * time.Minute, within: 35 * time.Second, lists: 100, err: "text/html"},
		{name: "reset (fault F1)", fault: clienttest.Reset(), lasts: 10 * time.Minute, within: 35 * time.Second, lists: 100, err: " configmaps: "},
		{name: "no answer at all (fault F26)", fault: clienttest.Hang(), lasts: 10 * time.Minute, within: 3 * time.Minute, lists: 30, err: " configmaps: "},
		{name: "a list of another kind", fault: frames(false, `{"apiVersion":"v1","kind":"SecretList","metadata":{"resourceVersion":"9"},"items":[]}`), lasts: 10 * time.Minute, within: 35 * time.Second, lists: 100, err: "SecretList", paged: true},
		{name: "a table (behaviour 190)", fault: frames(false, `{"apiVersion":"meta.k8s.io/v1","kind":"Table","metadata":{"resourceVersion":"9"},"columnDefinitions":[],"rows":[]}`), lasts: 10 * time.Minute, within: 35 * time.Second, lists: 100, err: "server sent meta.k8s.io/v1 Table", paged: true},
		{name: "a list without a resource version", fault: frames(false, `{"apiVersion":"v1","kind":"ConfigMapList","metadata":{},"items":[]}`), lasts: 10 * time.Minute, within: 35 * time.Second, lists: 100, err: "list configmaps: server sent a list without a resource version", paged: true},
	} {
		run := func(t *testing.T, mode informer.Mode) {
			bubble(t, func(r *rig) {
				r.put("a")
				r.put("b")
				r.on("collection", test.fault)
				i := r.informer(informer.Options{Mode: mode})
				i.run()
				r.Cleanup(i.stop)
				check := func() {
					r.Helper()
					before := i.Status().Lists
					r.pass(test.lasts)
					s := i.Status()
					if s.Err == nil || !strings.Contains(s.Err.Error(), test.err) {
						r.Errorf("in the fault the status says %v, want %q", s, test.err)
					}
					most := test.lists
					if mode == informer.Auto { // a list that is forbidden is asked for in both ways
						most *= 2
					}
					if n := s.Lists - before; n < 2 || n > most {
						r.Errorf("%d lists in the fault, want at most %d", n, most)
					}
				}
				check()
				i.tells()
				r.heal()
				r.within(test.within, "the first list is complete", func() bool { return i.Status().Synced })
				i.current()
				i.tells("add a", "add b")
				i.relisted(nil)

				r.pass(3 * time.Minute) // of health, which makes the waits short again
				r.on("collection", test.fault)
				r.server.DropWatches()
				r.put("c")
				r.server.Compact()
				check()
				i.tells()
				if i.Reader().Len() != 2 {
					r.Errorf("in the fault the cache holds %v", i.held())
				}
				r.heal()
				r.within(test.within, "the second list is complete", func() bool { return i.difference() == "" })
				i.tells("add c")
				i.relisted(map[informer.Cause]int{informer.Expired: 1})
				if s := i.Status(); s.Err != nil {
					r.Errorf("afterwards the status is %v", s)
				}
			})
		}
		t.Run(test.name, func(t *testing.T) {
			if test.paged {
				run(t, informer.Paged)
				return
			}
			modes(t, run)
			t.Run("Auto", func(t *testing.T) { run(t, informer.Auto) })
		})
	}
}

// tooLarge answers that the server has not reached the version, in each of the three forms that servers have used.
func tooLarge(form int) http.HandlerFunc {
	s := meta.Status{Code: 504, Reason: "Timeout", Message: "Timeout", Details: &meta.StatusDetails{RetryAfterSeconds: 1}}
	switch form {
	case 0:
		s.Details.Causes = []meta.StatusCause{{Reason: "ResourceVersionTooLarge", Message: "Too large resource version"}}
	case 1:
		s.Details.Causes = []meta.StatusCause{{Message: "Too large resource version"}}
	case 2:
		s.Message = "Too large resource version: 200, current: 100"
	}
	return clienttest.Answer(s)
}

// fault F7: the server's wait is a floor, to the second; an absurd one is capped.
func TestRetryAfterIsAFloor(t *testing.T) {
	for _, test := range []struct {
		name        string
		verb        string
		after       string
		least, most time.Duration
	}{
		{"of a list", "list", "20", 20 * time.Second, 22 * time.Second},
		{"of a streaming list", "stream", "20", 20 * time.Second, 22 * time.Second},
		{"of a watch", "watch", "20", 20 * time.Second, 22 * time.Second},
		{"which is an hour at most", "watch", "99999999", time.Hour, 66 * time.Minute},
		{"and none if it is nonsense", "list", "soon", 0, 800 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				var asked journal[time.Time]
				r.server.Intercept(func(q *http.Request) http.HandlerFunc {
					if asks(q) != test.verb {
						return nil
					}
					if asked.add(time.Now()) > 1 {
						return nil
					}
					return func(w http.ResponseWriter, q *http.Request) {
						w.Header().Set("Retry-After", test.after)
						failure(429, "TooManyRequests", "")(w, q)
					}
				})
				mode := informer.Streaming
				if test.verb == "list" {
					mode = informer.Paged
				}
				i := r.start(informer.Options{Mode: mode})
				r.within(2*time.Hour, "two requests", func() bool { return len(asked.list()) == 2 })
				at := asked.list()
				if d := at[1].Sub(at[0]); d < test.least || d > test.most {
					r.Errorf("asked again after %v, want %v to %v", d, test.least, test.most)
				}
				r.heal()
				i.current()
			})
		})
	}
}

// The wait after a watch that had brought something is short, and one before a relist too; but no shorter than the server asks.
func TestRetryAfterIsAFloorAfterAWatchThatHadWorked(t *testing.T) {
	for _, test := range []struct {
		name   string
		status meta.Status
		verb   string // of the next request
	}{
		{"429", meta.Status{Code: 429, Reason: "TooManyRequests", Details: &meta.StatusDetails{RetryAfterSeconds: 20}}, "watch"},
		{"410", meta.Status{Code: 410, Reason: "Expired", Details: &meta.StatusDetails{RetryAfterSeconds: 20}}, "list"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				i := r.start(informer.Options{Mode: informer.Paged})
				i.current()
				r.put("a")
				i.current() // the watch has brought it
				type request struct {
					verb string
					at   time.Time
				}
				var asked journal[request]
				r.server.Intercept(func(q *http.Request) http.HandlerFunc {
					asked.add(request{asks(q), time.Now()})
					return nil
				})
				failed := time.Now()
				if n := r.server.FailWatches(test.status); n != 1 {
					t.Fatalf("%d watches, want 1", n)
				}
				r.within(time.Minute, "a request", func() bool { return len(asked.list()) > 0 })
				next := asked.list()[0]
				if d := next.at.Sub(failed); d < 20*time.Second || d > 21*time.Second || next.verb != test.verb {
					t.Errorf("a %s after %v, want a %s after 20 to 21 s", next.verb, d, test.verb)
				}
				r.heal()
				i.current()
			})
		})
	}
}

// behaviours 173, 211, 221, 235, fault F14: what has not changed is neither decoded nor told of again.
func TestARelistTellsOfRealDifferencesOnly(t *testing.T) {
	modes(t, func(t *testing.T, mode informer.Mode) {
		bubble(t, func(r *rig) { relistTellsOfRealDifferencesOnly(r, mode) })
	})
}

func relistTellsOfRealDifferencesOnly(r *rig, mode informer.Mode) {
	for n := range 10 {
		r.put(fmt.Sprint("same", n), "x", "0")
	}
	r.put("changed")
	r.put("gone", "x", "0")
	r.put("again", "x", "0")
	i := r.start(informer.Options{Mode: mode, PageSize: 3})
	i.told()
	before := i.held()

	r.server.DropWatches()
	r.put("changed", "x", "1")
	r.remove("gone")
	r.remove("again")
	r.put("again", "x", "0")
	r.put("new", "x", "1")
	r.server.Compact()
	bodies := decoded.Load()
	r.within(3*time.Second, "relisted", func() bool { return i.Status().Relists[informer.Expired] == 1 })
	if n := decoded.Load() - bodies; n != 3 {
		r.Errorf("%d objects were decoded, want the 3 that are new", n)
	}
	i.tells("add again", "add new", "delete again", "delete gone", "update changed")
	for k, obj := range i.held() {
		if strings.HasPrefix(k.Name, "same") && before[k] != obj {
			r.Errorf("%v is another reference", k)
		}
	}
	i.current()
}

// faults F1, F23, F24, behaviour 201: for every place in a sample, a list that is cut there is not used.
func TestAListThatIsCutIsNotUsed(t *testing.T) {
	for _, n := range []int{0, 1, 20, 60, 100, 150, 250, 400, 700, 1000} {
		t.Run(fmt.Sprint("after byte ", n), func(t *testing.T) {
			modes(t, func(t *testing.T, mode informer.Mode) {
				bubble(t, func(r *rig) {
					r.put("a")
					r.put("b")
					r.put("c")
					r.put("d")
					i := r.informer(informer.Options{Mode: mode, PageSize: 3})
					r.on("collection", r.server.CutBody(n))
					i.run()
					r.Cleanup(i.stop)
					r.pass(5 * time.Second)
					if i.Status().Synced && n < 400 {
						r.Error("a list that was cut counts as complete")
					}
					if held := i.Reader().Len(); held != 0 && held != 4 {
						r.Errorf("the cache holds %d of 4 objects", held)
					}
					if n < 400 {
						i.tells()
					}
					r.heal()
					r.within(35*time.Second, "complete", func() bool { return i.Status().Synced })
					i.current()
					i.relisted(nil)
				})
			})
		})
	}
}

// fault F2: for every place in a sample, a watch that is cut there is resumed after the last whole event.
func TestAWatchThatIsCutAnywhereIsResumed(t *testing.T) {
	for n := 0; n < 1500; n += 97 {
		t.Run(fmt.Sprint("after byte ", n), func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a")
				i := r.start(informer.Options{})
				r.on("watch", r.server.CutBody(n))
				r.server.DropWatches()
				for v := range 4 {
					r.put("a", "v", fmt.Sprint(v))
					r.put(fmt.Sprint("b", v))
				}
				r.pass(3 * time.Second)
				r.heal()
				r.within(35*time.Second, "current", func() bool { return i.difference() == "" })
				i.relisted(nil)
				if n := i.Status().Events; n != 8 {
					r.Errorf("%d events were applied, want each of 8 once", n)
				}
			})
		})
	}
}

// fault F40: the resource goes, and comes back with other objects under the same names.
func TestAResourceThatGoesAndComesBack(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		r.put("b")
		i := r.start(informer.Options{})
		i.told()
		old := i.held()
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if collects(q) || asks(q) == "watch" {
				return func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) }
			}
			return nil
		})
		r.server.DropWatches()
		r.pass(time.Minute)
		s := i.Status()
		if !errors.Is(s.Err, apierrors.NotFound) || len(i.held()) != 2 {
			r.Errorf("while the resource is gone: %v", s)
		}
		i.tells()
		r.remove("a")
		r.remove("b")
		r.put("b")
		r.put("c")
		r.heal()
		r.within(35*time.Second, "current", func() bool { return i.difference() == "" })
		i.tells("add b", "add c", "delete a", "delete b")
		i.relisted(map[informer.Cause]int{informer.Absent: 1})
		if i.held()[key("b")].UID == old[key("b")].UID {
			r.Error("b is still the old one")
		}
	})
}

// fault F13, F15, F16: the order of the stream is the truth, and the same state twice is one change.
func TestBookmarksAndRepeatedEvents(t *testing.T) {
	object := func(name, version string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":"default","uid":%q,"resourceVersion":%q}}`, name, name, version)
	}
	event := func(kind, object string) string { return fmt.Sprintf(`{"type":%q,"object":%s}`, kind, object) }
	for _, test := range []struct {
		name   string
		events []string
		told   []string
		resume string
	}{
		{"a bookmark of nothing but a version", []string{event("BOOKMARK", `{"metadata":{"resourceVersion":"70"}}`)}, nil, "70"},
		{"the same event twice", []string{event("ADDED", object("x", "60")), event("ADDED", object("x", "60"))}, []string{"add x"}, "60"},
		{"modified before it was added", []string{event("MODIFIED", object("x", "60"))}, []string{"add x"}, "60"},
		{"deleted, and never there (behaviour 215)", []string{event("DELETED", object("x", "60"))}, nil, "60"},
		{"versions of two objects out of order", []string{event("ADDED", object("x", "61")), event("ADDED", object("y", "60"))}, []string{"add x", "add y"}, "60"},
		{"opaque versions", []string{event("ADDED", object("x", "zz")), event("BOOKMARK", `{"metadata":{"resourceVersion":"a-b"}}`)}, []string{"add x"}, "a-b"},
		{"an event before one that cannot be applied", []string{event("ADDED", object("x", "60")), wrongKind}, []string{"add x"}, "60"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				var asked journal[string]
				r.server.Intercept(func(q *http.Request) http.HandlerFunc {
					if asks(q) != "watch" {
						return nil
					}
					if asked.add(q.URL.Query().Get("resourceVersion")) > 1 {
						return clienttest.Hang()
					}
					return frames(false, test.events...)
				})
				i := r.start(informer.Options{Mode: informer.Paged})
				r.within(time.Second, "two watches", func() bool { return len(asked.list()) == 2 })
				versions := asked.list()
				i.tells(test.told...)
				if versions[1] != test.resume || i.Status().ResourceVersion != test.resume {
					r.Errorf("resumed at %s, cache at %s, want %s", versions[1], i.Status().ResourceVersion, test.resume)
				}
			})
		})
	}
}

// A server that expires each version at once is not made to serve one list after the other.
func TestRelistsAreSpaced(t *testing.T) {
	for _, test := range []struct {
		name  string
		watch http.HandlerFunc
	}{
		{"410 at once", failure(410, "Expired", "")},
		{"410 after a bookmark", frames(false, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"3"}}}`, errorEvent(410, "Expired", ""))},
		{"empty watches", frames(false)},
		{"events that cannot be applied", frames(false, unknownType)},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.on("watch", test.watch)
				r.start(informer.Options{Mode: informer.Paged})
				r.pass(time.Hour)
				if n := r.requests("list"); n < 10 || n > 400 {
					r.Errorf("%d lists in an hour", n)
				}
			})
		})
	}
}

// behaviour 178: a list, a bookmark or an event begins the health that makes waits short again; it does not take the end of a
// watch. Then comes a second storm, in which the first waits must be short.
func TestListsBookmarksAndEventsResetTheBackoff(t *testing.T) {
	for _, test := range []struct {
		name  string
		storm string // what fails in the first
		muted bool
		put   bool // whether something changes each minute
	}{
		{"a list", "list", true, false},
		{"bookmarks", "watch", false, false},
		{"events", "watch", true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a")
				r.server.MuteBookmarks(test.muted)
				fails := failure(500, "InternalError", "")
				i := r.informer(informer.Options{Mode: informer.Paged})
				if test.storm == "list" {
					r.on("list", fails)
				}
				i.run()
				r.Cleanup(i.stop)
				r.pass(time.Second)
				r.on(test.storm, fails)
				r.server.DropWatches()
				r.pass(10 * time.Minute)
				r.heal()
				r.within(35*time.Second, "watching", func() bool { return r.server.Watches() == 1 })
				for n := range 4 {
					r.pass(time.Minute)
					if test.put {
						r.put("a", "n", fmt.Sprint(n))
					}
				}
				var attempts atomic.Int32
				r.server.Intercept(func(q *http.Request) http.HandlerFunc {
					if asks(q) != "watch" {
						return nil
					}
					attempts.Add(1)
					return fails
				})
				watches := i.Status().Watches
				r.server.DropWatches()
				// The waits are 800 ms, 1.6 s and 3.2 s at most. Long ones, of 30 s at most, have brought two attempts by then at best,
				// nearly always.
				r.pass(5700 * time.Millisecond)
				if n := attempts.Load(); n < 3 {
					r.Errorf("%d attempts within 5.7 s, want at least 3", n)
				}
				if n := i.Status().Watches - watches; n != int(attempts.Load()) {
					r.Errorf("status counts %d watches, the server %d", n, attempts.Load())
				}
				r.heal()
			})
		})
	}
}

// behaviour 178: after a storm that has made the waits long, two minutes of health make the next one short, also where the
// server sends no bookmarks.
func TestHealthMakesTheNextWaitShort(t *testing.T) {
	for _, bookmarks := range []bool{true, false} {
		t.Run(fmt.Sprint("bookmarks: ", bookmarks), func(t *testing.T) {
			bubble(t, func(r *rig) {
				i := r.start(informer.Options{Mode: informer.Streaming})
				r.on("watch", failure(500, "InternalError", ""))
				r.server.DropWatches()
				r.pass(10 * time.Minute)
				r.server.MuteBookmarks(!bookmarks)
				r.heal()
				// Without bookmarks the end of a watch, after 5 to 10 minutes, is all that shows health. Three would lead to a list.
				r.pass(11 * time.Minute)
				if s := i.Status(); s.Err != nil || s.Lists != 1 {
					r.Errorf("after 11 minutes of health the status is %v", s)
				}
				var broken atomic.Bool
				r.server.Intercept(func(q *http.Request) http.HandlerFunc {
					if asks(q) != "watch" || !broken.CompareAndSwap(false, true) {
						return nil
					}
					return failure(500, "InternalError", "")
				})
				r.server.DropWatches()
				// One wait of up to 800 ms after the cut, and one of up to 1600 ms after the failure.
				r.within(2500*time.Millisecond, "watching again", func() bool { return broken.Load() && r.server.Watches() == 1 })
			})
		})
	}
}
