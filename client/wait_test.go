package client_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// waitRig is a server, a client of it whose requests can be told from the test's own, and an object to wait for.
type waitRig struct {
	t      *testing.T
	server *clienttest.Server
	own    *client.Client              // the test's
	maps   client.Resource[*ConfigMap] // for the test's own writes; no fault hits it
	waits  client.Resource[*ConfigMap] // for WaitFor
	key    meta.Key
}

const waiterAgent = "waiter"

func newWaitRig(t *testing.T) *waitRig {
	server := clienttest.Start(t, clienttest.Options{})
	cfg := server.Config()
	own := dial(t, cfg)
	w := &waitRig{t: t, server: server, own: own, maps: client.For(own, configMaps), key: meta.Key{Namespace: "default", Name: "a"}}
	cfg.UserAgent = waiterAgent
	w.waits = client.For(dial(t, cfg), configMaps)
	return w
}

// fault answers the requests of WaitFor with what f returns.
func (w *waitRig) fault(f func(q clienttest.Request) http.HandlerFunc) {
	w.server.Intercept(func(r *http.Request) http.HandlerFunc {
		if r.UserAgent() != waiterAgent {
			return nil
		}
		return f(clienttest.RequestOf(r))
	})
}

func (w *waitRig) create(color string) *ConfigMap {
	w.t.Helper()
	return must[*ConfigMap](w.t)(w.maps.Create(w.t.Context(), &ConfigMap{
		ObjectMeta: meta.ObjectMeta{Namespace: w.key.Namespace, Name: w.key.Name}, Data: map[string]string{"color": color},
	}))
}

func (w *waitRig) paint(color string) {
	w.t.Helper()
	must[*ConfigMap](w.t)(w.maps.Modify(w.t.Context(), w.key, func(m *ConfigMap) error {
		m.Data = map[string]string{"color": color}
		return nil
	}))
}

func (w *waitRig) delete() {
	w.t.Helper()
	if err := w.maps.Delete(w.t.Context(), w.key, client.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// calls returns how many lists and watches there were.
func (w *waitRig) calls() (lists, watches int) {
	n := w.server.Requests()
	return n[clienttest.Call{Verb: "list", Resource: "configmaps"}], n[clienttest.Call{Verb: "watch", Resource: "configmaps"}]
}

// untilColor is met by an object of the color, and says all the states that it was asked about.
func untilColor(color string, seen *[]string) client.Condition {
	var mu sync.Mutex
	return client.Condition{Name: color, Met: func(obj *meta.Raw) (bool, string, error) {
		mu.Lock()
		defer mu.Unlock()
		state := "gone"
		if obj != nil {
			var err error
			if state, _, err = meta.Nested[string](obj, "data", "color"); err != nil {
				return false, "", err
			}
		}
		*seen = append(*seen, state)
		return state == color, "color " + state, nil
	}}
}

// waiting runs WaitFor until it is blocked, and returns what waits for its result. One that misses what it waits for fails after
// an hour, of virtual time, or it would go on for ever.
func (w *waitRig) waiting(ctx context.Context, cond client.Condition) func() (*ConfigMap, error) {
	type result struct {
		obj *ConfigMap
		err error
	}
	done := make(chan result, 1)
	go func() {
		ctx, cancel := context.WithTimeoutCause(ctx, time.Hour, errors.New("the wait does not end"))
		defer cancel()
		obj, err := client.WaitFor(ctx, w.waits, w.key, cond)
		done <- result{obj, err}
	}()
	synctest.Wait()
	return func() (*ConfigMap, error) {
		r := <-done
		return r.obj, r.err
	}
}

func TestAWaitIsOneListAndOneWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaitRig(t)
		var seen []string
		wait := w.waiting(t.Context(), untilColor("green", &seen))
		w.create("red")
		w.paint("yellow")
		w.paint("green")
		obj, err := wait()
		if err != nil || obj.Data["color"] != "green" || obj.Kind != "ConfigMap" || obj.UID == "" {
			t.Errorf("got %+v, %v", obj, err)
		}
		if got := strings.Join(seen, " "); got != "gone red yellow green" {
			t.Errorf("seen %q", got)
		}
		if lists, watches := w.calls(); lists != 1 || watches != 1 {
			t.Errorf("%d lists and %d watches, want one of each", lists, watches)
		}
		if _, err := client.WaitFor(t.Context(), w.waits, w.key, untilColor("green", &seen)); err != nil {
			t.Error(err)
		}
		if lists, watches := w.calls(); lists != 2 || watches != 1 {
			t.Errorf("%d lists and %d watches, want no watch for what is so already", lists, watches)
		}
	})
}

