package clusters_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/clusters"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// Clusters are added and removed, cut and returned, while their objects change, reconciles fail, hang and are requeued, and the
// controller is stopped and started. In the end every object of every present cluster has been reconciled in its last state, and
// nothing of a removed cluster runs.
func TestRandomHistories(t *testing.T) {
	var total tally
	for n := range histories.Seeds(25) {
		synctest.Test(t, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Errorf("seed %d", n)
				}
			}()
			play(t, rand.New(rand.NewPCG(n, 18)), &total)
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", total)
	if !histories.One() && (total.Removed == 0 || total.Returned == 0 || total.Interrupted == 0 || total.Failed == 0 || total.Cut == 0 || total.Restarts == 0) {
		t.Errorf("something has never happened: %+v", total)
	}
}

// tally is how often something has happened.
type tally struct {
	Reconciles, Failed, Interrupted                  int
	Added, Removed, Returned, Cut, Changed, Restarts int
}

// city is a server, which stays, and the member that the controller has of it at present.
type city struct {
	name   string
	server *clienttest.Server
	admin  client.Resource[*configMap]
	cut    bool
	now    *citizen // nil if it is not added
	ever   bool     // it has been a member
}

// citizen is what the controller has of a city from one Add to the next Remove.
type citizen struct {
	city   *city
	client *client.Client
	maps   client.Resource[*configMap]
	caches [2]*informer.Informer[*configMap]
	gone   atomic.Bool // Remove has returned

	mu   sync.Mutex
	busy map[meta.Key]bool
	done map[meta.Key]string // the resource version of the last reconcile that worked; empty without the object
}

type player struct {
	t      *testing.T
	r      *rand.Rand
	total  *tally
	cities []*city
	c      *clusters.Controller[*citizen]
	stop   func()

	mu      sync.Mutex // guards what reconciles use
	chance  *rand.Rand
	healed  bool
	counted tally
}

func play(t *testing.T, r *rand.Rand, total *tally) {
	p := &player{t: t, r: r, total: total, chance: rand.New(rand.NewPCG(r.Uint64(), 1))}
	o := controller.Options{Workers: 1 + r.IntN(5), Timeout: time.Minute, MaxBackoff: time.Minute, OnError: func(error) {}}
	if r.IntN(2) == 0 {
		o.Grace = time.Second
	}
	p.c = clusters.New("c", o, p.reconcile)
	for i := range 3 {
		y := &city{name: fmt.Sprint("city-", i), server: clienttest.Start(t, clienttest.Options{})}
		p.login(y)
		p.cities = append(p.cities, y)
		for range r.IntN(5) {
			p.change(y)
		}
	}
	p.start()
	for range 40 + r.IntN(60) {
		p.step(p.cities[r.IntN(len(p.cities))])
		if r.IntN(3) > 0 {
			time.Sleep(time.Duration(r.Int64N(int64(20 * time.Second))))
		}
	}
	p.settle()
	p.check()
	p.stop()
	for _, y := range p.cities {
		if m := y.now; m != nil {
			m.client.Close()
		}
	}
	time.Sleep(time.Minute)
	for _, y := range p.cities {
		if n := y.server.Watches(); n != 0 {
			t.Errorf("%d watches of %s after the end", n, y.name)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	total.Reconciles += p.counted.Reconciles
	total.Failed += p.counted.Failed
	total.Interrupted += p.counted.Interrupted
}

// login gives the admin a client with connections that no fault has touched.
func (p *player) login(y *city) {
	c, err := client.New(y.server.Config())
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(c.Close)
	y.admin = client.For(c, configMaps)
}

func (p *player) start() {
	ctx, cancel := context.WithCancel(p.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(ctx, p.c) }()
	p.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			p.t.Errorf("Run returned %v", err)
		}
	}
}

