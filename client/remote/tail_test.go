package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/internal/proof/histories"
	"github.com/bowline-go/bowline/patch"
)

// node runs the containers of a test: it keeps their logs and writes their statuses.
type node struct {
	*rig
	t    testing.TB
	logs containers.Logs

	mu       sync.Mutex // guards the rest
	statuses map[meta.Key][]map[string]any
	cut      func(pod meta.Key) (after int, clean bool) // after < 0 is no cut
	drop     chan struct{}                              // closed to cut all logs that are open
	requests []string
}

func newNode(t testing.TB, o clienttest.Options) *node {
	t.Helper()
	n := &node{t: t, statuses: map[meta.Key][]map[string]any{}, drop: make(chan struct{})}
	n.rig = newRig(t, &containers.Server{Logs: n.serve}, o)
	return n
}

// serve answers requests for logs, with the cuts of the test.
func (n *node) serve(ctx context.Context, pod meta.Key, o remote.LogOptions, w io.Writer) error {
	n.mu.Lock()
	n.requests = append(n.requests, fmt.Sprintf("%v: %+v", pod, o))
	cut, drop := n.cut, n.drop
	n.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-drop:
			cancel()
		case <-ctx.Done():
		}
	}()
	after, clean := -1, false
	if cut != nil {
		after, clean = cut(pod)
	}
	if after >= 0 {
		w = &cutWriter{w, after}
	}
	err := n.logs.Serve(ctx, pod, o, w)
	select {
	case <-drop:
		return http.ErrAbortHandler
	default:
	}
	if clean && errors.Is(err, http.ErrAbortHandler) { // as an API server whose connection to the node breaks
		return nil
	}
	return err
}

// cutWriter breaks the connection after a number of bytes.
type cutWriter struct {
	w    io.Writer
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	if n > 0 || len(p) == 0 {
		var err error
		if n, err = c.w.Write(p[:n]); err != nil {
			return n, err
		}
	}
	if c.left -= n; n < len(p) {
		return n, http.ErrAbortHandler
	}
	return n, nil
}

// dropLogs cuts all logs that are open.
func (n *node) dropLogs() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.drop)
	n.drop = make(chan struct{})
}

func (n *node) setCut(cut func(pod meta.Key) (int, bool)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = cut
}

// asked returns the requests for logs since the last call.
func (n *node) asked() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	requests := n.requests
	n.requests = nil
	return requests
}

// key returns the key of a pod.
func key(name string) meta.Key { return meta.Key{Namespace: "default", Name: name} }

// create makes a pod with the label app=tail.
func (n *node) create(name string, names ...string) {
	n.t.Helper()
	p := &pod{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "tail"}}}
	for _, c := range names {
		p.Spec.Containers = append(p.Spec.Containers, container{Name: c, Image: "none"})
	}
	if _, err := n.pods.Create(n.t.Context(), p); err != nil {
		n.t.Fatal(err)
	}
	n.mu.Lock()
	n.statuses[key(name)] = nil
	n.mu.Unlock()
}

// report writes the status of a container: that of its run number restarts.
func (n *node) report(name, container string, restarts int, running bool) {
	id := func(run int) string { return fmt.Sprintf("cri://%s-%s-%d", name, container, run) }
	status := map[string]any{"name": container, "containerID": id(restarts), "restartCount": restarts}
	ended := func(run int) map[string]any {
		return map[string]any{"terminated": map[string]any{"containerID": id(run)}}
	}
	status["state"] = ended(restarts)
	if running {
		status["state"] = map[string]any{"running": map[string]any{}}
	}
	if restarts > 0 {
		status["lastState"] = ended(restarts - 1)
	}
	n.mu.Lock()
	list := slices.Clone(n.statuses[key(name)])
	i := slices.IndexFunc(list, func(s map[string]any) bool { return s["name"] == container })
	if i < 0 {
		list = append(list, status)
	} else {
		list[i] = status
	}
	n.statuses[key(name)] = list
	n.mu.Unlock()
	if _, err := n.pods.Status().Patch(n.t.Context(), key(name), patch.Merge(map[string]any{"status": map[string]any{"containerStatuses": list}})); err != nil {
		n.t.Error(err)
	}
}

