package shards_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/internal/proof/faults"
	"github.com/bowline-go/bowline/patch"
)

// history is what happens while some replicas share the work: which faults begin when. The work and the requests that are broken are
// random too, and not in the history.
type history struct {
	seed     uint64
	replicas int
	mixed    bool // every other replica shares by something else
	calm     bool // only replicas fail, so there is a bound on how long a range has no owner
	config   shards.Options
	options  clienttest.Options
	steps    []faults.Step
}

func (h history) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d replicas, mixed %t, calm %t, %v, %v, %v", h.seed, h.replicas, h.mixed, h.calm, h.config.LeaseDuration, h.config.RenewDeadline, h.config.RetryPeriod)
	for _, s := range h.steps {
		fmt.Fprintf(&b, "\n\t%v", s)
	}
	return b.String()
}

// progress is the time after the last fault within which every range is worked on.
func (h history) progress() time.Duration { return 3*h.config.LeaseDuration + 30*time.Second }

// prepares bounds how long a replica takes to prepare for ranges, and pauses how long it pauses between two writes for one.
const (
	prepares = 2 * time.Second
	pauses   = 400 * time.Millisecond
)

// looked are the ranges that are worked on, out of 256.
var looked = []int{0, 77, 130, 201, 255}

// The kinds of faults of replicas, and of everything.
func calm() []string {
	return append(faults.MachineKinds(), "leave", "leave", "leave", "crash", "crash")
}

func storm() []string {
	return slices.Concat(calm(), faults.ServerKinds(), []string{"annotate", "edit", "empty", "delete", "cut", "cut"})
}

func newHistory(seed uint64) history {
	rng := rand.New(rand.NewPCG(seed, 1))
	h := history{seed: seed, replicas: 2 + rng.IntN(7), calm: rng.IntN(3) == 0}
	times := faults.SomeTimes(rng)
	h.config = shards.Options{
		Namespace: "default", Name: "web", LeaseDuration: times.Lease, RenewDeadline: times.Deadline, RetryPeriod: times.Retry,
		Drain: []time.Duration{0, time.Second}[rng.IntN(2)],
	}
	h.options = clienttest.Options{HTTP2: rng.IntN(8) == 0, Replicas: 1 + rng.IntN(2)}
	kinds := storm()
	if h.calm {
		kinds = calm()
	} else {
		h.mixed = seed%4 == 0
	}
	h.steps = faults.Steps(rng, 4+rng.IntN(20), kinds, h.replicas, times.Lease)
	return h
}

// stage is a history that is played.
type stage struct {
	*testing.T
	h       history
	server  *faults.Server
	ledger  *ledger
	players []*player
	ended   chan struct{}
	running sync.WaitGroup

	mu  sync.Mutex // guards rng
	rng *rand.Rand
}

func (s *stage) chance(p float64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.Float64() < p
}

func (s *stage) some(most time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(s.rng.Int64N(int64(most)))
}

// player is a place where processes run, one after the other, each of which is a replica.
type player struct {
	s *stage
	n int

	mu      sync.Mutex // guards the rest
	m       *faults.Machine
	name    string
	group   *shards.Group
	cancel  func()            // of the present Run
	crashed chan struct{}     // closed when the present process has crashed
	dead    []*faults.Machine // of processes that have crashed: they are stopped until the end
}

