package informer_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// The differential oracle: random histories through random faults. At rest every cache, and every handler that folds what
// it was told, is what the server has.
//
//	go test ./informer -run Oracle -seeds 1000        more of them
//	go test ./informer -run Oracle -seed 17 -v        one again, with its history
//
// A seed fixes the history and the faults. The jitter of the waits and the scheduler are not in its hands.
var (
	oracleSeeds = flag.Int("seeds", 40, "how many seeds the oracle tries")
	oracleSeed  = flag.Uint64("seed", 0, "the only seed that the oracle tries; 0: as many as -seeds says")
)

func TestOracle(t *testing.T) {
	first, last := uint64(1), uint64(*oracleSeeds)
	if *oracleSeed != 0 {
		first, last = *oracleSeed, *oracleSeed
	}
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			bubble(t, func(r *rig) {
				o := &oracle{rig: r, rand: rand.New(rand.NewPCG(seed, 0))}
				o.run()
				if r.Failed() {
					r.Logf("again with: go test ./informer -run Oracle -seed %d -v", seed)
				}
			})
		})
	}
}

// oracle is one history.
type oracle struct {
	*rig
	rand *rand.Rand

	informers []*informed
	subjects  []*subject

	expired atomic.Int64 // how many times a relist was made necessary

	mu    sync.Mutex // guards dice
	dice  *rand.Rand // decides about requests, which come from several goroutines
	share float64    // of the requests that meet a fault
}

// slowest is how long a call of a handler takes at most.
const slowest = 2 * time.Second

// of names an informer by what it selects.
func of(i *informed) string {
	return fmt.Sprintf("%q", i.o.Namespace+" "+i.o.LabelSelector+i.o.FieldSelector)
}

// subject is a handler of an informer beside its first.
type subject struct {
	*witness
	of  *informed
	sub *cache.Subscription
}

// run plays the history. What is left running at its end fails the bubble.
func (o *oracle) run() {
	o.dice = rand.New(rand.NewPCG(o.rand.Uint64(), 0))
	for range o.rand.IntN(10) {
		o.change()
	}
	for _, options := range []informer.Options{
		{PageSize: 1 + o.rand.IntN(4)},
		{LabelSelector: "app=web", PageSize: o.rand.IntN(5)},
		{Namespace: "default", FieldSelector: fmt.Sprint("metadata.name!=", name(o.rand))},
	} {
		i := o.informer(options)
		i.run()
		o.informers = append(o.informers, i)
		o.subscribe(i)
	}
	for range 60 + o.rand.IntN(120) {
		o.step()
	}
	o.settle()
	o.judge()
	for _, i := range o.informers {
		i.stopWithin(2 * slowest) // a delete and an add may be handed on together
	}
}

// step lets one thing happen.
func (o *oracle) step() {
	switch n := o.rand.IntN(100); {
	case n < 60:
		o.change()
	case n < 75:
		d := time.Duration(o.rand.IntN(3000)) * time.Millisecond
		o.Logf("%v pass", d)
		o.pass(d)
	case n < 80:
		o.Logf("%d watches dropped", o.server.DropWatches())
	case n < 84:
		o.Log("compacted")
		o.expired.Add(1)
		o.server.Compact()
		if o.rand.IntN(2) == 0 {
			o.server.DropWatches()
		}
	case n < 90:
		share := []float64{0, 0.1, 0.5, 1}[o.rand.IntN(4)]
		o.Logf("faults for %v of the requests", share)
		o.mu.Lock()
		o.share = share
		o.mu.Unlock()
		o.server.Intercept(o.fault)
	case n < 94:
		i := o.informers[o.rand.IntN(len(o.informers))]
		o.Logf("stop and run the informer of %s", of(i))
		i.stopWithin(2 * slowest) // a delete and an add may be handed on together
		if o.rand.IntN(2) == 0 {
			o.change()
		}
		i.run()
	default:
		o.subscribe(o.informers[o.rand.IntN(len(o.informers))])
	}
}

func name(r *rand.Rand) string { return string(rune('a' + r.IntN(12))) }

