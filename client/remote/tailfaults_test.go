package remote_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// newTail starts a node with one running container, and a Tail.
func newTail(t *testing.T, o clienttest.Options) (*node, *containers.Log, *tailing) {
	n := newNode(t, o)
	n.create("a", "app")
	n.start("a", "app")
	g := n.tail(tailed)
	g.expect(t, time.Second)
	return n, n.logs.Of(key("a"), "app"), g
}

func TestTailFollowsRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log, g := newTail(t, clienttest.Options{})
		log.Add(entry(1, "a"))
		g.expect(t, time.Minute, "a")
		log.Start()
		log.Add(entry(2, "b"))
		n.report("a", "app", 1, true)
		g.expect(t, time.Minute, "b")
		log.Add(entry(3, "c"))
		log.End() // it waits for its next start
		n.report("a", "app", 1, false)
		g.expect(t, time.Hour, "c")
		n.asked()
		time.Sleep(24 * time.Hour)
		if q := n.asked(); len(q) > 0 {
			t.Errorf("the log of a container that has ended is asked for again: %+v", q)
		}
		log.Start()
		log.Add(entry(4, "d"))
		n.report("a", "app", 2, true)
		g.expect(t, time.Minute, "d")
		if errs := g.stop(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

func TestTailReadsARunThatItHasNotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log, g := newTail(t, clienttest.Options{})
		log.Add(entry(1, "a"))
		g.expect(t, time.Minute, "a")
		log.Start()
		log.Add(entry(2, "b"))
		log.Start()
		log.Add(entry(3, "c"))
		n.report("a", "app", 2, true)
		g.expect(t, time.Minute, "b", "c")

		late := n.logs.Of(key("late"), "app") // it has restarted once before anybody heard of it
		n.create("late", "app")
		late.Add(entry(4, "d"))
		late.Start()
		late.Add(entry(5, "e"))
		n.report("late", "app", 1, true)
		g.expect(t, time.Minute, "d", "e")
		if errs := g.stop(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

func TestTailGoesOnAfterARotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log, g := newTail(t, clienttest.Options{})
		log.Add(entry(1, "a"), entry(2.1, "b"), entry(2.2, "c"))
		g.expect(t, time.Minute, "a", "b", "c")
		n.setCut(func(meta.Key) (int, bool) { return 0, false })
		n.dropLogs()
		log.Add(entry(2.3, "lost"), entry(2.4, "d"), entry(3, "e"))
		log.Rotate(4)
		time.Sleep(time.Minute)
		n.setCut(nil)
		g.expect(t, time.Minute, "d", "e")
		log.End()
		n.report("a", "app", 0, false)
		g.expect(t, time.Minute)
		g.stopAfterCuts(t)
	})
}

func TestTailOfPodsThatGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log, g := newTail(t, clienttest.Options{})
		log.Add(entry(1, "a"))
		g.expect(t, time.Minute, "a")
		if err := n.pods.Delete(t.Context(), key("a"), client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		log.Add(entry(2, "last words")) // the container is told to end, and its log is open
		g.expect(t, 10*time.Second, "last words")
		log.End()
		g.expect(t, time.Minute)

		n.create("a", "app") // another pod of the name
		log.Start()
		log.Add(entry(3, "b"))
		n.report("a", "app", 0, true)
		g.expect(t, time.Minute, "b")
		if errs := g.stop(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

// Another pod takes the place of a pod while the watch is broken, so that only the log shows it.
func TestTailDoesNotTakeAPodForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log, g := newTail(t, clienttest.Options{})
		log.Add(entry(1, "a"))
		g.expect(t, time.Minute, "a")
		n.Intercept(func(r *http.Request) http.HandlerFunc {
			if r.URL.Query().Get("watch") != "" {
				return clienttest.TooManyRequests(0)
			}
			return nil
		})
		n.EndWatches()
		if err := n.pods.Delete(t.Context(), key("a"), client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		n.create("a", "app")
		log.Start()
		log.Add(entry(2, "b"))
		n.report("a", "app", 0, true)
		g.expect(t, time.Hour)
		n.Intercept(nil)
		g.expect(t, time.Minute, "b")
		errs := g.stop(t)
		if logErr := (*remote.LogError)(nil); len(errs) != 1 || !errors.As(errs[0], &logErr) || logErr.Container != "" || !errors.Is(logErr, apierrors.TooManyRequests) {
			t.Errorf("the errors are %v, want one of the watch", errs)
		}
	})
}

func TestTailEndsALogThatIsSilentForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log, g := newTail(t, clienttest.Options{})
		log.Add(entry(1, "a"))
		g.expect(t, time.Minute, "a")
		run := n.asked() // the node hangs, and does not end the answer with the container
		n.report("a", "app", 1, true)
		g.expect(t, 20*time.Second)
		if q := n.asked(); len(run) == 0 || len(q) > 0 {
			t.Errorf("asked for %+v while the answer may still go on", q)
		}
		log.Start()
		log.Add(entry(2, "b"))
		g.expect(t, time.Minute, "b")
		if errs := g.stop(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

func TestTailReportsALogThatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var allowed atomic.Bool
		n := newNode(t, clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) {
			return allowed.Load() || a.Request.Subresource != "log" || a.Request.Key.Name != "b", "secret"
		}})
		for _, name := range []string{"a", "b"} {
			n.create(name, "app")
			n.start(name, "app")
			n.logs.Of(key(name), "app").Add(entry(1, name))
		}
		g := n.tail(tailed)
		g.expect(t, time.Hour, "a")
		allowed.Store(true)
		g.expect(t, time.Hour, "b")
		errs := g.stop(t)
		logErr := (*remote.LogError)(nil)
		if len(errs) != 1 || !errors.As(errs[0], &logErr) || logErr.Pod != key("b") || logErr.Container != "app" || !errors.Is(logErr, apierrors.Forbidden) {
			t.Fatalf("got %v, want one LogError on b", errs)
		}
		if want := "follow the log of pod default/b, container app: get pods/log \"default/b\": server said Forbidden (403)"; !strings.HasPrefix(logErr.Error(), want) {
			t.Errorf("the error is %q, want %q", logErr, want)
		}
	})
}

func TestTailReportsWhatTheNodeSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, clienttest.Options{})
		n.create("a", "app")
		n.report("a", "app", 0, false)
		n.Intercept(func(r *http.Request) http.HandlerFunc {
			if !strings.HasSuffix(r.URL.Path, "/log") {
				return nil
			}
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				fmt.Fprint(w, "2026-05-01T12:00:00Z a\nunable to retrieve container logs for cri://x")
			}
		})
		g := n.tail(tailed)
		g.expect(t, time.Hour, "a")
		errs := g.stop(t)
		if len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), "the node says: unable to retrieve container logs for cri://x") {
			t.Errorf("got %v", errs)
		}
	})
}

func TestTailIsRefused(t *testing.T) {
	n := newNode(t, clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) { return a.User.Name != "nobody", "" }})
	for name, tc := range map[string]struct {
		pods client.Resource[*pod]
		o    remote.TailOptions
		want string
	}{
		"zero handle":   {client.Resource[*pod]{}, tailed, "the handle on pods is the zero Resource"},
		"other objects": {client.For(n.client, client.Type[*pod]{Version: "v1", Kind: "Node", Resource: "nodes"}), tailed, "must be for core v1 pods"},
		"window":        {n.pods, remote.TailOptions{Window: -1}, "remote.TailOptions: Window must be 0 or more, got -1ns"},
		"tail":          {n.pods, remote.TailOptions{Tail: -2}, "Tail must be a number of lines"},
		"a selector":    {n.pods, remote.TailOptions{LabelSelector: "=="}, "BadRequest"},
		"a namespace":   {n.pods, remote.TailOptions{Namespace: "a/b"}, "namespace"},
		"another one":   {n.pods.In("default"), remote.TailOptions{Namespace: "web"}, `namespace must be "default"`},
		"forbidden":     {n.pods.As(client.Subject{User: "nobody"}), tailed, `cannot list resource "pods"`},
	} {
		t.Run(name, func(t *testing.T) {
			var errs []error
			for _, err := range remote.Tail(t.Context(), tc.pods, tc.o) {
				errs = append(errs, err)
			}
			op, logErr := (*client.OpError)(nil), (*remote.LogError)(nil)
			if len(errs) != 1 || !errors.As(errs[0], &op) || errors.As(errs[0], &logErr) || !strings.Contains(errs[0].Error(), tc.want) {
				t.Errorf("got %v, want one OpError with %q", errs, tc.want)
			}
		})
	}
}

func TestTailOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, clienttest.Options{})
		for _, name := range []string{"a", "b"} {
			n.create(name, "app", "sidecar")
			for _, c := range []string{"app", "sidecar"} {
				n.start(name, c)
				n.logs.Of(key(name), c).Add(entry(0.25, "1"), entry(0.5, "2"), containers.Entry{Time: at(0.75), Text: "3", Stderr: true})
			}
		}
		for name, tc := range map[string]struct {
			o    remote.TailOptions
			want []string
		}{
			"one pod":          {remote.TailOptions{FieldSelector: "metadata.name=a", Tail: 1}, []string{"a/app: 3", "a/sidecar: 3"}},
			"since":            {remote.TailOptions{Since: at(0.5), FieldSelector: "metadata.name=a"}, []string{"a/app: 2", "a/sidecar: 2", "a/app: 3", "a/sidecar: 3"}},
			"since and a tail": {remote.TailOptions{Since: at(-3600), Tail: 1}, []string{"a/app: 3", "a/sidecar: 3", "b/app: 3", "b/sidecar: 3"}},
			"some of them":     {remote.TailOptions{Tail: 2, Containers: func(pod meta.Key, c string) bool { return pod.Name == "b" && c == "app" }}, []string{"b/app: 2", "b/app: 3"}},
		} {
			got := take(t, len(tc.want), remote.Tail(t.Context(), n.pods, tc.o))
			slices.Sort(got)
			slices.Sort(tc.want)
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s: got %q, want %q", name, got, tc.want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for l, err := range remote.Tail(ctx, n.pods, remote.TailOptions{Tail: -1}) {
			if err == nil || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("with Tail -1: %v, %v", l, err)
			}
		}
	})
}

// Watches end, break, and expire; pods come meanwhile.
func TestTailOverFaultsOfTheWatch(t *testing.T) {
	for name, fault := range map[string]func(n *node){
		"end":     func(n *node) { n.EndWatches() },
		"drop":    func(n *node) { n.DropWatches() },
		"expired": func(n *node) { n.FailWatches(meta.Status{Code: 410, Reason: "Expired"}) },
		"compacted": func(n *node) {
			n.DropWatches()
			n.create(fmt.Sprint("other", len(n.statuses)), "app")
			n.Compact()
		},
		"too many": func(n *node) { n.FailWatches(meta.Status{Code: 429, Reason: "TooManyRequests"}) },
		"frozen":   func(n *node) { n.Freeze(); n.client.Close() }, // the next request takes another connection
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, log, g := newTail(t, clienttest.Options{})
				for i := range 5 {
					fault(n)
					pod := fmt.Sprint("p", i)
					n.create(pod, "app")
					n.logs.Of(key(pod), "app").Add(entry(float64(2*i), pod))
					n.report(pod, "app", 0, true)
					log.Add(entry(float64(2*i), "a"))
					time.Sleep(time.Hour)
					got := g.texts()
					slices.Sort(got)
					if want := []string{"a", pod}; !slices.Equal(got, want) {
						t.Errorf("got %q, want %q", got, want)
					}
				}
				if errs := g.stop(t); len(errs) > 0 {
					t.Error(errs)
				}
			})
		})
	}
}