func (p *player) step(y *city) {
	switch p.r.IntN(12) {
	case 0, 1:
		if y.now == nil {
			p.add(y)
		}
	case 2:
		if y.now != nil {
			p.remove(y)
		}
	case 3:
		if y.now != nil { // it is replaced at once
			p.remove(y)
			p.add(y)
		}
	case 4:
		p.cut(y)
	case 5:
		p.mend(y)
	case 6:
		if p.r.IntN(4) == 0 {
			p.stop()
			for _, y := range p.cities { // a start does not name what was deleted before
				if y.now != nil {
					clear(y.now.done)
				}
			}
			p.start()
			p.total.Restarts++
		}
	default:
		p.change(y)
	}
}

func (p *player) add(y *city) {
	c, err := client.New(y.server.Config())
	if err != nil {
		p.t.Fatal(err)
	}
	m := &citizen{city: y, client: c, maps: client.For(c, configMaps), busy: make(map[meta.Key]bool), done: make(map[meta.Key]string)}
	for i := range m.caches {
		m.caches[i] = informer.New(m.maps, informer.Options{Namespace: "default", OnError: func(error) {}})
	}
	if err := p.c.Add(y.name, m, controller.Watch(m.caches[0]), controller.Watch(m.caches[1])); err != nil {
		p.t.Fatal(err)
	}
	p.total.Added++
	if y.ever {
		p.total.Returned++
	}
	y.now, y.ever = m, true
}

func (p *player) remove(y *city) {
	m := y.now
	y.now = nil
	before := time.Now()
	if err := p.c.Remove(p.t.Context(), y.name); err != nil {
		p.t.Error(err)
	}
	if took := time.Since(before); took > time.Second {
		p.t.Errorf("Remove of %s took %v", y.name, took)
	}
	m.gone.Store(true)
	for _, i := range m.caches {
		if s := i.Status().State; s != informer.Idle {
			p.t.Errorf("an informer of %s is %v after its removal", y.name, s)
		}
	}
	m.client.Close()
	p.total.Removed++
}

// cut makes a server unusable, for everybody but the admin, who calls while it is mended.
func (p *player) cut(y *city) {
	if y.cut {
		return
	}
	y.cut = true
	p.total.Cut++
	switch p.r.IntN(4) {
	case 0:
		y.server.Refuse(syscall.ECONNREFUSED)
		y.server.DropWatches()
	case 1:
		y.server.BlackHole(true)
		y.server.Freeze()
	case 2:
		y.server.Intercept(func(*http.Request) http.HandlerFunc {
			return clienttest.Answer(meta.Status{Code: 401, Reason: "Unauthorized"})
		})
		y.server.DropWatches()
	case 3:
		y.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if clienttest.RequestOf(r).Verb == "get" {
				return clienttest.Hang()
			}
			return nil
		})
	}
}

func (p *player) mend(y *city) {
	if !y.cut {
		return
	}
	y.server.Refuse(nil)
	y.server.BlackHole(false)
	y.server.Intercept(nil)
	y.cut = false
	p.login(y)
}

