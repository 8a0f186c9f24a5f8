package shards_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/internal/proof/machine"
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
	steps    []step
}

type step struct {
	at   time.Duration
	kind string
	who  int // which replica
	for_ time.Duration
	by   time.Duration
}

func (s step) String() string {
	return fmt.Sprintf("%v: %s, replica %d, for %v, by %v", s.at, s.kind, s.who, s.for_, s.by)
}

func (h history) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d replicas, mixed %t, calm %t, %v, %v, %v", h.seed, h.replicas, h.mixed, h.calm, h.config.LeaseDuration, h.config.RenewDeadline, h.config.RetryPeriod)
	for _, s := range h.steps {
		fmt.Fprintf(&b, "\n\t%v", s)
	}
	return b.String()
}

// faultsLast is the time in which faults begin, healing bounds how long one lasts, and within progress after that every range is worked
// on.
func (h history) faultsLast() time.Duration { return 5 * h.config.LeaseDuration }
func (h history) healing() time.Duration    { return 2 * h.config.LeaseDuration }
func (h history) progress() time.Duration   { return 3*h.config.LeaseDuration + 30*time.Second }

// prepares bounds how long a replica takes to prepare for ranges, and pauses how long it pauses between two writes for one.
const (
	prepares = 2 * time.Second
	pauses   = 400 * time.Millisecond
)

// looked are the ranges that are worked on, out of 256.
var looked = []int{0, 77, 130, 201, 255}

var (
	calm  = []string{"stop", "stop", "sleep", "sleep", "step", "leave", "leave", "leave", "crash", "crash"}
	storm = append([]string{
		"away", "black hole", "half-open", "drop watches", "end watches", "fail watches", "compact", "requests", "requests", "requests",
		"annotate", "edit", "empty", "delete", "cut", "cut", "lag",
	}, calm...)
)

func newHistory(seed uint64) history {
	rng := rand.New(rand.NewPCG(seed, 1))
	h := history{seed: seed, replicas: 2 + rng.IntN(7), calm: rng.IntN(3) == 0}
	h.config = []shards.Options{
		{LeaseDuration: 15 * time.Second},
		{LeaseDuration: 15 * time.Second, RenewDeadline: 14 * time.Second},
		{LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 500 * time.Millisecond},
		{LeaseDuration: 30 * time.Second, RenewDeadline: 20 * time.Second, RetryPeriod: 5 * time.Second},
	}[rng.IntN(4)]
	h.config.Namespace, h.config.Name, h.config.Drain = "default", "web", []time.Duration{0, time.Second}[rng.IntN(2)]
	h.options = clienttest.Options{HTTP2: rng.IntN(8) == 0, Replicas: 1 + rng.IntN(2)}
	kinds := storm
	if h.calm {
		kinds = calm
	} else {
		h.mixed = seed%4 == 0
	}
	for range 4 + rng.IntN(20) {
		h.steps = append(h.steps, step{
			at:   time.Duration(rng.Int64N(int64(h.faultsLast()))),
			kind: kinds[rng.IntN(len(kinds))],
			who:  rng.IntN(h.replicas),
			for_: time.Duration(rng.Int64N(int64([]time.Duration{2 * time.Second, h.config.LeaseDuration, h.healing()}[rng.IntN(3)]))),
			by:   time.Duration(rng.Int64N(int64([]time.Duration{2 * time.Second, 20 * time.Second, time.Hour}[rng.IntN(3)]))) * time.Duration(1-2*rng.IntN(2)),
		})
	}
	return h
}

// stage is a history that is played.
type stage struct {
	*testing.T
	h       history
	server  *clienttest.Server
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
	m       *machine.Machine
	name    string
	group   *shards.Group
	cancel  func()             // of the present Run
	stepped time.Time          // when the wall clock was last set back
	crashed chan struct{}      // closed when the present process has crashed
	dead    []*machine.Machine // of processes that have crashed: they are stopped until the end
}