// A server that ends each watch at once may have no events from before: Tail waits between its attempts, and then lists the pods.
func TestTailOverWatchesThatEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _, g := newTail(t, clienttest.Options{})
		var watches atomic.Int32
		n.Intercept(func(r *http.Request) http.HandlerFunc {
			if r.URL.Query().Get("watch") == "" || !strings.HasSuffix(r.URL.Path, "/pods") {
				return nil
			}
			watches.Add(1)
			return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
		})
		n.EndWatches()
		n.create("late", "app")
		n.logs.Of(key("late"), "app").Add(entry(1, "late"))
		n.report("late", "app", 0, true)
		g.expect(t, time.Minute, "late")
		if w := watches.Load(); w < 3 || w > 20 {
			t.Errorf("Tail asked for %d watches in a minute, want a few", w)
		}
		n.Intercept(nil)
		if errs := g.stop(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

func TestTailOfASlowLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, clienttest.Options{})
		const lines = 1000
		for _, name := range []string{"a", "b"} {
			n.create(name, "app")
			n.start(name, "app")
			for i := range lines {
				n.logs.Of(key(name), "app").Add(entry(float64(i), fmt.Sprintf("%d %s", i, strings.Repeat("x", 20_000))))
			}
		}
		before := heap()
		next := map[string]int{}
		total := 0
		for l, err := range remote.Tail(t.Context(), n.pods, tailed) {
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprint(next[l.Pod.Name], " "); !strings.HasPrefix(l.Text, want) {
				t.Fatalf("%s: got %.10q, want %q", l.Pod.Name, l.Text, want)
			}
			next[l.Pod.Name]++
			if total++; total == 100 {
				time.Sleep(24 * time.Hour)
				synctest.Wait()
				// 40 MB wait. Two buffers and what lies on connections in the process are held.
				if grown := heap() - before; grown > 12<<20 {
					t.Errorf("a loop that does not go on holds %d bytes", grown)
				}
			}
			if total == 2*lines {
				break
			}
		}
	})
}

// heap returns how many bytes are in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// The lines of 20 containers arrive up to a second late, and so out of order by as much.
func TestTailBringsLinesIntoOrderWithinTheWindow(t *testing.T) {
	for _, window := range []time.Duration{0, 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			n := newNode(t, clienttest.Options{})
			for i := range 20 {
				n.create(fmt.Sprint("p", i), "app")
				n.start(fmt.Sprint("p", i), "app")
			}
			o := tailed
			o.Window = window
			g := n.tail(o)
			time.Sleep(time.Second)
			random := rand.New(rand.NewPCG(1, 2))
			for i := range 20 {
				log := n.logs.Of(key(fmt.Sprint("p", i)), "app")
				late := time.Duration(random.IntN(990)) * time.Millisecond
				go func() {
					for k := range 200 {
						time.Sleep(time.Duration(k*7%50) * time.Millisecond)
						when := time.Now()
						time.AfterFunc(late, func() { log.Add(containers.Entry{Time: when, Text: fmt.Sprint(k)}) })
					}
				}()
			}
			time.Sleep(time.Hour)
			g.mu.Lock()
			defer g.mu.Unlock()
			if len(g.lines) != 20*200 {
				t.Errorf("%d lines have come", len(g.lines))
			}
			if !slices.IsSortedFunc(g.lines, func(a, b remote.Line) int { return a.Time.Compare(b.Time) }) {
				t.Errorf("with a window of %v the lines are not in order", window)
			}
			g.cancel()
		})
	}
}

