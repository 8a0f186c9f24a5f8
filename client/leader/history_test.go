package leader_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/internal/proof/faults"
	"github.com/bowline-go/bowline/patch"
)

// history is what happens while some contend for a lease: which faults begin when. The work of a contender and the
// requests that are broken are random too, and not in the history.
type history struct {
	seed       uint64
	contenders int
	config     leader.Options
	options    clienttest.Options
	steps      []faults.Step
}

func (h history) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d contenders, %v, %v, %v", h.seed, h.contenders, h.config.LeaseDuration, h.config.RenewDeadline, h.config.RetryPeriod)
	for _, s := range h.steps {
		fmt.Fprintf(&b, "\n\t%v", s)
	}
	return b.String()
}

// progress is the time after the last fault within which somebody leads.
func (h history) progress() time.Duration { return 2*h.config.LeaseDuration + 20*time.Second }

func newHistory(seed uint64) history {
	rng := rand.New(rand.NewPCG(seed, 1))
	h := history{seed: seed, contenders: 2 + rng.IntN(4)}
	times := faults.SomeTimes(rng)
	h.config = leader.Options{
		Namespace: leaseKey.Namespace, Name: leaseKey.Name,
		LeaseDuration: times.Lease, RenewDeadline: times.Deadline, RetryPeriod: times.Retry,
	}
	h.options = clienttest.Options{HTTP2: rng.IntN(8) == 0, Replicas: 1 + rng.IntN(2)}
	kinds := slices.Concat(faults.MachineKinds(), faults.ServerKinds(), []string{"release", "release", "annotate"})
	h.steps = faults.Steps(rng, 2+rng.IntN(14), kinds, h.contenders, times.Lease)
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

// player is a process that contends. When its Run has returned it begins again, as if it were started anew.
type player struct {
	s *stage
	m *faults.Machine
	n int

	mu      sync.Mutex // guards the rest
	leading context.Context
	cancel  context.CancelFunc // of the present Run
}

// play plays the history in a bubble, and returns what went wrong.
func (h history) play(t *testing.T) (wrong []string, l *ledger) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := faults.NewServer(clienttest.Start(t, h.options), h.options.Replicas, rand.New(rand.NewPCG(h.seed, 3)))
		s := &stage{T: t, h: h, server: server, ended: make(chan struct{}), rng: rand.New(rand.NewPCG(h.seed, 2))}
		l = &ledger{server: server, start: time.Now()}
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
			p := &player{s: s, m: faults.NewMachine(nil), n: n}
			s.players = append(s.players, p)
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
func (s *stage) do(step faults.Step) {
	p := s.players[step.Who]
	switch step.Kind {
	case "release":
		p.stop()
	case "annotate":
		leases := client.For(s.client(nil), Leases)
		_, _ = leases.Patch(s.Context(), leaseKey, patch.Merge(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"at": time.Now().String()}}}))
	default:
		p.m.Do(step)
		s.server.Do(step)
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
			runsOn(p.m.Machine, elector)
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