// change writes something; its requests meet no faults.
func (o *oracle) change() {
	n := name(o.rand)
	labels := map[string]string{}
	if o.rand.IntN(2) == 0 {
		labels["app"] = "web"
	}
	data := []string{"v", fmt.Sprint(o.rand.IntN(5))}
	if o.rand.IntN(12) == 0 {
		data = append(data, "bad", "yes")
	}
	_, err := o.raw.Get(o.Context(), key(n))
	exists := err == nil
	switch op := o.rand.IntN(10); {
	case exists && op < 3:
		o.Log("delete ", n)
		o.remove(n)
	case exists && op < 5:
		o.Log("delete and create ", n, labels, data)
		o.remove(n)
		o.putLabelled(n, labels, data...)
	default:
		o.Log("put ", n, labels, data)
		o.putLabelled(n, labels, data...)
	}
}

// fault decides what becomes of a list or a watch.
func (o *oracle) fault(q *http.Request) http.HandlerFunc {
	if v := clienttest.RequestOf(q).Verb; v != "list" && v != "watch" {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dice.Float64() >= o.share {
		return nil
	}
	switch o.dice.IntN(9) {
	case 0:
		return clienttest.TooManyRequests(time.Duration(o.dice.IntN(4)) * time.Second)
	case 1:
		return failure(500, "InternalError", "etcd")
	case 2:
		return failure(503, "ServiceUnavailable", "starting")
	case 3:
		return clienttest.Reset()
	case 4:
		return html
	case 5:
		o.expired.Add(1)
		return failure(410, "Expired", "too old")
	case 6:
		if q.URL.Query().Get("watch") != "" {
			o.expired.Add(1)
			return frames(false, errorEvent(410, "Gone", ""))
		}
		return failure(403, "Forbidden", "not now")
	}
	return o.server.CutBody(o.dice.IntN(4000))
}

// subscribe adds a handler, which may be slow.
func (o *oracle) subscribe(i *informed) {
	w := &witness{t: o.T}
	if o.rand.IntN(2) == 0 {
		d := time.Duration(o.rand.Int64N(int64(slowest)))
		w.delay = func() { <-time.After(d) }
	}
	o.subjects = append(o.subjects, &subject{witness: w, of: i, sub: i.Subscribe(w)})
}

// settle heals the server, and waits for the caches as long as may be (faults F8, F29), and for the slow handlers. After
// relists in a row there may be two waits: one to learn that the version has expired, and one before the list.
func (o *oracle) settle() {
	o.Log("healed")
	o.heal()
	for _, i := range o.informers {
		o.within(70*time.Second, fmt.Sprintf("the cache of %+v is current: %v", of(i), i.difference()), func() bool {
			return i.difference() == "" && i.Status().Synced
		})
	}
	for _, s := range o.subjects {
		o.within(10*time.Minute, "a slow handler knows all", func() bool { return s.sub.Pending() == 0 })
	}
}

func (o *oracle) judge() {
	for _, i := range o.informers {
		i.current()
		_, bad := o.truth(i.o)
		status := i.Status()
		for _, u := range status.Undecodable {
			if bad[u.Identity.Key()] != u.Identity {
				o.Errorf("%s: status lists %v, the server has %v", of(i), u.Identity, bad[u.Identity.Key()])
			}
		}
		if len(bad) != len(status.Undecodable) {
			o.Errorf("%s: status lists %v, want %v", of(i), status.Undecodable, bad)
		}
		relists := 0
		for cause, n := range status.Relists {
			if relists += n; cause != informer.Expired {
				o.Errorf("%s: a relist because of %s", of(i), cause)
			}
		}
		if needed := int(o.expired.Load()); relists > needed {
			o.Errorf("%s: %d relists, and %d faults that need one", of(i), relists, needed)
		}
		held := i.held()
		for k := range bad {
			if _, ok := held[k]; ok != i.has(k) {
				o.Errorf("%s: the cache has the last good state of %v: %v; its handler: %v", of(i), k, ok, i.has(k))
			}
		}
	}
	for _, s := range o.subjects {
		if d := s.difference(s.of.held()); d != "" {
			o.Errorf("%s: %s", of(s.of), d)
		}
	}
}

func (w *witness) has(k meta.Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.have[k] != nil
}