// start starts a container.
func (n *node) start(name, container string) {
	n.logs.Of(key(name), container).Start()
	n.report(name, container, 0, true)
}

var tailed = remote.TailOptions{Namespace: "default", LabelSelector: "app=tail"}

// take returns the first lines of a Tail as text: pod/container: text.
func take(t testing.TB, n int, tail func(func(remote.Line, error) bool)) []string {
	t.Helper()
	var got []string
	for l, err := range tail {
		if err != nil {
			t.Errorf("after %q: %v", got, err)
			break
		}
		got = append(got, fmt.Sprintf("%s/%s: %s", l.Pod.Name, l.Container, l.Text))
		if len(got) == n {
			break
		}
	}
	return got
}

func TestTail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, clienttest.Options{})
		n.create("a", "app", "sidecar")
		n.create("b", "app")
		for _, c := range []struct{ pod, container string }{{"a", "app"}, {"a", "sidecar"}, {"b", "app"}} {
			n.start(c.pod, c.container)
		}
		log := func(pod, container string, entries ...containers.Entry) {
			n.logs.Of(key(pod), container).Add(entries...)
		}
		log("a", "app", entry(1, "one"), entry(4, "four"))
		log("a", "sidecar", entry(2, "two"), entry(5, "five"))
		log("b", "app", entry(3, "three"), entry(6, "six"))
		go func() {
			time.Sleep(time.Hour)
			log("b", "app", entry(7, "seven"))
			n.create("c", "app") // comes later
			time.Sleep(time.Minute)
			n.start("c", "app")
			log("c", "app", entry(8, "eight"))
		}()
		got := take(t, 8, remote.Tail(t.Context(), n.pods, tailed))
		want := []string{
			"a/app: one", "a/sidecar: two", "b/app: three", "a/app: four", "a/sidecar: five", "b/app: six", "b/app: seven", "c/app: eight",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
	})
}

// history is what containers have written in a test, in the order of time.
type history struct {
	mu    sync.Mutex
	lines map[string][]string // by pod/container
}

func (h *history) add(name, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lines == nil {
		h.lines = map[string][]string{}
	}
	h.lines[name] = append(h.lines[name], text)
}

func (h *history) len() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lines := range h.lines {
		n += len(lines)
	}
	return n
}

// 50 containers write, restart and are cut at random; the union of all lines is what was written, and each container's lines come in
// their order.
func TestTailMergesFiftyContainersOverCuts(t *testing.T) {
	for seed := range histories.Seeds(1) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNode(t, clienttest.Options{})
				var mu sync.Mutex
				random := rand.New(rand.NewPCG(seed, 1))
				pick := func(k int) int {
					mu.Lock()
					defer mu.Unlock()
					return random.IntN(k)
				}
				n.setCut(func(meta.Key) (int, bool) {
					if pick(4) == 0 {
						return -1, false
					}
					return pick(3000), pick(2) == 0
				})
				var h history
				var writers sync.WaitGroup
				const rounds = 120
				for i := range 50 {
					name := fmt.Sprintf("p%02d", i/2)
					container := []string{"app", "sidecar"}[i%2]
					if i%2 == 0 {
						n.create(name, "app", "sidecar")
					}
					writers.Go(func() {
						time.Sleep(time.Duration(pick(5000)) * time.Millisecond)
						log := n.logs.Of(key(name), container)
						n.start(name, container)
						run := 0
						for round := range rounds {
							when := time.Now()
							for k := range 1 + pick(4) { // several lines in one nanosecond
								text := fmt.Sprintf("%d.%d %s", round, k, strings.Repeat("x", pick(60)))
								if pick(3) == 0 {
									text = "same"
								}
								h.add(name+"/"+container, text)
								log.Add(containers.Entry{Time: when, Text: text})
							}
							time.Sleep(time.Duration(pick(500)) * time.Millisecond)
							if pick(60) == 0 && run < 2 {
								log.End()
								time.Sleep(time.Duration(pick(2000)) * time.Millisecond)
								run++
								log.Start()
								time.Sleep(time.Duration(pick(200)) * time.Millisecond)
								n.report(name, container, run, true)
								time.Sleep(2 * time.Minute) // the next restart comes after the backoff
							}
						}
						log.End()
						time.Sleep(time.Duration(pick(1000)) * time.Millisecond)
						n.report(name, container, run, false)
					})
				}
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					writers.Wait()
					time.Sleep(10 * time.Minute)
					cancel()
				}()
				got := history{}
				for l, err := range remote.Tail(ctx, n.pods, tailed) {
					switch logErr := (*remote.LogError)(nil); {
					case err == nil:
						got.add(l.Pod.Name+"/"+l.Container, l.Text)
					case errors.As(err, &logErr):
						t.Log(err)
					case !errors.Is(err, context.Canceled):
						t.Error(err)
					}
				}
				for name, want := range h.lines {
					if !slices.Equal(got.lines[name], want) {
						t.Errorf("%s: %s", name, difference(got.lines[name], want))
					}
				}
				t.Logf("%d lines, %d requests", h.len(), len(n.asked()))
			})
		})
	}
}