// What a wait asks for is what a role for the one object allows.
func TestAWaitSelectsItsObjectByName(t *testing.T) {
	s := says(listOf("5", "", object("b", "4"), object("a", "3")), event("MODIFIED", object("b", "6", "x"))+event("MODIFIED", object("a", "7", "x")))
	obj, err := client.WaitFor(t.Context(), client.For(connect(t, s), slims), web,
		client.Until("done", func(obj *Slim) (bool, error) { return obj.Data["x"] != "", nil }))
	if err != nil || obj.Name != "a" || obj.ResourceVersion != "7" {
		t.Fatalf("got %+v, %v", obj, err)
	}
	calls := s.all()
	if len(calls) != 2 || calls[0].uri != "/api/v1/namespaces/web/configmaps?fieldSelector=metadata.name%3Da&limit=500" ||
		!strings.HasPrefix(calls[1].uri, "/api/v1/namespaces/web/configmaps?allowWatchBookmarks=true&fieldSelector=metadata.name%3Da&resourceVersion=5&timeoutSeconds=") {
		t.Errorf("the requests are %v", calls)
	}
}

// guarantee S22: whoever a handle acts for, the handles and calls that are made from it do too.
func TestDerivedHandlesActForTheSameUser(t *testing.T) {
	s := answers(answer{code: 403, body: status(403, "Forbidden", "no")})
	r := client.For(connect(t, s), slims).As(client.Subject{User: "ann"})
	_, _ = client.WaitFor(t.Context(), r, web, client.UntilCreated())
	_, _ = r.Table(t.Context(), client.ListOptions{}, client.TableOptions{})
	_, _ = r.TableOf(t.Context(), web, client.TableOptions{})
	_, _ = client.Metadata(r).Get(t.Context(), web)
	calls := s.all()
	if len(calls) != 4 {
		t.Errorf("%d requests, want 4", len(calls))
	}
	for _, call := range calls {
		if got := call.header.Get("Impersonate-User"); got != "ann" {
			t.Errorf("%s is for %q", call, got)
		}
	}
}

