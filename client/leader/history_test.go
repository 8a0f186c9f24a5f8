package leader_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/machine"
	"github.com/bowline-go/bowline/patch"
)

// history is what happens while some contend for a lease: which faults begin when. The work of a contender and the
// requests that are broken are random too, and not in the history.
type history struct {
	seed       uint64
	contenders int
	config     leader.Options
	options    clienttest.Options
	steps      []step
}

type step struct {
	at   time.Duration
	kind string
	who  int // which contender
	for_ time.Duration
	by   time.Duration
}

func (s step) String() string {
	return fmt.Sprintf("%v: %s, contender %d, for %v, by %v", s.at, s.kind, s.who, s.for_, s.by)
}

func (h history) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d contenders, %v, %v, %v", h.seed, h.contenders, h.config.LeaseDuration, h.config.RenewDeadline, h.config.RetryPeriod)
	for _, s := range h.steps {
		fmt.Fprintf(&b, "\n\t%v", s)
	}
	return b.String()
}

// faultsLast is the time in which faults begin, healing bounds how long one lasts, and within progress after that somebody leads.
func (h history) faultsLast() time.Duration { return 5 * h.config.LeaseDuration }
func (h history) healing() time.Duration    { return 2 * h.config.LeaseDuration }
func (h history) progress() time.Duration   { return 2*h.config.LeaseDuration + 20*time.Second }

var kinds = []string{
	"stop", "stop", "sleep", "sleep", "step", "step", "away", "black hole", "half-open", "drop watches", "end watches", "fail watches",
	"compact", "requests", "requests", "requests", "release", "release", "annotate", "lag",
}

func newHistory(seed uint64) history {
	rng := rand.New(rand.NewPCG(seed, 1))
	h := history{seed: seed, contenders: 2 + rng.IntN(4)}
	h.config = []leader.Options{
		{LeaseDuration: 15 * time.Second},
		{LeaseDuration: 15 * time.Second, RenewDeadline: 14 * time.Second},
		{LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 500 * time.Millisecond},
		{LeaseDuration: 30 * time.Second, RenewDeadline: 20 * time.Second, RetryPeriod: 5 * time.Second},
	}[rng.IntN(4)]
	h.config.Namespace, h.config.Name = leaseKey.Namespace, leaseKey.Name
	h.options = clienttest.Options{HTTP2: rng.IntN(8) == 0, Replicas: 1 + rng.IntN(2)}
	for range 2 + rng.IntN(14) {
		h.steps = append(h.steps, step{
			at:   time.Duration(rng.Int64N(int64(h.faultsLast()))),
			kind: kinds[rng.IntN(len(kinds))],
			who:  rng.IntN(h.contenders),
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

// player is a process that contends. When its Run has returned it begins again, as if it were started anew.
type player struct {
	s *stage
	m *machine.Machine
	n int

	mu      sync.Mutex // guards the rest
	leading context.Context
	cancel  context.CancelFunc // of the present Run
	stepped time.Time          // when the wall clock was last set back
}

// play plays the history in a bubble, and returns what went wrong.
func (h history) play(t *testing.T) (faults []string, l *ledger) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{T: t, h: h, server: clienttest.Start(t, h.options), ended: make(chan struct{}), rng: rand.New(rand.NewPCG(h.seed, 2))}
		l = &ledger{server: s.server, start: time.Now(), rng: rand.New(rand.NewPCG(h.seed, 3))}
		s.ledger = l
		maps := client.For(s.client(nil), ConfigMaps)
		if _, err := maps.Create(t.Context(), &ConfigMap{ObjectMeta: fence.ObjectMeta()}); err != nil {
			t.Fatal(err)
		}
		s.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if r.UserAgent() == "outside" {
				return nil
			}
			return l.intercept(r)
		})
		for n := range h.contenders {
			p := &player{s: s, m: machine.New(), n: n}
			s.players = append(s.players, p)
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
		}
		gone := make(chan struct{})
		go func() {
			s.running.Wait()
			close(gone)
		}()
		select {
		case <-gone:
		case <-time.After(2 * time.Minute):
			l.mu.Lock()
			l.fault("a contender has not ended for 2 minutes")
			l.mu.Unlock()
			<-gone
		}
	})
	return l.wrong, l
}