// difference says where two lists begin to differ.
func difference(got, want []string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	end := func(list []string) []string { return list[i:min(i+5, len(list))] }
	return fmt.Sprintf("%d lines, want %d; from %d: %.20q, want %.20q", len(got), len(want), i, end(got), end(want))
}

// tailing runs a Tail until its loop is left by stop, which returns the lines of one container, and all errors.
type tailing struct {
	mu     sync.Mutex
	lines  []remote.Line
	errs   []error
	cancel context.CancelFunc
	done   chan struct{}
}

func (n *node) tail(o remote.TailOptions) *tailing {
	ctx, cancel := context.WithCancel(n.t.Context())
	g := &tailing{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(g.done)
		for l, err := range remote.Tail(ctx, n.pods, o) {
			g.mu.Lock()
			if err != nil {
				g.errs = append(g.errs, err)
			} else {
				g.lines = append(g.lines, l)
			}
			g.mu.Unlock()
		}
	}()
	return g
}

// texts returns the texts of the lines so far, and forgets them.
func (g *tailing) texts() (texts []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.lines {
		texts = append(texts, l.Text)
	}
	g.lines = nil
	return texts
}

// stop ends the Tail, and returns the errors before its last one, which must be that of the context.
func (g *tailing) stop(t *testing.T) []error {
	t.Helper()
	g.cancel()
	<-g.done
	last := len(g.errs) - 1
	if last < 0 || !errors.Is(g.errs[last], context.Canceled) {
		t.Fatalf("the last error is not that of the context: %v", g.errs)
	}
	return g.errs[:last]
}

