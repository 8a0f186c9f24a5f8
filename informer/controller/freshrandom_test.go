package controller_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/histories"
	"github.com/bowline-go/bowline/patch"
)

// In random histories, with watches that are behind by random times and are cut, with writes of others and by several
// workers: when a reconcile begins, each write that an earlier reconcile of its key got an answer for is in the declared
// caches, or has been overtaken there. And in the end no key is forgotten.
func TestEachReconcileBeginsWithItsWritesInRandomHistories(t *testing.T) {
	const usual = 80
	waits := 0
	for seed := range histories.Seeds(usual) {
		synctest.Test(t, func(t *testing.T) {
			h := newHistory(t, seed)
			h.play()
			waits += h.waits
		})
	}
	if waits < 5*histories.Count(usual) { // about 20
		t.Errorf("%d waits: that tests little", waits)
	}
}

// answered is the last write of an object that a reconcile got an answer for.
type answered struct {
	uid, version string
	gone         bool
	web          bool // it has the label of the selector
	// known says of a deletion that an earlier write of the key was of the same object, so a cache of all objects is to have
	// seen it come and go.
	known bool
}

// state is a state of an object in a cache.
type state struct {
	cache        int
	uid, version string
}

// sight is what a reconcile has found in a cache when it began, and what its key had written before.
type sight struct {
	state    // without a uid if it is not there
	name     string
	at       time.Time
	key      string
	written  answered
	overtook bool // the server did not have the written state any more
}

// history is one random history.
type history struct {
	*testing.T
	seed   uint64
	server *clienttest.Server
	maps   client.Resource[*settings]
	caches []*informer.Informer[*settings] // all objects, and those with the label
	waits  int

	mu   sync.Mutex // guards the rest
	r    *rand.Rand
	last map[string]map[string]answered // by key of the controller and name of the object
	owed map[string]bool

	sights   []sight
	arrivals map[state]time.Time
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{T: t, seed: seed, r: rand.New(rand.NewPCG(seed, 2)), last: map[string]map[string]answered{}, owed: map[string]bool{}, arrivals: map[state]time.Time{}}
	h.server = clienttest.Start(t, clienttest.Options{Replicas: 1, BookmarkEvery: time.Duration(1+h.n(60)) * time.Second})
	c, err := client.New(h.server.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	h.maps = client.For(c, settingsType)
	all := []informer.Options{
		{}, {Namespace: "default"}, {Namespaces: []string{"default", "kube-system"}},
	}[h.n(3)]
	web := all
	web.LabelSelector = "app=web"
	for _, o := range []informer.Options{all, web} {
		o.OnError = func(error) {} // of watches that are cut
		inf := informer.New(h.maps, o)
		inf.Subscribe(h.arrives(len(h.caches)))
		h.caches = append(h.caches, inf)
	}
	return h
}

// arrives returns a handler that notes when states of objects come into a cache.
func (h *history) arrives(i int) cache.Handler[*settings] {
	come := func(obj *settings) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.arrivals[state{i, obj.UID, obj.ResourceVersion}] = time.Now()
	}
	return cache.HandlerFuncs[*settings]{Add: come, Update: func(_, now *settings) { come(now) }}
}

func (h *history) n(n int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.r.IntN(n)
}

func (h *history) play() {
	names := make(chan string)
	c := controller.New("c", controller.Options{
		Workers: 1 + h.n(3), FreshTimeout: 24 * time.Hour, MinBackoff: 10 * time.Millisecond, MaxBackoff: time.Second, OnError: func(error) {},
	}, h.reconcile, controller.Fresh[string](h.caches[0], h.caches[1]), controller.Chan(names))
	ctx, cancel := context.WithCancel(h.Context())
	ended := make(chan error)
	go func() { ended <- informer.Run(ctx, c) }()
	synctest.Wait()
	for range 60 {
		switch h.n(12) {
		case 0:
			h.server.Replica(0).SetLag(0, time.Duration(h.n(3000))*time.Millisecond)
		case 1:
			h.server.Replica(0).SetLag(h.n(6), 0)
		case 2:
			h.server.DropWatches()
		case 3:
			h.server.EndWatches()
		case 4:
			h.server.Compact()
		case 5, 6:
			_, _ = h.write(h.Context(), fmt.Sprint("o", h.n(4)))
		default:
			k := fmt.Sprint("k", h.n(3))
			h.mu.Lock()
			h.owed[k] = true
			h.mu.Unlock()
			names <- k
		}
		if h.n(2) == 0 {
			time.Sleep(time.Duration(h.n(1500)) * time.Millisecond)
		}
	}
	h.server.Replica(0).SetLag(0, 0)
	time.Sleep(5 * time.Minute)
	s := c.Status()
	h.waits = s.Waits
	h.mu.Lock()
	for k, owed := range h.owed {
		if owed {
			h.Errorf("seed %d: %s was named, and not reconciled since", h.seed, k)
		}
	}
	h.mu.Unlock()
	if s.Waiting != 0 || s.WentAhead != 0 || s.Queue.Held+s.Queue.Ready+s.Queue.Delayed+s.Queue.InProgress != 0 {
		h.Errorf("seed %d: in the end %v", h.seed, s)
	}
	cancel()
	if err := <-ended; err != nil {
		h.Error(err)
	}
	h.check()
}