// faults F2, F4, F6 and F7: whatever ends a watch, the wait goes on from where it was and sees every state.
func TestNoStateIsMissedWhileAWatchIsDown(t *testing.T) {
	for _, test := range []struct {
		name   string
		fault  func(w *waitRig)
		lists  int
		longer time.Duration // than this
	}{
		{"cut", func(w *waitRig) { w.server.DropWatches() }, 1, 0},
		{"ended", func(w *waitRig) { w.server.EndWatches() }, 1, 0},
		{"429 within the stream", func(w *waitRig) {
			w.server.FailWatches(meta.Status{Code: 429, Reason: "TooManyRequests", Details: &meta.StatusDetails{RetryAfterSeconds: 7}})
		}, 1, 7 * time.Second},
		{"refused for a while", func(w *waitRig) {
			n := 0
			w.fault(func(clienttest.Request) http.HandlerFunc {
				if n++; n > 20 {
					return nil
				}
				return []http.HandlerFunc{
					clienttest.Reset(), clienttest.TooManyRequests(time.Second), clienttest.HTML(), clienttest.Raw("nonsense"),
					clienttest.Answer(meta.Status{Code: 503, Reason: "ServiceUnavailable"}), clienttest.Answer(meta.Status{Code: 401, Reason: "Unauthorized"}),
					clienttest.Answer(meta.Status{Code: 403, Reason: "Forbidden"}), clienttest.Answer(meta.Status{Code: 500, Reason: "InternalError"}),
				}[n%8]
			})
			w.server.DropWatches()
		}, 1, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWaitRig(t)
				var seen []string
				w.create("red")
				start := time.Now()
				wait := w.waiting(t.Context(), untilColor("green", &seen))
				test.fault(w)
				w.paint("green")
				w.paint("black")
				obj, err := wait()
				if err != nil || obj.Data["color"] != "green" {
					t.Errorf("got %+v, %v after %v", obj, err, seen)
				}
				if lists, _ := w.calls(); lists != test.lists {
					t.Errorf("%d lists, want %d", lists, test.lists)
				}
				if took := time.Since(start); took < test.longer || took > 5*time.Minute {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// fault F6: after 410 the object is listed again; that another has taken its name meanwhile means that it had gone.
func TestAForgottenVersionIsListedAgain(t *testing.T) {
	for _, test := range []struct {
		name string
		cut  func(w *waitRig)
	}{
		{"in the stream", func(w *waitRig) { w.server.FailWatches(meta.Status{Code: 410, Reason: "Expired"}) }},
		{"on resuming", func(w *waitRig) { w.server.DropWatches(); w.server.Compact() }},
		{"refused with 410", func(w *waitRig) {
			w.fault(func(q clienttest.Request) http.HandlerFunc {
				if lists, _ := w.calls(); q.Verb == "watch" && lists == 1 {
					return clienttest.Answer(meta.Status{Code: 410, Reason: "Expired"})
				}
				return nil
			})
			w.server.DropWatches()
		}},
		{"refused with 404, as while a resource is defined anew", func(w *waitRig) {
			w.fault(func(q clienttest.Request) http.HandlerFunc {
				if lists, _ := w.calls(); q.Verb == "watch" && lists == 1 {
					return clienttest.Answer(meta.Status{Code: 404, Reason: "NotFound"})
				}
				return nil
			})
			w.server.DropWatches()
		}},
		{"an event that cannot be read", func(w *waitRig) {
			n := 0
			w.fault(func(q clienttest.Request) http.HandlerFunc {
				if n++; q.Verb == "watch" && n == 1 {
					return clienttest.Frames(false, `{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"9"}}}`)
				}
				return nil
			})
			w.server.DropWatches()
		}},
		{"ends at once without a word", func(w *waitRig) {
			w.fault(func(q clienttest.Request) http.HandlerFunc {
				if lists, _ := w.calls(); q.Verb == "watch" && lists == 1 {
					return clienttest.Frames(false)
				}
				return nil
			})
			w.server.DropWatches()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWaitRig(t)
				first := w.create("red")
				wait := w.waiting(t.Context(), client.UntilDeleted(""))
				test.cut(w)
				w.delete()
				w.create("red")
				w.server.Compact()
				obj, err := wait()
				if err != nil || obj != nil {
					t.Errorf("got %+v, %v", obj, err)
				}
				if lists, _ := w.calls(); lists != 2 {
					t.Errorf("%d lists, want 2", lists)
				}
				obj, err = client.WaitFor(t.Context(), w.waits, w.key, client.UntilDeleted(first.UID))
				if err != nil || obj.UID == first.UID {
					t.Errorf("by uid: got %+v, %v", obj, err)
				}
			})
		})
	}
}

// A bookmark says from where to go on where the object itself has no events, so that what others do to other objects for hours
// does not make its version too old.
func TestAWaitGoesOnFromABookmark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaitRig(t)
		var seen []string
		w.create("red")
		wait := w.waiting(t.Context(), untilColor("green", &seen))
		must[*ConfigMap](t)(w.maps.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: w.key.Namespace, Name: "other"}}))
		time.Sleep(90 * time.Second) // virtual; there is a bookmark every minute
		w.server.Compact()
		w.server.DropWatches()
		w.paint("green")
		if _, err := wait(); err != nil {
			t.Fatal(err)
		}
		if lists, _ := w.calls(); lists != 1 {
			t.Errorf("%d lists, want 1", lists)
		}
	})
}

// A watch that has brought something and ends is resumed soon, however often that happens: a wait is not slower for having
// lasted.
func TestAWaitReopensAWorkingWatchSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaitRig(t)
		var seen []string
		w.create("red")
		wait := w.waiting(t.Context(), untilColor("green", &seen))
		start := time.Now()
		const times = 30
		for i := range times {
			w.paint(fmt.Sprint(i))
			synctest.Wait()
			w.server.DropWatches()
			time.Sleep(200 * time.Millisecond) // virtual; the longest pause
			synctest.Wait()
			if last := seen[len(seen)-1]; last != fmt.Sprint(i) {
				t.Fatalf("%v after the start: seen %s, want %d", time.Since(start), last, i)
			}
		}
		w.paint("green")
		if _, err := wait(); err != nil {
			t.Fatal(err)
		}
	})
}