func (s *stage) client(change func(*client.Config)) *client.Client {
	config := s.server.Config()
	config.UserAgent = "outside"
	if change != nil {
		config.UserAgent = ""
		change(&config)
	}
	c, err := client.New(config)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

// settled checks that somebody leads, now that all faults have ended.
func (s *stage) settled() {
	s.ledger.mu.Lock()
	before := s.ledger.accepted
	s.ledger.mu.Unlock()
	time.Sleep(s.h.config.LeaseDuration + 20*time.Second) // one of them may just have ended its work
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	if s.ledger.accepted == before {
		s.ledger.fault("nobody leads, %v after the last fault has ended", s.h.progress())
	}
}

// do makes a step.
func (s *stage) do(step step) {
	p := s.players[step.who]
	heal := func(f func()) {
		time.Sleep(step.for_)
		f()
	}
	switch step.kind {
	case "stop":
		p.m.Freeze()
		heal(func() { p.m.Thaw(false) })
	case "sleep":
		// A wall clock that is set back right before a sleep hides it; see DESIGN.md.
		p.mu.Lock()
		wait := 1100*time.Millisecond - time.Since(p.stepped)
		p.mu.Unlock()
		time.Sleep(wait)
		p.m.Freeze()
		heal(func() { p.m.Thaw(true) })
	case "step":
		if step.by > 0 || !p.m.IsFrozen() {
			if step.by < 0 {
				p.mu.Lock()
				p.stepped = time.Now()
				p.mu.Unlock()
			}
			p.m.Step(step.by)
		}
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
	case "release":
		p.stop()
	case "annotate":
		leases := client.For(s.client(nil), Leases)
		_, _ = leases.Patch(s.Context(), leaseKey, patch.Merge(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"at": time.Now().String()}}}))
	case "lag":
		r := s.server.Replica(step.who % max(s.h.options.Replicas, 1))
		r.SetLag(0, step.by.Abs()%(10*time.Second))
		heal(func() { r.SetLag(0, 0) })
	}
}

// live contends until the history ends.
func (p *player) live() {
	c := p.s.client(p.m.Connects)
	var elector *leader.Elector
	for n := 0; ; n++ {
		if elector == nil || p.s.chance(0.5) {
			config := p.s.h.config
			config.Identity = fmt.Sprintf("%d.%d", p.n, n)
			config.OnError = func(error) {}
			elector = leader.New(c, config)
			runsOn(p.m, elector)
		}
		ctx, cancel := context.WithCancel(quiet(p.s.T))
		p.mu.Lock()
		p.cancel = cancel
		p.mu.Unlock()
		select {
		case <-p.s.ended:
			cancel()
			return
		default:
		}
		p.run(ctx, elector)
		cancel()
		select {
		case <-p.s.ended:
			return
		case <-time.After(p.s.some(3 * time.Second)):
		}
	}
}

func (p *player) run(ctx context.Context, elector *leader.Elector) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil && v != "ouch" {
				panic(v)
			}
		}()
		_ = elector.Run(ctx, p.lead)
	}()
	<-done
}

// stop ends the present Run.
func (p *player) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancel != nil {
		p.cancel()
	}
}

// lead writes until its context has ended, and for some time after that.
func (p *player) lead(ctx context.Context) error {
	p.alone(ctx)
	p.mu.Lock()
	p.leading = ctx
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.leading = nil
		p.mu.Unlock()
	}()
	c := p.s.client(p.m.Connects)
	maps := client.For(c, ConfigMaps)
	term, _ := leader.TermOf(ctx)
	data := stamp{Identity: term.Identity, Term: fmt.Sprint(term.Number), UID: term.UID}
	write := func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, _ = maps.Patch(ctx, fence, patch.Merge(map[string]any{"data": data}))
	}
	for ctx.Err() == nil {
		p.m.Pause()
		write(context.WithoutCancel(ctx)) // the end of ctx would stop it too; the gate alone has to
		select {
		case <-ctx.Done():
		case <-time.After(200*time.Millisecond + p.s.some(2*time.Second)):
		}
		if p.s.chance(0.01) {
			switch {
			case p.s.chance(0.3):
				panic("ouch")
			case p.s.chance(0.3):
				runtime.Goexit()
			}
			return errors.New("done")
		}
	}
	for end := time.Now().Add(p.s.some(20 * time.Second)); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		p.m.Pause()
		write(context.WithoutCancel(ctx))
	}
	return nil
}

// alone checks that no other process believes that it leads, when this one begins.
func (p *player) alone(ctx context.Context) {
	if leader.Check(ctx) != nil {
		return
	}
	for _, other := range p.s.players {
		other.mu.Lock()
		leading := other.leading
		other.mu.Unlock()
		if other == p || leading == nil || other.m.IsFrozen() {
			continue
		}
		if leader.Check(leading) == nil {
			p.s.ledger.mu.Lock()
			p.s.ledger.fault("contender %d begins to lead, and contender %d believes that it leads", p.n, other.n)
			p.s.ledger.mu.Unlock()
		}
	}
}
