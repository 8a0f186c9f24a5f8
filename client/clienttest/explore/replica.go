package explore

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/memnet"
)

// restartAfter is the time from the crash or the return of a replica to its next start.
const restartAfter = 10 * time.Second

// afterwards is how long the explorer still looks for writes after the program has returned for the last time.
const afterwards = time.Second

// replica is one replica of the program. It has one life after another.
type replica struct {
	world *world
	name  string // A, B and so on
}

// life is a replica from one start to its end. It has its own network. In a crash the network dies before the program
// learns of the crash, so requests that the program would then send are lost.
type life struct {
	*replica
	ctx      context.Context
	cancel   context.CancelFunc
	network  *http.Server
	door     *memnet.Listener
	dead     bool                 // guarded by world.mu: no request gets through any more
	returned bool                 // guarded by world.mu: Program has returned; later writes are findings
	leases   map[meta.Key]*tenure // guarded by world.mu: every lease that it has had
	accused  bool                 // guarded by world.mu: it has sent a write that it must not send
	crashed  chan struct{}
	ended    chan struct{}
}

// begin starts a life.
func (r *replica) begin() {
	w := r.world
	l := &life{replica: r, door: memnet.Listen(), crashed: make(chan struct{}), ended: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(logr.NewContext(w.ctx, logr.New(sink{l})))
	l.network = &http.Server{Handler: http.HandlerFunc(l.serve), ErrorLog: log.New(io.Discard, "", 0)}
	w.mu.Lock()
	if len(w.lives) >= max(1, w.plan.Replicas) {
		w.away--
	}
	w.lives = append(w.lives, l)
	w.mu.Unlock()
	w.work.Go(func() { _ = l.network.Serve(l.door) })
	w.work.Go(l.run)
}

// run runs the program, and begins the next life after the program has returned.
func (l *life) run() {
	w := l.world
	err := l.program()
	l.cancel()
	w.mu.Lock()
	crashed := l.dead
	l.dead, l.returned = true, !crashed
	w.away++
	w.digest.died(l)
	w.mu.Unlock()
	close(l.ended)
	wait := restartAfter
	if w.ctx.Err() != nil {
		wait = afterwards
	} else if !crashed {
		w.tell("replica %s: the program returns%s", l.name, failed(err))
	}
	select {
	case <-w.ctx.Done():
		time.Sleep(min(wait, afterwards))
	case <-time.After(wait):
	}
	_ = l.network.Close()
	if w.ctx.Err() == nil {
		w.tell("replica %s starts", l.name)
		l.begin()
	}
}

// program calls the user's function.
func (l *life) program() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
			l.world.found("replica %s panics: %v", l.name, v)
		}
	}()
	cfg := l.world.server.Config()
	cfg.Server, cfg.Dial = "http://"+l.door.Addr().String(), l.door.DialContext
	if cfg.UserAgent == "" {
		cfg.UserAgent = "replica-" + l.name
	}
	return l.world.plan.Program(l.ctx, cfg)
}

// crash kills the replica: first its network, then the program.
func (l *life) crash() {
	l.world.mu.Lock()
	first := !l.dead
	l.dead = true
	l.world.digest.died(l)
	l.world.mu.Unlock()
	if first {
		close(l.crashed)
	}
	_ = l.network.Close()
	l.cancel()
}

// serve answers a request of the program when the world lets it through.
func (l *life) serve(rw http.ResponseWriter, r *http.Request) {
	w := l.world
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	p := &point{
		life: l, request: clienttest.RequestOf(r), method: r.Method, path: r.URL.Path, granted: make(chan struct{}),
		cached: r.URL.Query().Get("resourceVersion") == "0", sent: time.Now(), client: r.Context(),
		query: r.URL.Query(), content: body,
	}
	if p.discovers() && !l.isDead() {
		w.server.ServeHTTP(rw, r)
		return
	}
	w.checkSent(p, body)
	query := r.URL.Query()
	query.Del("timeoutSeconds") // programs choose it at random
	p.body = w.digest.sum(hashOf(query.Encode()), body)
	if !w.arrive(p) {
		panic(http.ErrAbortHandler)
	}
	select {
	case <-p.granted:
	case <-r.Context().Done(): // the client no longer waits, or the replica is dead
		if !l.arrivesAnyway(p) {
			w.leave(p)
			panic(http.ErrAbortHandler)
		}
		r = r.WithContext(context.WithoutCancel(r.Context()))
	}
	if p.request.Verb != "watch" {
		w.answers(1)
		defer w.answers(-1)
	}
	p.handle(rw, r)
}

// arrivesAnyway reports whether a request still arrives although its client no longer waits. Only a write that the
// network holds may arrive: arrivesAnyway waits until the scheduler lets the write through, or until the replica
// crashes, which loses the write.
func (l *life) arrivesAnyway(p *point) bool {
	w := l.world
	w.mu.Lock()
	held := p.writes() && w.isHeld(silence{l, requests, ""})
	w.mu.Unlock()
	if !held {
		return false
	}
	select {
	case <-p.granted:
		return true
	case <-l.crashed:
	case <-w.ctx.Done():
	}
	return false
}

// answers adds its argument to the number of requests that are being answered.
func (w *world) answers(more int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answering += more
}

// isDead reports whether no request of the life gets through any more.
func (l *life) isDead() bool {
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	return l.dead
}

// config returns the configuration of a person's client, whose requests nothing disturbs.
func (w *world) config() client.Config {
	cfg := w.server.Config()
	cfg.UserAgent = "user"
	return cfg
}