// expect waits for a time, and checks which lines have come.
func (g *tailing) expect(t *testing.T, after time.Duration, want ...string) {
	t.Helper()
	time.Sleep(after)
	synctest.Wait()
	if got := g.texts(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A log of lines that share seconds, nanoseconds and contents is cut at every byte, abruptly and in good order.
func TestTailResumesAfterACutAtAnyByte(t *testing.T) {
	entries := []containers.Entry{
		entry(0.1, "a"), entry(0.1, "a"), entry(0.1, "b"), entry(0.5, ""), entry(0.5, ""), entry(1, "c\r"),
		{Time: at(2), Text: "long ", Partial: true},
		{Time: at(2.5), Text: "line", Partial: true},
		{Time: at(3), Text: " here"},
		entry(3, "x\x00\xff"), entry(3, "d"), entry(4, "end"),
		{Time: at(5), Text: "no newline", Partial: true},
	}
	want := []string{"a", "a", "b", "", "", "c\r", "long line here", "x\x00\xff", "d", "end", "no newline"}
	for _, clean := range []bool{false, true} {
		const last, each = 420, 42
		step := 1
		if clean {
			step = 2 // every other byte
		}
		for start := step - 1; start < last; start += step * each {
			synctest.Test(t, func(t *testing.T) {
				n := newNode(t, clienttest.Options{})
				var mu sync.Mutex
				cuts := map[string]int{} // by the pod, whose log is cut once
				var names []string
				for after := start; after < min(start+step*each, last); after += step {
					name := fmt.Sprintf("after-%d-bytes", after)
					n.create(name, "app")
					log := n.logs.Of(key(name), "app")
					log.Add(entries...)
					log.End()
					n.report(name, "app", 0, false)
					names, cuts[name] = append(names, name), after
				}
				n.setCut(func(pod meta.Key) (int, bool) {
					mu.Lock()
					defer mu.Unlock()
					after, ok := cuts[pod.Name]
					if !ok {
						return -1, false
					}
					delete(cuts, pod.Name)
					return after, clean
				})
				g := n.tail(tailed)
				time.Sleep(time.Minute)
				synctest.Wait()
				g.mu.Lock()
				got := map[string][]string{}
				for _, l := range g.lines {
					got[l.Pod.Name] = append(got[l.Pod.Name], l.Text)
				}
				g.mu.Unlock()
				for _, name := range names {
					if !slices.Equal(got[name], want) {
						t.Errorf("%s, clean: %v: got %q, want %q", name, clean, got[name], want)
					}
				}
				if errs := g.stop(t); len(errs) > 0 || len(cuts) > 0 {
					t.Errorf("from %d bytes, clean: %v: %v; not cut: %v", start, clean, errs, cuts)
				}
			})
		}
	}
}

func TestTailReadsTheRestOfThePreviousRun(t *testing.T) {
	for name, steps := range map[string][]func(n *node, log *containers.Log){
		"the status comes after the restart": {
			func(n *node, log *containers.Log) { log.Add(entry(1, "first")) },
			func(n *node, log *containers.Log) {
				n.setCut(func(meta.Key) (int, bool) { return 0, false }) // what is written now is not seen
				n.dropLogs()
			},
			func(n *node, log *containers.Log) { log.Add(entry(2, "last words")) },
			func(n *node, log *containers.Log) { log.Start(); log.Add(entry(3, "again")) },
			func(n *node, log *containers.Log) { n.report("a", "app", 1, true) },
			func(n *node, log *containers.Log) { n.setCut(nil) },
		},
		"the new run is read before the status comes": {
			func(n *node, log *containers.Log) { log.Add(entry(1, "first")) },
			func(n *node, log *containers.Log) {
				n.setCut(func(meta.Key) (int, bool) { return 0, false })
				n.dropLogs()
			},
			func(n *node, log *containers.Log) { log.Add(entry(2, "last words")) },
			func(n *node, log *containers.Log) { log.Start(); log.Add(entry(3, "again")) },
			func(n *node, log *containers.Log) { n.setCut(nil) },
			func(n *node, log *containers.Log) { n.report("a", "app", 1, true) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNode(t, clienttest.Options{})
				n.create("a", "app")
				n.start("a", "app")
				g := n.tail(tailed)
				for _, do := range steps {
					do(n, n.logs.Of(key("a"), "app"))
					time.Sleep(time.Minute)
				}
				n.logs.Of(key("a"), "app").Add(entry(4, "and on"))
				time.Sleep(time.Minute)
				got := g.texts()
				slices.Sort(got)
				if want := []string{"again", "and on", "first", "last words"}; !slices.Equal(got, want) {
					t.Errorf("got %q, want %q in some order", got, want)
				}
				g.stopAfterCuts(t)
			})
		})
	}
}

// stopAfterCuts is stop after cuts that left nothing of several answers in a row, which is reported once.
func (g *tailing) stopAfterCuts(t *testing.T) {
	t.Helper()
	if errs := g.stop(t); len(errs) != 1 || !errors.Is(errs[0], io.ErrUnexpectedEOF) {
		t.Errorf("the errors are %v, want one of cuts", errs)
	}
}