// change creates, changes or deletes an object.
func (p *player) change(y *city) {
	if y.cut {
		return
	}
	k := at(fmt.Sprint("x-", p.r.IntN(6)))
	p.total.Changed++
	var err error
	if p.r.IntN(4) == 0 {
		err = apierrors.Ignore(y.admin.Delete(p.t.Context(), k, client.DeleteOptions{}), apierrors.NotFound)
	} else {
		_, _, err = y.admin.Ensure(p.t.Context(), &configMap{ObjectMeta: k.ObjectMeta(), Data: map[string]string{"n": fmt.Sprint(p.r.Uint32())}}, client.EnsureOptions{})
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// reconcile notes the state that it finds, unless it fails.
func (p *player) reconcile(ctx context.Context, m *citizen, k clusters.Key) (controller.Result, error) {
	p.mu.Lock()
	p.counted.Reconciles++
	what, healed := p.chance.IntN(10), p.healed
	p.mu.Unlock()
	m.mu.Lock()
	if m.busy[k.Key] {
		p.t.Errorf("%s is reconciled twice at a time", k)
	}
	m.busy[k.Key] = true
	m.mu.Unlock()
	if k.Cluster != m.city.name || m.gone.Load() {
		p.t.Errorf("%s is reconciled with %s, which is gone: %v", k, m.city.name, m.gone.Load())
	}
	for _, i := range m.caches {
		if i.Reader().ResourceVersion() == "" { // the informer itself notes its list a moment after its subscribers hear of it
			p.t.Errorf("%s is reconciled without a cache: %v", k, i.Unsynced())
		}
	}
	version := ""
	if obj, found := m.caches[0].Reader().Get(k.Key); found {
		version = obj.ResourceVersion
	}
	result, err := p.work(ctx, m, k, what, healed)
	if m.gone.Load() {
		p.t.Errorf("a reconcile of %s outlives its removal", k)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.busy, k.Key)
	if err == nil && result.RequeueAfter == 0 {
		m.done[k.Key] = version
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.counted.Failed++
	}
	if removed := (*clusters.RemovedError)(nil); errors.As(context.Cause(ctx), &removed) {
		p.counted.Interrupted++
	}
	return result, err
}

func (p *player) work(ctx context.Context, m *citizen, k clusters.Key, what int, healed bool) (result controller.Result, err error) {
	_, err = m.maps.Get(ctx, k.Key)
	err = apierrors.Ignore(err, apierrors.NotFound)
	if err != nil || healed {
		return controller.Result{}, err
	}
	switch what {
	case 0:
		return controller.Result{}, errors.New("bad luck")
	case 1:
		return controller.Result{RequeueAfter: 30 * time.Second}, nil
	case 2, 3, 4:
		select {
		case <-time.After(20 * time.Second):
		case <-ctx.Done():
			return controller.Result{}, ctx.Err()
		}
	}
	return controller.Result{}, nil
}

// settle mends everything, and waits until nothing happens any more.
func (p *player) settle() {
	for _, y := range p.cities {
		p.mend(y)
	}
	p.mu.Lock()
	p.healed = true
	p.mu.Unlock()
	time.Sleep(30 * time.Minute)
	synctest.Wait()
}

// check compares what was reconciled with the servers.
func (p *player) check() {
	t := p.t
	var names []string
	for _, y := range p.cities {
		m := y.now
		if m == nil {
			if n := y.server.Watches(); n != 0 {
				t.Errorf("%d watches of %s, which is removed", n, y.name)
			}
			continue
		}
		names = append(names, y.name)
		if n := y.server.Watches(); n != len(m.caches) {
			t.Errorf("%d watches of %s, want those of its informers", n, y.name)
		}
		have, err := y.admin.List(t.Context(), client.ListOptions{Namespace: "default"})
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[meta.Key]string)
		for _, obj := range have.Items {
			want[obj.Key()] = obj.ResourceVersion
		}
		m.mu.Lock()
		done := maps.Clone(m.done)
		m.mu.Unlock()
		maps.DeleteFunc(done, func(_ meta.Key, version string) bool { return version == "" })
		if !maps.Equal(done, want) {
			t.Errorf("in %s %v is reconciled, want %v", y.name, done, want)
		}
	}
	if got := p.c.Names(); !slices.Equal(got, names) {
		t.Errorf("the clusters are %q, want %q", got, names)
	}
	s := p.c.Status()
	if s.Failing != 0 || len(s.Unsynced) != 0 || s.Queue.Held+s.Queue.Ready+s.Queue.Delayed+s.Queue.InProgress != 0 {
		t.Errorf("the controller is %v, %+v", s, s.Queue)
	}
	for _, one := range p.c.Clusters() {
		if one.Err != nil || one.InProgress+one.Later != 0 {
			t.Errorf("%v", one)
		}
	}
}