// A list that makes progress is waited for, however long it takes: a server that ignores the selector may have much to say. It
// was given up after 75 s, again and again.
func TestAWaitForASlowList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaitRig(t)
		made := w.create("red")
		w.fault(func(clienttest.Request) http.HandlerFunc {
			return func(out http.ResponseWriter, r *http.Request) {
				out.Header().Set("Content-Type", "application/json")
				fmt.Fprint(out, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[`)
				for i := range 100 {
					fmt.Fprintf(out, `{"metadata":{"namespace":"default","name":"other-%d","annotations":{"x":"%s"}}},`, i, strings.Repeat("x", 2000))
					_ = http.NewResponseController(out).Flush()
					time.Sleep(time.Second) // virtual
				}
				fmt.Fprintf(out, `{"metadata":{"namespace":"default","name":"a","uid":"%s","resourceVersion":"%s"}}]}`, made.UID, made.ResourceVersion)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		if _, err := client.WaitFor(ctx, w.waits, w.key, client.UntilCreated()); err != nil {
			t.Error(err)
		}
	})
}

// fault F3: a server that cannot be heard any more is noticed.
func TestAWaitSurvivesASilentConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaitRig(t)
		var seen []string
		w.create("red")
		wait := w.waiting(t.Context(), untilColor("green", &seen))
		start := time.Now()
		w.own.Close() // or its connection would be frozen too
		if w.server.Freeze() == 0 {
			t.Fatal("no connection is frozen")
		}
		w.paint("green")
		if obj, err := wait(); err != nil || obj.Data["color"] != "green" {
			t.Errorf("got %+v, %v", obj, err)
		}
		if took := time.Since(start); took > 5*time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}

// An oracle: through any faults a wait ends with the last state, and has seen only states that were, in order.
func TestRandomHistoriesOfAWait(t *testing.T) {
	for seed := range histories.Seeds(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, dice := newWaitRig(t), rand.New(rand.NewPCG(seed, 1))
				var mu sync.Mutex // guards the faults' dice
				faults := rand.New(rand.NewPCG(seed, 2))
				calm := false
				exists := dice.IntN(2) == 0
				history := []string{"gone"}
				if exists {
					w.create("0")
					history = []string{"0"}
				}
				var seen []string
				wait := w.waiting(t.Context(), untilColor("green", &seen))
				w.fault(func(q clienttest.Request) http.HandlerFunc {
					mu.Lock()
					defer mu.Unlock()
					if calm {
						return nil
					}
					switch faults.IntN(12) {
					case 0:
						return clienttest.Reset()
					case 1:
						return clienttest.TooManyRequests(time.Second)
					case 2:
						return clienttest.Answer(meta.Status{Code: 403, Reason: "Forbidden"})
					case 3:
						return clienttest.Answer(meta.Status{Code: 410, Reason: "Expired"})
					case 4:
						return clienttest.Frames(false)
					}
					return nil
				})
				for i := range 30 {
					switch {
					case !exists:
						w.create(fmt.Sprint(i))
						history, exists = append(history, fmt.Sprint(i)), true
					case dice.IntN(3) == 0:
						w.delete()
						history, exists = append(history, "gone"), false
					default:
						w.paint(fmt.Sprint(i))
						history = append(history, fmt.Sprint(i))
					}
					switch dice.IntN(10) {
					case 0:
						w.server.DropWatches()
					case 1:
						w.server.EndWatches()
					case 2:
						w.server.FailWatches(meta.Status{Code: 410, Reason: "Expired"})
					case 3:
						w.server.Compact()
					case 4:
						w.server.FailWatches(meta.Status{Code: 500, Reason: "InternalError"})
					case 5:
						time.Sleep(time.Duration(dice.IntN(3000)) * time.Millisecond) // virtual
					case 6:
						synctest.Wait()
					}
				}
				mu.Lock()
				calm = true
				mu.Unlock()
				if !exists {
					w.create("green")
				} else {
					w.paint("green")
				}
				history = append(history, "green")
				obj, err := wait()
				if err != nil || obj.Data["color"] != "green" {
					t.Fatalf("got %+v, %v", obj, err)
				}
				at := 0
				for i, state := range seen {
					for at < len(history) && history[at] != state {
						at++
					}
					if at == len(history) {
						t.Fatalf("state %d of %v is not in the rest of %v", i, seen, history)
					}
				}
			})
		})
	}
}

// T decides what is returned, and never what a condition sees.
func TestAWaitForEveryKindOfT(t *testing.T) {
	const pod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"web","uid":"u","resourceVersion":"7","labels":{"app":"web"}},` +
		`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
	list := strings.ReplaceAll(listOf("9", "", strings.Replace(pod, `"kind":"Pod","apiVersion":"v1",`, "", 1)), "ConfigMapList", "PodList")
	pods := client.Type[*Slim]{Version: "v1", Kind: "Pod", Resource: "pods"}
	c := connect(t, says(list))
	ready := client.UntilPodReady()
	check := func(what string, obj meta.Object, err error) {
		t.Helper()
		if err != nil || obj.GetName() != "a" || obj.GetResourceVersion() != "7" {
			t.Errorf("%s: got %v, %v", what, obj, err)
		}
	}
	slim, err := client.WaitFor(t.Context(), client.For(c, pods), web, ready)
	check("a small struct", slim, err)
	bag, err := client.WaitFor(t.Context(), client.For(c, client.Type[*meta.Unstructured](pods)), web, ready)
	check("unstructured", bag, err)
	if phase, _, _ := meta.Nested[string](bag.Object, "status", "phase"); phase != "Running" || bag.Object["kind"] != "Pod" {
		t.Errorf("unstructured: %v", bag.Object)
	}
	raw, err := client.WaitFor(t.Context(), client.For(c, client.Type[*meta.Raw](pods)), web, ready)
	check("raw", raw, err)
	if text, err := json.Marshal(raw); err != nil || string(text) != pod {
		t.Errorf("raw: %s, %v", text, err)
	}
	part, err := client.WaitFor(t.Context(), client.Metadata(client.For(c, pods)), web, ready)
	check("metadata", part, err)
	if part.Kind != "Pod" || part.Labels["app"] != "web" {
		t.Errorf("metadata: %+v", part)
	}
	type bad struct {
		meta.Identity `json:"metadata"`
		Status        []string `json:"status"`
	}
	none, err := client.WaitFor(t.Context(), client.For(c, client.Type[*bad](pods)), web, ready)
	if is[*client.DecodeError](t, err); none != nil {
		t.Errorf("beside its error, %+v", none)
	}
}

func TestHowAWaitEnds(t *testing.T) {
	gone := func(code int, reason string) func(clienttest.Request) http.HandlerFunc {
		return func(clienttest.Request) http.HandlerFunc {
			return clienttest.Answer(meta.Status{Code: code, Reason: reason, Message: "no"})
		}
	}
	color := untilColor("green", new([]string))
	for _, test := range []struct {
		name  string
		cond  client.Condition
		fault func(clienttest.Request) http.HandlerFunc
		make  string
		want  string
		as    error
	}{
		{
			"its time is over", color, nil, "red",
			`wait for configmaps "default/a" to be green: context deadline exceeded; last seen: color red (resource version "VERSION")`,
			context.DeadlineExceeded,
		},
		{
			"its time is over, and there was nothing", client.UntilCreated(), nil, "",
			`wait for configmaps "default/a" to be created: context deadline exceeded; last seen: it does not exist (resource version "VERSION")`,
			context.DeadlineExceeded,
		},
		{
			"its time is over, and the server could not be read", color, gone(503, "ServiceUnavailable"), "red",
			`wait for configmaps "default/a" to be green: context deadline exceeded; nothing was seen; last error: list configmaps in "default": server said ServiceUnavailable (503): no`,
			context.DeadlineExceeded,
		},
		{
			"its time is over, and the server could not be read any more", color, func(q clienttest.Request) http.HandlerFunc {
				if q.Verb == "list" {
					return nil
				}
				return gone(403, "Forbidden")(q)
			}, "red",
			`wait for configmaps "default/a" to be green: context deadline exceeded; last seen: color red (resource version "VERSION"); last error: watch configmaps in "default": server said Forbidden (403): no`,
			context.DeadlineExceeded,
		},
		{
			"it is not allowed", color, gone(403, "Forbidden"), "",
			`wait for configmaps "default/a" to be green: list configmaps in "default": server said Forbidden (403): no`, apierrors.Forbidden,
		},
		{
			"nobody knows who asks", color, gone(401, "Unauthorized"), "",
			`wait for configmaps "default/a" to be green: list configmaps in "default": server said Unauthorized (401): no`, apierrors.Unauthorized,
		},
		{
			"there is no such resource", client.UntilDeleted(""), gone(404, "NotFound"), "",
			`wait for configmaps "default/a" to be deleted: list configmaps in "default": server said NotFound (404): no`, apierrors.NotFound,
		},
		{
			"there is no such resource yet", client.UntilCreated(), gone(404, "NotFound"), "",
			`wait for configmaps "default/a" to be created: context deadline exceeded; nothing was seen; last error: list configmaps in "default": server said NotFound (404): no`,
			context.DeadlineExceeded,
		},
		{
			"what answers is something else", color, func(clienttest.Request) http.HandlerFunc {
				return clienttest.Frames(false, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}`)
			}, "",
			`wait for configmaps "default/a" to be green: list configmaps in "default": server sent v1 PodList, want v1 ConfigMapList`, nil,
		},
		{
			"the condition gives up",
			client.Condition{Name: "blue", Met: func(obj *meta.Raw) (bool, string, error) {
				return false, "color \x1b[2Jred", errors.New("never")
			}},
			nil, "red",
			`wait for configmaps "default/a" to be blue: never; last seen: color red (resource version "VERSION")`, nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWaitRig(t)
				if test.make != "" {
					w.create(test.make)
				}
				if test.fault != nil {
					w.fault(test.fault)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				obj, err := client.WaitFor(ctx, w.waits, w.key, test.cond)
				if obj != nil || err == nil {
					t.Fatalf("got %+v, %v", obj, err)
				}
				e := is[*client.WaitError](t, err)
				said := regexp.MustCompile(`resource version "[0-9]+"`).ReplaceAllString(err.Error(), `resource version "VERSION"`)
				if said != test.want || (e.State != "") != strings.Contains(test.want, "VERSION") {
					t.Errorf("error is %v\nwant     %v", said, test.want)
				}
				if test.as != nil && !errors.Is(err, test.as) {
					t.Errorf("%v is no %v", err, test.as)
				}
				if e.Key != w.key || e.Resource != configMaps.GVR() {
					t.Errorf("it is about %+v", e)
				}
			})
		})
	}
}

