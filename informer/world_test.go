package informer_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/core"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// world is where a history is played: a server, a client whose lists and watches meet faults, another that writes, and the
// followers.
type world struct {
	history
	server    *clienttest.Server
	client    *client.Client // of the followers
	writer    *client.Client
	resources []client.Resource[*meta.Unstructured] // of the writer
	followers []follower
	// wrote are the versions after each write, to go back to.
	wrote []string
	gone  map[int]bool // resources that are not served now
	// truths are the answers of truth, by the version that they are of.
	truths map[string]map[meta.Key]*meta.Unstructured
	quiet  bool

	backs  atomic.Int64 // how often the server went back
	relist atomic.Int64 // how many things have happened that may make one informer relist

	mu     sync.Mutex
	faults []string
	dice   *rand.Rand // decides about requests, which come from several goroutines
	share  float64    // of the lists and watches that meet a fault
}

// fault notes what is wrong. The first few say enough.
func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.faults) < 5 {
		w.faults = append(w.faults, fmt.Sprintf(format, args...))
	}
}

func (w *world) found() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.faults)
}

// epoch counts how often the server has gone back in time.
func (w *world) epoch() int { return int(w.backs.Load()) }

// goesBack says that the server may show old states again: it has been rolled back, and nobody knows when a handler hears of
// it.
func (w *world) goesBack() bool { return w.backs.Load() > 0 }

// play plays the history in a bubble of its own, and returns what is wrong. A goroutine that still runs at its end fails the test.
func (h history) play(t *testing.T) (faults []string) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{history: h, gone: map[int]bool{}, truths: map[string]map[meta.Key]*meta.Unstructured{}, dice: rand.New(rand.NewPCG(h.seed, 1))}
		w.server = clienttest.New(clienttest.Options{HistoryAge: 1000 * time.Hour, HTTP2: h.http2, Replicas: 2, ShardedLists: h.sharded})
		if err := w.server.Register(widgets()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- w.server.Run(ctx) }()
		w.connect()
		w.play()
		w.client.Close()
		w.writer.Close()
		cancel()
		if err := <-ended; err != nil {
			w.fault("the server: %v", err)
		}
		faults = w.found()
	})
	return faults
}