// play plays the history in a bubble, and returns what went wrong.
func (h history) play(t *testing.T) (wrong []string, l *ledger) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := faults.NewServer(clienttest.Start(t, h.options), h.options.Replicas, rand.New(rand.NewPCG(h.seed, 3)))
		s := &stage{T: t, h: h, server: server, ended: make(chan struct{}), rng: rand.New(rand.NewPCG(h.seed, 2))}
		l = &ledger{server: server, start: time.Now(), cut: make(map[string]bool), ranges: make(map[string]*tenure)}
		if h.calm { // the lease, the drain of who had it, the time to prepare, perhaps for others first, and to write, and what retries take
			drain := h.config.Drain
			if drain == 0 {
				drain = 20 * time.Second
			}
			l.bound = h.config.LeaseDuration + drain + 2*prepares + 2*pauses + 3*time.Second
		}
		s.ledger = l
		s.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if r.UserAgent() == "outside" {
				return nil
			}
			return l.intercept(r)
		})
		for n := range h.replicas {
			s.players = append(s.players, &player{s: s, n: n})
		}
		for _, p := range s.players {
			s.running.Go(p.live)
		}
		for _, step := range h.steps {
			s.running.Go(func() {
				time.Sleep(step.At)
				s.do(step)
			})
		}
		time.Sleep(faults.Begin(h.config.LeaseDuration) + faults.Healing(h.config.LeaseDuration) + h.progress())
		s.settled()
		close(s.ended)
		for _, p := range s.players {
			p.stop()
			p.bury()
		}
		gone := make(chan struct{})
		go func() {
			s.running.Wait()
			close(gone)
		}()
		select {
		case <-gone:
		case <-time.After(5 * time.Minute):
			l.mu.Lock()
			l.fault("a replica has not ended for 5 minutes")
			l.mu.Unlock()
			<-gone
		}
	})
	return l.wrong, l
}

// fence is the object that those write to who work on a range.
func fence(n int) meta.Key { return meta.Key{Namespace: "default", Name: fmt.Sprint(n)} }

func (s *stage) client(change func(*client.Config)) *client.Client {
	config := s.server.Config()
	config.UserAgent = "outside"
	if change != nil {
		change(&config)
	}
	c, err := client.New(config)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

// settled checks that each range is somebody's, and nobody else's, now that all faults have ended.
func (s *stage) settled() {
	l := s.ledger
	counts := func() map[string]time.Duration {
		l.mu.Lock()
		defer l.mu.Unlock()
		last := make(map[string]time.Duration)
		for name, t := range l.ranges {
			last[name] = t.last
		}
		return last
	}
	before := counts()
	time.Sleep(s.h.config.LeaseDuration + 20*time.Second)
	after := counts()
	var all meta.Ranges
	var said string
	for _, p := range s.players {
		p.mu.Lock()
		if p.group != nil {
			status := p.group.Status()
			said += fmt.Sprintf("\n\t%v", status)
			if both := all.Intersect(status.Ranges); both.Len() > 0 {
				l.mu.Lock()
				l.fault("at the end two replicas have %v", both)
				l.mu.Unlock()
			}
			all = all.Union(status.Ranges)
		}
		p.mu.Unlock()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if all != meta.AllRanges() {
		l.fault("at the end nobody has %v%s", meta.AllRanges().Minus(all), said)
	}
	for _, n := range looked {
		if name := fence(n).Name; after[name] == before[name] {
			l.fault("at the end nobody works on range %s%s", name, said)
		}
	}
}

// do makes a step.
func (s *stage) do(step faults.Step) {
	p := s.players[step.Who]
	p.mu.Lock()
	m, name := p.m, p.name
	p.mu.Unlock()
	if m == nil {
		return // it has not begun
	}
	leases := client.For(s.client(nil), Leases)
	lease := meta.Key{Namespace: s.h.config.Namespace, Name: s.h.config.Name + "-" + name}
	switch step.Kind {
	case "crash":
		s.ledger.trouble()
		p.crash()
	case "leave":
		s.ledger.trouble()
		p.stop()
	case "cut":
		s.ledger.cutOff(name, true)
		time.Sleep(step.For)
		s.ledger.cutOff(name, false)
	case "annotate":
		_, _ = leases.Patch(s.Context(), lease, patch.Merge(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"at": time.Now().String()}}}))
	case "edit":
		_, _ = leases.Patch(s.Context(), lease, patch.Merge(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			"shards.bowline-go.github.io/share": []any{nil, "", "v1 ranges="}[int(step.By.Abs()%3)],
		}}}))
	case "empty":
		_, _ = leases.Patch(s.Context(), lease, patch.Merge(map[string]any{"spec": map[string]any{"holderIdentity": nil}}))
	case "delete":
		_ = leases.Delete(s.Context(), lease, client.DeleteOptions{})
	default:
		m.Do(step)
		s.server.Do(step)
	}
}