func TestTheEndsOfTail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the test ends only if all goroutines have
		n := newNode(t, clienttest.Options{})
		for i := range 3 {
			n.create(fmt.Sprint("p", i), "app")
			n.start(fmt.Sprint("p", i), "app")
			n.logs.Of(key(fmt.Sprint("p", i)), "app").Add(entry(1, strings.Repeat("x", 1000)))
		}
		for i := range histories.Count(160) {
			o := remote.WithBuffer(tailed, 1) // readers that are blocked
			if i%2 == 0 {
				if got := take(t, 1+i%3, remote.Tail(t.Context(), n.pods, o)); len(got) != 1+i%3 {
					t.Fatalf("got %d lines", len(got))
				}
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(6*i)*time.Millisecond)
			var last error
			for _, err := range remote.Tail(ctx, n.pods, o) {
				last = err
			}
			cancel()
			if op := (*client.OpError)(nil); !errors.Is(last, context.DeadlineExceeded) || !errors.As(last, &op) {
				t.Fatalf("the error is %v", last)
			}
		}
		n.client.Close()
		synctest.Wait()
		if c := n.Connections(); c != 0 {
			t.Errorf("%d connections are open", c)
		}
	})
}

// While a container runs, answers end in good order again and again, and so does the first one after its end.
func TestTailDoesNotTakeACutForTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log, g := newTail(t, clienttest.Options{})
		log.Add(entry(1, "a"))
		g.expect(t, time.Minute, "a")
		cuts := func(more *atomic.Int64) func(meta.Key) (int, bool) {
			return func(meta.Key) (int, bool) {
				if more.Add(-1) >= 0 {
					return 0, true
				}
				return -1, false
			}
		}
		var many, one atomic.Int64
		many.Store(1000)
		one.Store(1)
		n.setCut(cuts(&many))
		n.dropLogs()
		g.expect(t, 10*time.Minute)
		log.Add(entry(2, "b"))
		log.End()
		n.setCut(cuts(&one))
		n.report("a", "app", 0, false)
		g.expect(t, time.Minute, "b")
		if errs := g.stop(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

// cutEarly cuts all logs that are followed until the caller sets restarted. It also cuts the first answers for the rest
// of a previous log, as many as most, each after a number of bytes. early counts these.
func cutEarly(n *node, most int, after func(answer int) int) (restarted *atomic.Bool, early *int) {
	restarted, early = new(atomic.Bool), new(int)
	n.Intercept(func(r *http.Request) http.HandlerFunc {
		switch q := r.URL.Query(); {
		case q.Get("follow") == "true" && !restarted.Load():
			n.setCut(func(meta.Key) (int, bool) { return 0, true })
		case q.Get("previous") == "true" && q.Has("sinceTime") && *early < most:
			*early++
			bytes := after(*early)
			n.setCut(func(meta.Key) (int, bool) { return bytes, true })
		default:
			n.setCut(nil)
		}
		return nil
	})
	return restarted, early
}

// A gap makes Tail read the previous log by two requests: one from the last yielded line, and one for the gap. If the
// first response is cut before that line, the second one alone does not show the end of the run.
func TestTailDoesNotTakeAGapForTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log, g := newTail(t, clienttest.Options{})
		log.Add(entry(1, "a")) // after a gap from the beginning: "a" might be from a second run already
		g.expect(t, time.Minute, "a")
		// They end within the timestamp of "a", and each at another byte.
		restarted, early := cutEarly(n, 5, func(answer int) int { return answer })
		n.dropLogs()
		g.expect(t, time.Minute)
		log.Add(entry(2, "b"))
		log.Start()
		log.Add(entry(3, "c"))
		restarted.Store(true)
		n.report("a", "app", 1, true)
		g.expect(t, time.Hour, "b", "c")
		if errs := g.stop(t); len(errs) > 0 || *early != 5 {
			t.Errorf("%v; %d answers were cut early, want 5", errs, *early)
		}
	})
}