func TestInvalidWaitsSendNothing(t *testing.T) {
	c := without(t, func(*http.Request) (*http.Response, error) {
		t.Error("something was sent")
		return nil, errors.New("no")
	})
	maps, created := client.For(c, slims), client.UntilCreated()
	for _, test := range []struct {
		name string
		r    client.Resource[*Slim]
		key  meta.Key
		cond client.Condition
		want string
	}{
		{"no condition", maps, web, client.Condition{}, `wait for configmaps "web/a" to be : client.Condition: Met must be set`},
		{"no name of it", maps, web, client.Condition{Met: created.Met}, `wait for configmaps "web/a" to be : client.Condition: Name must be set, such as "ready"`},
		{"no name", maps, meta.Key{Namespace: "web"}, created, `wait for configmaps in "web" to be created: name must not be empty`},
		{"no namespace", maps, meta.Key{Name: "a"}, created, `wait for configmaps "a" to be created: namespace must not be empty for a namespaced resource`},
		{"a namespace too many", client.For(c, nodes), web, created, `wait for nodes "web/a" to be created: namespace must be empty for a cluster-wide resource, got "web"`},
		{"a name that leads elsewhere", maps, meta.Key{Namespace: "web", Name: "../x"}, created, `wait for configmaps "web/../x" to be created: name must be one path segment, without "/" and "%", got "../x"`},
		{"the zero handle", client.Resource[*Slim]{}, web, created, `wait for  "web/a" to be created: the zero client.Resource has no client; use client.For`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := client.WaitFor(t.Context(), test.r, test.key, test.cond)
			if is[*client.UsageError](t, err); err.Error() != test.want {
				t.Errorf("error is %v\nwant     %v", err, test.want)
			}
		})
	}
}