// crash stops the present process for ever.
func (p *player) crash() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.m.Crash() {
		p.dead = append(p.dead, p.m)
		close(p.crashed)
	}
}

// bury lets the processes that have crashed end: nothing of them may still work.
func (p *player) bury() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range append(p.dead, p.m) {
		m.Bury()
	}
}

// live runs one process after the other until the history ends.
func (p *player) live() {
	for n := 0; ; n++ {
		select {
		case <-p.s.ended:
			return
		case <-time.After(p.s.some(3 * time.Second)):
		}
		name := fmt.Sprintf("p%d-%d", p.n, n)
		m, crashed := faults.NewMachine(p.s.ledger.trouble), make(chan struct{})
		c := p.s.client(func(c *client.Config) {
			m.Connects(c)
			c.UserAgent = name
		})
		config := p.s.h.config
		config.Identity = name
		config.OnError = func(error) {}
		if p.s.h.mixed && p.n%2 == 1 {
			config.By = meta.ShardByNamespace
		}
		group := shards.New(c, config)
		shards.RunsOn(m.Machine, group)
		ctx, cancel := context.WithCancel(logr.NewContext(p.s.Context(), logr.Discard()))
		leave := sync.OnceFunc(func() {
			p.s.ledger.left()
			cancel()
		})
		p.s.ledger.come()
		p.mu.Lock()
		p.m, p.name, p.group, p.cancel, p.crashed = m, name, group, leave, crashed
		p.mu.Unlock()
		select {
		case <-p.s.ended:
			leave()
			return
		default:
		}
		done := make(chan struct{})
		p.s.running.Go(func() {
			defer close(done)
			defer leave()
			_ = group.Run(ctx, func(ctx context.Context) error { return p.work(ctx, group, c, m, name) })
		})
		select {
		case <-done:
		case <-crashed:
			leave() // which it does not see before it is buried
		}
	}
}

// stop ends the present Run.
func (p *player) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancel != nil {
		p.cancel()
	}
}

// work prepares for ranges as a cache does, and writes for those that it has, until ctx ends.
func (p *player) work(ctx context.Context, group *shards.Group, c *client.Client, m *faults.Machine, name string) error {
	var running sync.WaitGroup
	defer running.Wait()
	follower := group.Follow("the cache")
	running.Go(func() {
		defer follower.Leave()
		var have meta.Ranges
		for {
			wanted, changed := follower.Wanted()
			if wanted.Minus(have).Len() > 0 {
				select {
				case <-time.After(p.s.some(prepares)):
				case <-ctx.Done():
				}
				m.Pause()
			}
			have = wanted
			follower.Have(have)
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	})
	maps := client.For(c, ConfigMaps)
	for _, n := range looked {
		running.Go(func() {
			for ctx.Err() == nil {
				m.Pause()
				turn := shards.Turn(group, n)
				if working, leave, ok := group.Enter(ctx, n); ok && turn != shards.Turn(group, n) {
					leave() // it has begun anew meanwhile
				} else if ok {
					data := stamp{Replica: name, Turn: fmt.Sprint(turn)}
					write := func() {
						ctx, cancel := context.WithTimeout(context.WithoutCancel(working), 5*time.Second) // the gate alone has to stop it
						defer cancel()
						_, _ = maps.Patch(ctx, fence(n), patch.Merge(map[string]any{"data": data}))
					}
					write()
					if p.s.chance(0.05) { // work that takes long, also when its context has ended
						running.Go(func() {
							time.Sleep(p.s.some(15 * time.Second))
							m.Pause()
							write()
							leave()
						})
					} else {
						leave()
					}
				}
				select {
				case <-ctx.Done():
				case <-time.After(pauses/2 + p.s.some(pauses/2)):
				}
			}
		})
	}
	return nil
}