func widgets() clienttest.Resource {
	return clienttest.Resource{Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets"}
}

func (w *world) connect() {
	config := w.server.Config()
	following := config
	if w.binary() {
		following.Protobuf = protobuf.New(core.V1())
		following.Wrap = func(next http.RoundTripper) http.RoundTripper { return &formCheck{next: next, w: w} }
	}
	var err error
	if w.client, err = client.New(following); err != nil {
		panic(err)
	}
	if w.writer, err = client.New(config); err != nil {
		panic(err)
	}
	for _, t := range resources {
		w.resources = append(w.resources, client.For(w.writer, t))
	}
}

func (w *world) play() {
	for i, s := range w.steps {
		if i == w.atFirst {
			w.begin()
		}
		w.step(s)
	}
	if w.followers == nil {
		w.begin()
	}
	w.settle()
	for _, f := range w.followers {
		f.stop()
	}
}

func (w *world) begin() {
	for _, k := range w.kinds {
		f := kindOf(k).make(kindOf(k), w)
		w.followers = append(w.followers, f)
		f.join(step{b: 1}) // one that is there from the start, and as fast as can be
		f.run()
	}
}

func (w *world) follower(s step) follower {
	if len(w.followers) == 0 {
		return nil
	}
	return w.followers[s.a%len(w.followers)]
}

var namespaces = []string{"default", "kube-system", "kube-public"}

// someNamespaces returns those whose bit is set.
func someNamespaces(bits int) []string {
	some := []string{}
	for i, name := range namespaces {
		if bits>>i&1 == 1 {
			some = append(some, name)
		}
	}
	return some
}

func resourceOf(s step) string { return resources[s.a%7/4].Resource } // 4 to 3

// keyOf names one of a few objects, so that they change often.
func keyOf(s step) meta.Key {
	return meta.Key{Namespace: namespaces[s.b%3], Name: string(rune('a' + s.b/3%7))}
}

// rest lets time pass, and then everything come to rest.
func rest(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
	synctest.Wait()
}

// step lets one thing happen.
func (w *world) step(s step) {
	switch s.op {
	case put:
		w.write(s, w.put)
	case remove:
		w.write(s, w.remove)
	case recreate:
		w.write(s, w.remove)
		w.write(s, w.put)
	case pass:
		rest(s.d)
	case drop:
		w.server.DropWatches()
	case compact:
		w.relist.Add(int64(len(w.followers) * len(namespaces)))
		w.wrote = []string{w.server.ResourceVersion()}
		w.server.Compact()
	case storm:
		w.weather([]float64{0.3, 0.7, 1}[s.b%3])
	case calm:
		w.weather(0)
	case restart:
		if f := w.follower(s); f != nil {
			f.stop()
			if s.b%2 == 0 {
				rest(time.Duration(1+s.c%5000) * time.Millisecond)
			}
			f.run()
			w.relist.Add(1) // one of ranges lists again
		}
	case join:
		if f := w.follower(s); f != nil {
			f.join(s)
		}
	case leave:
		if f := w.follower(s); f != nil {
			f.leave(s.b)
		}
	case bookmark:
		w.server.Bookmark()
	case spaces:
		w.relist.Add(int64(len(w.followers))) // one of ranges lists those that are added
		for _, f := range w.followers {
			f.follow(someNamespaces(s.b % 8))
			f.share(someRanges(s.b, s.c))
		}
	case freeze:
		w.server.Freeze()
		w.writer.Close()
	case goAway:
		w.server.GoAway()
	case lag:
		w.server.Replica(1).SetLag([]int{0, 1, 5, 1000}[s.b%4], 0)
	case rollback:
		w.rollBack(s)
	case vanish:
		w.vanish()
	case appear:
		w.appear()
	case swap:
		w.server.SwapCertificate()
	case quiet:
		w.quiet = !w.quiet
		w.server.MuteBookmarks(w.quiet)
	}
}

// weather sets the share of lists and watches that meet a fault.
func (w *world) weather(share float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.share = share
	if share == 0 {
		w.server.Intercept(nil)
		return
	}
	w.server.Intercept(w.answer)
}

// write changes an object. Its requests meet no faults, except that a connection may be silent or refused: then it tries
// again on another.
func (w *world) write(s step, change func(context.Context, step, client.Resource[*meta.Unstructured]) error) {
	which := s.a % 7 / 4
	if w.gone[which] {
		return
	}
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		err := change(ctx, s, w.resources[which])
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.DeadlineExceeded) && !apierrors.SafeToRetry(err) && !again(err) {
			w.fault("%v: %v", s, err)
			break
		}
		w.writer.Close()
		rest(100 * time.Millisecond)
	}
	w.wrote = append(w.wrote, w.server.ResourceVersion())
}

// again says that a write may be repeated here: it makes an object what a step says, however often.
func again(err error) bool {
	status := (*apierrors.StatusError)(nil)
	return !errors.As(err, &status)
}

func (w *world) put(ctx context.Context, s step, r client.Resource[*meta.Unstructured]) error {
	key := keyOf(s)
	labels := map[string]any{"app": nil}
	if s.c%2 == 1 {
		labels["app"] = "web"
	}
	data := map[string]any{"v": fmt.Sprint(s.c / 2 % 5), "bad": nil}
	if isBad(s) {
		data["bad"] = "yes"
	}
	_, err := r.Patch(ctx, key, patch.Merge(map[string]any{"metadata": map[string]any{"labels": labels}, "data": data}))
	if errors.Is(err, apierrors.NotFound) {
		clear := func(_ string, v any) bool { return v == nil }
		maps.DeleteFunc(labels, clear)
		maps.DeleteFunc(data, clear)
		_, err = r.Create(ctx, &meta.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": key.Namespace, "name": key.Name, "labels": labels}, "data": data,
		}})
	}
	return err
}

func (w *world) remove(ctx context.Context, s step, r client.Resource[*meta.Unstructured]) error {
	err := r.Delete(ctx, keyOf(s), client.DeleteOptions{})
	if errors.Is(err, apierrors.NotFound) {
		return nil
	}
	return err
}

func (w *world) rollBack(s step) {
	if len(w.wrote) == 0 || w.gone[1] {
		return
	}
	at := s.b % len(w.wrote)
	w.backs.Add(1)
	w.relist.Add(2 * int64(len(w.followers)*len(namespaces)))
	if err := w.server.Rollback(w.wrote[at]); err != nil {
		w.fault("roll back to %s: %v", w.wrote[at], err)
	}
	w.wrote = w.wrote[at : at+1]
	// An informer that comes back after the server has reached the earlier versions again cannot notice. A server that has
	// been rolled back is silent to the watches that were ahead of it, and an informer lists after three of those. One more may hang on a
	// connection that was silent before.
	w.weather(0)
	rest(4 * longest)
}

