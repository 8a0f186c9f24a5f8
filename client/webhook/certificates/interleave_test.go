package certificates_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/webhook/certificates"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// schedule is a sequence of choices, which names one run. A choice beyond its end is the first possible one. After a
// run, next is the following schedule in depth-first order.
type schedule struct {
	choices, sizes []int
	at             int
	random         *rand.Rand // if set, it chooses instead
}

// choose chooses among n.
func (s *schedule) choose(n int) int {
	if s.random != nil {
		return s.random.IntN(n)
	}
	if s.at == len(s.choices) {
		s.choices, s.sizes = append(s.choices, 0), append(s.sizes, 0)
	}
	s.sizes[s.at] = n
	s.at++
	return s.choices[s.at-1]
}

// next moves on to the next schedule. It returns false after the last one.
func (s *schedule) next() bool {
	s.choices, s.sizes = s.choices[:s.at], s.sizes[:s.at]
	s.at = 0
	for i := len(s.choices) - 1; i >= 0; i-- {
		if s.choices[i]+1 < s.sizes[i] {
			s.choices, s.sizes = s.choices[:i+1], s.sizes[:i+1]
			s.choices[i]++
			return true
		}
	}
	return false
}

// gate lets the requests of replicas through one by one. Requests of others pass.
type gate struct {
	server *clienttest.Server
	mu     sync.Mutex
	waits  map[string]chan string // what to do with the waiting request of a replica
	writes map[string]bool        // whether that is a write
}

func (g *gate) see(r *http.Request) http.HandlerFunc {
	name := r.UserAgent()
	if name != "a" && name != "b" {
		return nil
	}
	what := make(chan string, 1)
	g.mu.Lock()
	g.waits[name], g.writes[name] = what, r.Method != http.MethodGet
	g.mu.Unlock()
	switch <-what {
	case "crash before":
		return clienttest.Reset()
	case "crash after":
		return func(w http.ResponseWriter, r *http.Request) {
			g.server.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
			clienttest.Reset()(w, r)
		}
	}
	return nil
}

// moves returns what can happen next: each waiting request goes on, or its replica crashes at it if crashes are left.
func (g *gate) moves(last string, switches, crashes int) (all [][2]string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range []string{"a", "b"} {
		other := map[string]string{"a": "b", "b": "a"}[name]
		if g.waits[name] == nil || last == other && switches == 0 && g.waits[other] != nil {
			continue
		}
		all = append(all, [2]string{name, "go on"})
		if crashes > 0 && g.writes[name] {
			all = append(all, [2]string{name, "crash before"}, [2]string{name, "crash after"})
		}
	}
	return all
}

func (g *gate) move(m [2]string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waits[m[0]] <- m[1]
	delete(g.waits, m[0])
}

// player is a replica in the test. After a crash it is another process, which knows nothing.
type player struct {
	is    *certificates.Issuer
	ready bool // it has been trusted everywhere
	left  int  // looks
	stop  context.CancelFunc
	ended chan struct{}
}

// duel is a run of two replicas.
type duel struct {
	*world
	gate    *gate
	players map[string]*player
	story   []string
}

// begin lets a player look until its looks are over.
func (d *duel) begin(p *player) {
	ctx, stop := context.WithCancel(d.quiet())
	p.stop, p.ended = stop, make(chan struct{})
	is, left := p.is, p.left
	go func() {
		defer close(p.ended)
		for ; left > 0 && ctx.Err() == nil; left-- {
			_ = is.Look(ctx)
		}
	}()
}

