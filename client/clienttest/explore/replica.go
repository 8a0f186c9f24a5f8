package explore

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/memnet"
)

// restartAfter is how long a replica is away after it has crashed or returned.
const restartAfter = 10 * time.Second

// replica is one replica of the program, which has one life after another.
type replica struct {
	world *world
	name  string // A, B and so on
}

// life is a replica from a start to its end. It has a network of its own, which dies before the program learns of the
// crash: so what its last words would be is lost.
type life struct {
	*replica
	ctx     context.Context
	cancel  context.CancelFunc
	network *http.Server
	door    *memnet.Listener
	dead    bool // guarded by world.mu: nothing gets through any more
	ended   chan struct{}
}

// begin starts a life.
func (r *replica) begin() {
	w := r.world
	l := &life{replica: r, door: memnet.Listen(), ended: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(logr.NewContext(w.ctx, logr.Discard()))
	l.network = &http.Server{Handler: http.HandlerFunc(l.serve), ErrorLog: log.New(io.Discard, "", 0)}
	w.mu.Lock()
	w.lives = append(w.lives, l)
	w.mu.Unlock()
	w.work.Go(func() { _ = l.network.Serve(l.door) })
	w.work.Go(l.run)
}

// run runs the program, and begins the next life after it.
func (l *life) run() {
	w := l.world
	err := l.program()
	l.cancel()
	w.mu.Lock()
	crashed := l.dead
	l.dead = true
	w.mu.Unlock()
	_ = l.network.Close()
	close(l.ended)
	if w.ctx.Err() != nil {
		return
	}
	if !crashed {
		w.tell("replica %s: the program returns%s", l.name, failed(err))
	}
	select {
	case <-w.ctx.Done():
	case <-time.After(restartAfter):
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
	l.dead = true
	l.world.mu.Unlock()
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
	p := &point{life: l, request: clienttest.RequestOf(r), method: r.Method, path: r.URL.Path, granted: make(chan kind, 1)}
	if !w.arrive(p) {
		panic(http.ErrAbortHandler)
	}
	var what kind
	select {
	case what = <-p.granted:
	case <-r.Context().Done(): // the client has gone, or the replica is dead
		w.leave(p)
		panic(http.ErrAbortHandler)
	}
	switch what {
	case crashBefore:
		w.tell("%s, and dies before it is sent", p)
		l.crash()
		panic(http.ErrAbortHandler)
	case failure:
		p.refuse(rw, r, http.StatusInternalServerError, "InternalError")
		return
	case throttled:
		rw.Header().Set("Retry-After", "1")
		p.refuse(rw, r, http.StatusTooManyRequests, "TooManyRequests")
		return
	}
	if what == late {
		w.untilReleased(context.Background(), silence{l, ""})
		r = r.WithContext(context.WithoutCancel(r.Context()))
	}
	if p.request.Verb == "watch" {
		w.follow(p, rw, r)
		return
	}
	answer := httptest.NewRecorder()
	w.server.ServeHTTP(answer, r)
	p.finish(what, rw, r, answer)
}

// config returns the configuration of a client of people, which nothing disturbs.
func (w *world) config() client.Config {
	cfg := w.server.Config()
	cfg.UserAgent = "user"
	return cfg
}