// A wait for a custom resource may begin before its definition is there.
func TestAWaitForAResourceThatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		things := client.For(dial(t, server.Config()), client.Type[*Slim]{Group: "example.com", Version: "v1", Kind: "Thing", Resource: "things"})
		key := meta.Key{Namespace: "default", Name: "a"}
		done := make(chan error, 1)
		go func() {
			_, err := client.WaitFor(t.Context(), things, key, client.UntilCreated())
			done <- err
		}()
		time.Sleep(time.Minute) // virtual
		if err := server.Register(clienttest.Resource{Group: "example.com", Version: "v1", Kind: "Thing", Resource: "things"}); err != nil {
			t.Fatal(err)
		}
		must[*Slim](t)(things.Create(t.Context(), &Slim{Identity: meta.Identity{Namespace: key.Namespace, Name: key.Name}}))
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A server whose certificate nobody vouches for does not get better by waiting.
func TestAWaitForAServerThatIsNotTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := clienttest.Start(t, clienttest.Options{TLS: true}).Config()
		cfg.TLS.CAData = clienttest.New(clienttest.Options{TLS: true}).Config().TLS.CAData // of another
		_, err := client.WaitFor(t.Context(), client.For(dial(t, cfg), slims), web, client.UntilCreated())
		is[*tls.CertificateVerificationError](t, err)
	})
}