// check returns an error if a replica that has been ready is refused now.
func (d *duel) check() error {
	bundles := d.only()
	var errs []error
	for _, name := range []string{"a", "b"} {
		p := d.players[name]
		leaf, _ := p.is.Served()
		if leaf == nil {
			continue
		}
		err := trusted(leaf, bundles)
		p.ready = p.ready || err == nil
		if p.ready && err != nil {
			errs = append(errs, fmt.Errorf("replica %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// fight lets both replicas look, in the order of the schedule.
func (d *duel) fight(s *schedule, switches, crashes int) error {
	d.gate = &gate{server: d.server, waits: map[string]chan string{}, writes: map[string]bool{}}
	d.server.Intercept(d.gate.see)
	for _, p := range d.players {
		d.begin(p)
	}
	last := ""
	for {
		synctest.Wait()
		moves := d.gate.moves(last, switches, crashes)
		if len(moves) == 0 {
			break
		}
		m := moves[s.choose(len(moves))]
		if last != "" && m[0] != last {
			switches = max(0, switches-1)
		}
		last = m[0]
		d.story = append(d.story, m[0]+" "+m[1])
		if m[1] != "go on" {
			d.players[m[0]].stop() // so that it does not try again
			synctest.Wait()
		}
		d.gate.move(m)
		synctest.Wait()
		if m[1] != "go on" {
			crashes--
			d.restart(m[0])
		}
		if err := d.check(); err != nil {
			d.end()
			return err
		}
	}
	d.end()
	return nil
}

// end lets the rest of the requests through, and waits for the replicas.
func (d *duel) end() {
	d.server.Intercept(nil)
	d.gate.mu.Lock()
	for _, what := range d.gate.waits {
		what <- "go on"
	}
	d.gate.mu.Unlock()
	for _, p := range d.players {
		<-p.ended
		p.stop()
	}
}

// restart starts another replica in the place of one that has crashed.
func (d *duel) restart(name string) {
	<-d.players[name].ended
	p := &player{is: d.replica(name, oneConfiguration), left: 2}
	d.players[name] = p
	d.begin(p)
}

// settle lets the replicas look undisturbed until they agree.
func (d *duel) settle() error {
	a, b := d.players["a"], d.players["b"]
	for range 8 {
		if err := errors.Join(a.is.Look(d.quiet()), b.is.Look(d.quiet()), d.check()); err != nil {
			return err
		}
		time.Sleep(2 * time.Minute)
	}
	data := d.secret().Data
	leaf, _ := a.is.Served()
	if !same(a.is, b.is) || !bytes.Equal(bytes.TrimSpace(data["tls.crt"]), bytes.TrimSpace(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}))) {
		return errors.New("the replicas and the Secret do not agree in the end")
	}
	return trusted(leaf, d.only())
}

// only returns the bundle of the configuration that both replicas write.
func (d *duel) only() map[string][]byte {
	return map[string][]byte{validate.Kind: d.bundle(validate)}
}

// stages are the states of a cluster in which two replicas meet.
var stages = map[string]func(w *world, a, b *certificates.Issuer){
	"start": nil,
	"renewal": func(w *world, a, b *certificates.Issuer) {
		w.look(a, b)
		time.Sleep(61 * day)
	},
	"announcement": func(w *world, a, b *certificates.Issuer) {
		announce(w, a, b, 540*day+time.Hour)
	},
	"switch": func(w *world, a, b *certificates.Issuer) {
		announce(w, a, b, 540*day+time.Hour)
		w.look(a, b)
		time.Sleep(certificates.SettleTime)
	},
	"old authority": func(w *world, a, b *certificates.Issuer) {
		announce(w, a, b, 540*day+time.Hour)
		w.look(a, b)
		for _, d := range []time.Duration{certificates.SettleTime, 50 * day, 50 * day, 50 * day, 35 * day} {
			time.Sleep(d)
			w.look(a, b)
		}
	},
	"deleted": func(w *world, a, b *certificates.Issuer) {
		w.look(a, b)
		w.deleteSecret()
	},
	"restored": func(w *world, a, b *certificates.Issuer) {
		w.look(a, b)
		backup := w.secret().Data
		w.deleteSecret()
		w.look(a, b)
		time.Sleep(certificates.SettleTime)
		w.look(a, b)
		w.replace(backup)
	},
	"outage": func(w *world, a, b *certificates.Issuer) {
		w.look(a, b)
		time.Sleep(1000 * day)
	},
}

// announce passes the time until the authority is due, with renewals on the way.
func announce(w *world, a, b *certificates.Issuer, d time.Duration) {
	w.look(a, b)
	for range 9 {
		time.Sleep(d / 9)
		if time.Until(authorityOf(a)) > 180*day {
			w.look(a, b)
		}
	}
}

func authorityOf(a *certificates.Issuer) time.Time {
	_, by := a.Served()
	return by.NotAfter
}

var switches = flag.Int("switches", 0, "how often the orders that are all tried change from one replica that could go on to the other")

// Two replicas meet in each stage, in every order of their requests with a few switches between them and in some random
// orders, and one of them crashes at each write, before and after it. A replica that has been trusted is trusted at
// every moment, and in the end both agree.
func TestEveryOrderOfTwoReplicas(t *testing.T) {
	for name, stage := range stages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &schedule{}
			for more := true; more; more = s.next() {
				meet(t, stage, s, *switches)
			}
			for seed := range histories.Seeds(4) {
				meet(t, stage, &schedule{random: rand.New(rand.NewPCG(seed, 0))}, math.MaxInt32)
			}
		})
	}
}

// meet plays one order.
func meet(t *testing.T, stage func(w *world, a, b *certificates.Issuer), s *schedule, switches int) {
	t.Helper()
	var failed error
	var story []string
	synctest.Test(t, func(t *testing.T) {
		w := newSmallWorld(t, clienttest.Options{})
		d := &duel{world: w, players: map[string]*player{}}
		for _, name := range []string{"a", "b"} {
			d.players[name] = &player{is: w.replica(name, oneConfiguration), left: 2}
		}
		if stage != nil {
			stage(w, d.players["a"].is, d.players["b"].is)
			_ = d.check()
		}
		if failed = d.fight(s, switches, 1); failed == nil {
			failed = d.settle()
		}
		story = d.story
	})
	if failed != nil {
		t.Fatalf("%v\nafter\n%s", failed, strings.Join(story, "\n"))
	}
}

// oneConfiguration leaves one configuration, so that there are fewer orders.
func oneConfiguration(o *certificates.Options) { o.Mutating, o.Definitions = nil, nil }