func (h *history) reconcile(ctx context.Context, k string) (controller.Result, error) {
	h.mu.Lock()
	h.owed[k] = false
	h.mu.Unlock()
	h.look(k)
	for range h.n(4) {
		name := fmt.Sprint("o", h.n(4))
		if a, ok := h.write(ctx, name); ok {
			h.mu.Lock()
			if h.last[k] == nil {
				h.last[k] = map[string]answered{}
			}
			a.known = a.gone && h.last[k][name].uid == a.uid
			h.last[k][name] = a
			h.mu.Unlock()
		}
	}
	if h.n(4) == 0 {
		time.Sleep(time.Duration(h.n(500)) * time.Millisecond)
	}
	switch h.n(6) {
	case 0:
		return controller.Result{}, errFailed
	case 1:
		return controller.Result{RequeueAfter: time.Duration(h.n(1000)) * time.Millisecond}, nil
	}
	return controller.Result{}, nil
}

// write makes a random write, and returns its answer.
func (h *history) write(ctx context.Context, name string) (answered, bool) {
	var obj *settings
	var err error
	change := func(labels any) {
		obj, err = h.maps.Patch(ctx, inDefault(name), patch.Merge(map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": labels}}, "data": map[string]any{"n": fmt.Sprint(h.n(3))},
		}))
	}
	switch h.n(5) {
	case 0:
		change("web")
	case 1:
		change(nil)
	case 2:
		if obj, err = h.maps.Get(ctx, inDefault(name)); err == nil {
			err = h.maps.Delete(ctx, inDefault(name), client.DeleteOptions{UID: obj.UID})
		}
		return answered{uid: uidOf(obj), gone: true}, err == nil
	default:
		labels := map[string]string{"app": []string{"web", "db"}[h.n(2)]}
		obj, err = h.maps.Create(ctx, &settings{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name, Labels: labels}})
	}
	if err != nil {
		return answered{}, false
	}
	return answered{uid: obj.UID, version: obj.ResourceVersion, web: obj.Labels["app"] == "web"}, true
}

func uidOf(obj *settings) string {
	if obj == nil {
		return ""
	}
	return obj.UID
}

// look notes what is in the caches as a reconcile of a key begins.
func (h *history) look(k string) {
	h.mu.Lock()
	last := maps.Clone(h.last[k])
	h.mu.Unlock()
	var found []sight
	for name, a := range last {
		for i, c := range h.caches {
			s := sight{state: state{cache: i}, name: name, at: time.Now(), key: k, written: a}
			if obj, ok := c.Reader().Get(inDefault(name)); ok {
				s.uid, s.version = obj.UID, obj.ResourceVersion
			}
			found = append(found, s)
		}
	}
	for i, s := range found {
		found[i].overtook = s.uid == "" && !s.written.gone && !h.isThere(s.name, s.written.version)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sights = append(h.sights, found...)
}

// check compares what reconciles have found with the writes of their keys. If a write leaves an object outside a cache, which
// does not hold it, an earlier state may come that the cache had not seen: also between the moment when the reconcile was
// admitted and that of its look, which are one moment of virtual time.
func (h *history) check() {
	for _, s := range h.sights {
		a := s.written
		outside := s.cache == 1 && !a.web || a.gone && !a.known
		came, ok := h.arrivals[s.state]
		excused := outside && (!ok || came.Equal(s.at))
		problem := ""
		switch {
		case a.gone && s.uid == a.uid && !excused:
			problem = "holds it still"
		case a.gone && a.known && s.cache == 0 && h.comes(s):
			problem = "holds it later"
		case a.gone:
		case s.uid != "" && older(s.version, a.version) && !excused:
			problem = "holds version " + s.version
		case s.uid == "" && !outside && !s.overtook:
			problem = "does not hold it"
		}
		if problem != "" {
			h.Errorf("seed %d: a reconcile of %s begins at %v, and %s was written as %+v, and cache %d %s, which came at %v",
				h.seed, s.key, s.at, s.name, a, s.cache, problem, came)
		}
	}
}

// comes reports whether the deleted object comes into the cache after a look.
func (h *history) comes(s sight) bool {
	for of, at := range h.arrivals {
		if of.cache == s.cache && of.uid == s.written.uid && at.After(s.at) {
			return true
		}
	}
	return false
}

// isThere reports whether the server has the object at a version still, so that nothing has overtaken it.
func (h *history) isThere(name, version string) bool {
	obj, err := h.maps.Get(h.Context(), inDefault(name))
	return err == nil && obj.ResourceVersion == version
}

func older(a, b string) bool {
	order, ok := meta.CompareVersions(a, b)
	return a == "" || ok && order < 0
}