// play plays the history in a bubble, and returns what went wrong.
func (h history) play(t *testing.T) (faults []string, l *ledger) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{T: t, h: h, server: clienttest.Start(t, h.options), ended: make(chan struct{}), rng: rand.New(rand.NewPCG(h.seed, 2))}
		l = &ledger{
			server: s.server, start: time.Now(), rng: rand.New(rand.NewPCG(h.seed, 3)), cut: make(map[string]bool), ranges: make(map[string]*tenure),
		}
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
				time.Sleep(step.at)
				s.do(step)
			})
		}
		time.Sleep(h.faultsLast() + h.healing() + h.progress())
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
func (s *stage) do(step step) {
	p := s.players[step.who]
	p.mu.Lock()
	m, name := p.m, p.name
	p.mu.Unlock()
	if m == nil {
		return // it has not begun
	}
	heal := func(f func()) {
		time.Sleep(step.for_)
		f()
	}
	leases := client.For(s.client(nil), Leases)
	lease := meta.Key{Namespace: s.h.config.Namespace, Name: s.h.config.Name + "-" + name}
	switch step.kind {
	case "stop":
		s.ledger.trouble()
		m.Freeze()
		heal(func() { p.thaw(m, false) })
	case "sleep":
		// A wall clock that is set back right before a sleep hides it; see the DESIGN.md of package leader.
		p.mu.Lock()
		wait := 1100*time.Millisecond - time.Since(p.stepped)
		p.mu.Unlock()
		time.Sleep(wait)
		s.ledger.trouble()
		m.Freeze()
		heal(func() { p.thaw(m, true) })
	case "step":
		s.ledger.trouble()
		if step.by > 0 || !m.IsFrozen() {
			if step.by < 0 {
				p.mu.Lock()
				p.stepped = time.Now()
				p.mu.Unlock()
			}
			m.Step(step.by)
		}
	case "crash":
		s.ledger.trouble()
		p.crash()
	case "leave":
		s.ledger.trouble()
		p.stop()
	case "away":
		s.server.Freeze()
		s.server.Refuse(syscall.ECONNREFUSED)
		heal(func() { s.server.Refuse(nil) })
	case "black hole":
		s.server.Freeze()
		s.server.BlackHole(true)
		heal(func() { s.server.BlackHole(false) })
	case "half-open":
		s.server.Freeze()
	case "drop watches":
		s.server.DropWatches()
	case "end watches":
		s.server.EndWatches()
	case "fail watches":
		s.server.FailWatches(meta.Status{Code: http.StatusGone, Reason: "Expired", Message: "too old"})
	case "compact":
		s.server.Compact()
	case "requests":
		s.ledger.mu.Lock()
		s.ledger.chance = 0.1 + float64(step.by.Abs()%9)/10
		s.ledger.mu.Unlock()
		heal(func() {
			s.ledger.mu.Lock()
			s.ledger.chance = 0
			s.ledger.mu.Unlock()
		})
	case "cut":
		s.ledger.mu.Lock()
		s.ledger.cut[name] = true
		s.ledger.mu.Unlock()
		heal(func() {
			s.ledger.mu.Lock()
			delete(s.ledger.cut, name)
			s.ledger.mu.Unlock()
		})
	case "annotate":
		_, _ = leases.Patch(s.Context(), lease, patch.Merge(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"at": time.Now().String()}}}))
	case "edit":
		_, _ = leases.Patch(s.Context(), lease, patch.Merge(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			"shards.bowline-go.github.io/share": []any{nil, "", "v1 ranges="}[int(step.by.Abs()%3)],
		}}}))
	case "empty":
		_, _ = leases.Patch(s.Context(), lease, patch.Merge(map[string]any{"spec": map[string]any{"holderIdentity": nil}}))
	case "delete":
		_ = leases.Delete(s.Context(), lease, client.DeleteOptions{})
	case "lag":
		r := s.server.Replica(step.who % max(s.h.options.Replicas, 1))
		r.SetLag(0, step.by.Abs()%(10*time.Second))
		heal(func() { r.SetLag(0, 0) })
	}
}

// thaw lets a process go on, unless it has crashed meanwhile.
func (p *player) thaw(m *machine.Machine, slept bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, dead := range p.dead {
		if dead == m {
			return
		}
	}
	m.Thaw(slept)
}

// crash stops the present process for ever.
func (p *player) crash() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.crashed:
		return
	default:
	}
	p.m.Freeze()
	p.dead = append(p.dead, p.m)
	close(p.crashed)
}

// bury lets the processes that have crashed end: nothing of them may still work.
func (p *player) bury() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.dead {
		m.Thaw(false)
	}
	p.m.Thaw(false)
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
		m, crashed := machine.New(), make(chan struct{})
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
		shards.RunsOn(m, group)
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
func (p *player) work(ctx context.Context, group *shards.Group, c *client.Client, m *machine.Machine, name string) error {
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