// longest is how long it takes at most to notice a connection that has gone silent: a watch of which nothing is heard any
// more, from a server that has shown no bookmarks, ends when its time is up (fault F3).
const longest = 11 * time.Minute

// vanish takes the custom resource away.
func (w *world) vanish() {
	if w.gone[1] {
		return
	}
	w.gone[1] = true
	w.relist.Add(int64(len(w.followers) * len(namespaces)))
	if err := w.server.Unregister(widget.GVR()); err != nil {
		w.fault("unregister: %v", err)
	}
}

func (w *world) appear() {
	if !w.gone[1] {
		return
	}
	w.gone[1] = false
	// A resource that has come back cannot be rolled back to what it was before: there is no server on which that happens.
	w.wrote = []string{w.server.ResourceVersion()}
	if err := w.server.Register(widgets()); err != nil {
		w.fault("register: %v", err)
	}
}

// truth returns what the server has.
func (w *world) truth(resource int) map[meta.Key]*meta.Unstructured {
	now := fmt.Sprint(resource, " ", w.epoch(), " ", w.server.ResourceVersion())
	if m, ok := w.truths[now]; ok {
		return m
	}
	m := map[meta.Key]*meta.Unstructured{}
	list, err := w.resources[resource].List(context.Background(), client.ListOptions{PageSize: -1})
	if err != nil {
		w.fault("list the truth: %v", err)
	}
	for _, u := range list.Items {
		m[meta.KeyOf(u)] = u
	}
	w.truths[now] = m
	return m
}

// settle heals the server, and waits for the caches as long as may be, and for the slow handlers.
func (w *world) settle() {
	w.weather(0)
	w.appear()
	w.server.Replica(1).SetLag(0, 0)
	w.server.MuteBookmarks(false)
	w.writer.Close()
	// A wait of 30 s may have begun just before the healing, and after relists in a row there may be two: one to learn that
	// the version has expired, and one before the list (faults F8, F29).
	limit := 70 * time.Second
	if w.silent {
		limit = longest
	}
	w.await(limit, "the caches are current", w.difference)
	w.await(10*time.Minute, "the slow handlers know all", func() string {
		for _, f := range w.followers {
			if f.busy() {
				return f.String() + " is busy"
			}
		}
		return w.difference()
	})
	total := 0
	for _, f := range w.followers {
		status := f.status()
		for _, n := range status.Relists {
			total += n
		}
	}
	if most := int(w.relist.Load()); total > most {
		var all []string
		for _, f := range w.followers {
			all = append(all, fmt.Sprint(f, ": ", f.status()))
		}
		w.fault("%d relists, and %d things that may have needed one: %s", total, most, strings.Join(all, "; "))
	}
}

func (w *world) difference() string {
	for _, f := range w.followers {
		if d := f.difference(); d != "" && !strings.Contains(d, ": a handler ") {
			return d
		} else if d != "" && !f.busy() {
			return d
		}
	}
	return ""
}

func (w *world) await(limit time.Duration, what string, wrong func() string) {
	for began := time.Now(); ; rest(500 * time.Millisecond) {
		synctest.Wait()
		why := wrong()
		if why == "" || len(w.found()) > 0 {
			return
		}
		if time.Since(began) > limit {
			w.fault("after %v it is not true that %s: %s", limit, what, why)
			return
		}
	}
}

// faultHeader marks the answers that are faults.
const faultHeader = "X-Fault"

// formCheck checks the form of the answers that the followers of a world get: configmaps come as protobuf, unless the answer is a
// fault.
type formCheck struct {
	next http.RoundTripper
	w    *world
}

func (c *formCheck) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(q)
	if err != nil || resp.StatusCode/100 != 2 || clienttest.RequestOf(q).Resource != resources[0].GVR() {
		return resp, err
	}
	const binary = "application/vnd.kubernetes.protobuf"
	accept, media := q.Header.Get("Accept"), resp.Header.Get("Content-Type")
	if !strings.HasPrefix(accept, binary) {
		c.w.fault("%s asks for %q", q.URL, accept)
	} else if !strings.HasPrefix(media, binary) && resp.Header.Get(faultHeader) == "" {
		c.w.fault("%s comes as %q, and no fault has answered", q.URL, media)
	}
	return resp, nil
}