// Tail counts the answers in a row that end alike for each run: those from the first run say nothing about the second.
func TestTailDoesNotTakeTheEndOfARunForThatOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log, g := newTail(t, clienttest.Options{})
		log.Add(entry(1, "a"))
		g.expect(t, time.Minute, "a")
		restarted, early := cutEarly(n, 2, func(int) int { return 0 })
		n.dropLogs()
		g.expect(t, time.Minute)
		log.Start() // the status does not show this restart
		log.Add(entry(2, "b"))
		log.Start()
		log.Add(entry(3, "c"))
		restarted.Store(true)
		n.report("a", "app", 2, true)
		g.expect(t, time.Hour, "b", "c")
		if errs := g.stop(t); len(errs) > 0 || *early != 2 {
			t.Errorf("%v; %d answers were cut early, want 2", errs, *early)
		}
	})
}

// Tail yields a last line without "\n" only at the end of its run. If it has yielded lines of the next run by then, it
// resumes after those.
func TestTailResumesAfterALateLineWithoutItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log, g := newTail(t, clienttest.Options{})
		log.Add(entry(1, "a"))
		g.expect(t, time.Minute, "a")
		cut := func(meta.Key) (int, bool) { return 0, true }
		n.setCut(cut)
		n.dropLogs()
		g.expect(t, time.Minute)
		log.Add(containers.Entry{Time: at(2), Text: "b", Partial: true})
		log.Start()
		log.Add(entry(3, "c"))
		n.setCut(nil)
		g.expect(t, time.Minute, "c")
		n.setCut(cut)
		n.dropLogs()
		g.expect(t, time.Minute)
		log.Add(entry(3, "d")) // in the nanosecond of the last line
		n.setCut(nil)
		n.report("a", "app", 1, true)
		g.expect(t, time.Hour, "b", "d")
		if errs := g.stop(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

// A response may be from a second run before the status shows that run, and go on for hours. Tail reads the rest of the
// first run before the end of that response, because another restart would lose that rest.
func TestTailDoesNotReadTheRestOfARunTooLate(t *testing.T) {
	for name, statusFirst := range map[string]bool{"the line comes before the status": false, "the status comes before the line": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, log, g := newTail(t, clienttest.Options{})
				log.Add(entry(1, "a"))
				g.expect(t, time.Minute, "a")
				n.setCut(func(meta.Key) (int, bool) { return 0, true })
				n.dropLogs()
				g.expect(t, time.Minute)
				log.Add(entry(2, "last words"))
				log.Start()
				n.setCut(nil)
				g.expect(t, time.Minute) // the response is open
				var want []string
				if statusFirst {
					n.report("a", "app", 1, true)
					log.Add(entry(3, "c"))
					g.expect(t, 10*time.Second, "c", "last words")
				} else {
					log.Add(entry(3, "c"))
					g.expect(t, time.Minute, "c")
					n.report("a", "app", 1, true)
					want = append(want, "last words")
				}
				for i := range 100 {
					log.Add(entry(float64(4+i), "tick"))
					want = append(want, "tick")
					time.Sleep(time.Second)
				}
				synctest.Wait()
				got := g.texts()
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("got %q, want %q in some order", got, want)
				}
				if errs := g.stop(t); len(errs) > 0 {
					t.Error(errs)
				}
			})
		})
	}
}

func TestALineThatIsAloneDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, log, g := newTail(t, clienttest.Options{})
		log.Add(entry(1, "a"))
		g.expect(t, time.Millisecond, "a")
		n.create("b", "app")
		n.start("b", "app")
		g.expect(t, time.Minute)
		log.Add(entry(2, "b")) // the other one may have an earlier line
		g.expect(t, 999*time.Millisecond)
		g.expect(t, 2*time.Millisecond, "b")
		n.logs.Of(key("b"), "app").Add(entry(5, "c"))
		g.expect(t, time.Minute, "c")
		log.Add(entry(4, "d")) // the other one has had a later one
		g.expect(t, time.Millisecond, "d")
		n.logs.Of(key("b"), "app").End()
		n.report("b", "app", 0, false)
		g.expect(t, time.Minute)
		log.Add(entry(6, "e"))
		g.expect(t, time.Millisecond, "e")
		if errs := g.stop(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}