// answer decides what becomes of a list or a watch.
func (w *world) answer(q *http.Request) http.HandlerFunc {
	verb := clienttest.RequestOf(q).Verb
	if verb != "list" && verb != "watch" {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dice.Float64() >= w.share {
		return nil
	}
	fault := w.misfortune(verb == "watch")
	return func(rw http.ResponseWriter, q *http.Request) {
		rw.Header().Set(faultHeader, "yes")
		fault(rw, q)
	}
}

// misfortune chooses a fault. Those that may make an informer relist are counted.
func (w *world) misfortune(watch bool) http.HandlerFunc {
	dice := w.dice
	kilobytes := dice.IntN(4000)
	wait := time.Duration(dice.IntN(4)) * time.Second
	seconds := int(wait / time.Second)
	common := []func() http.HandlerFunc{
		func() http.HandlerFunc { return clienttest.TooManyRequests(wait) },
		func() http.HandlerFunc { return failure(500, "InternalError", "etcd") },
		func() http.HandlerFunc { return failure(503, "ServiceUnavailable", "starting") },
		func() http.HandlerFunc { return failure(401, "Unauthorized", "Unauthorized") },
		func() http.HandlerFunc { return failure(403, "Forbidden", "not now") },
		func() http.HandlerFunc {
			return failure(504, "Timeout", "Timeout: Too large resource version: 9, current: 5")
		},
		func() http.HandlerFunc { return clienttest.Reset() },
		func() http.HandlerFunc { return clienttest.HTML() },
		func() http.HandlerFunc { return w.server.CutBody(kilobytes) },
		func() http.HandlerFunc { return w.server.ResetBody(kilobytes) },
		func() http.HandlerFunc { return failure(410, "Expired", "too old") },
	}
	silences := []func() http.HandlerFunc{
		func() http.HandlerFunc { return clienttest.Hang() },
		func() http.HandlerFunc { return w.server.Drip(1+kilobytes, time.Second) },
		func() http.HandlerFunc { return w.server.Stall(kilobytes) },
	}
	if w.silent && dice.IntN(6) == 0 {
		return silences[dice.IntN(len(silences))]()
	}
	lists := []func() http.HandlerFunc{
		func() http.HandlerFunc { return truncatedGzip(w.server, 1+kilobytes%30) },
		func() http.HandlerFunc { return wrongLength(w.server, 1+kilobytes%100) },
		func() http.HandlerFunc { return trailing(w.server, "<!-- bye -->") },
		func() http.HandlerFunc {
			return failure(410, "Expired", `The provided continue parameter is too old`)
		},
	}
	watches := []func() http.HandlerFunc{
		func() http.HandlerFunc { return clienttest.Frames(false, errorEvent(410, "Gone", "")) },
		func() http.HandlerFunc { return clienttest.Frames(false, errorEvent(410, "", "")) },
		func() http.HandlerFunc { return clienttest.Frames(false, errorEvent(500, "InternalError", "")) },
		func() http.HandlerFunc {
			return clienttest.Frames(false, errorEvent(429, "TooManyRequests", fmt.Sprintf(`,"details":{"retryAfterSeconds":%d}`, seconds)))
		},
		func() http.HandlerFunc { return clienttest.Frames(false) },
		func() http.HandlerFunc {
			return clienttest.Frames(false, `{"type":"ADDED","object":{"kind":"Other","apiVersion":"v1","metadata":{"name":"x","namespace":"default","resourceVersion":"999999"}}}`)
		},
		func() http.HandlerFunc {
			return clienttest.Frames(false, `{"type":"SURPRISE","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","namespace":"default","resourceVersion":"999999"}}}`)
		},
		func() http.HandlerFunc {
			return clienttest.Frames(false, `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","namespace":"default"}}}`)
		},
		func() http.HandlerFunc { return clienttest.Frames(false, `{"type":"ADDED","object":{"kind":"Conf`) },
	}
	others := lists
	if watch {
		others = watches
	}
	n := dice.IntN(len(common) + len(others))
	if n < len(common) {
		w.relist.Add(1)
		return common[n]()
	}
	w.relist.Add(1)
	return others[n-len(common)]()
}
