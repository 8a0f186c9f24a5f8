package leader_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
)

var (
	leaseKey = meta.Key{Namespace: "default", Name: "web"}

	// Leases are read and written by tests as people would, with kubectl.
	Leases = client.Type[*meta.Unstructured]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"}
)

// world is a server in a bubble, and what its contenders did.
type world struct {
	*testing.T
	server *clienttest.Server
	start  time.Time
	leases client.Resource[*meta.Unstructured]
}

// play runs a test in a bubble of virtual time, with a server.
func play(t *testing.T, o clienttest.Options, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, server: clienttest.Start(t, o), start: time.Now()}
		w.leases = client.For(w.client(nil), Leases)
		test(t, w)
	})
}

// client returns a client of the server that lives as long as the test.
func (w *world) client(change func(*client.Config)) *client.Client {
	w.Helper()
	config := w.server.Config()
	if change != nil {
		change(&config)
	}
	c, err := client.New(config)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(c.Close)
	return c
}

// since returns the virtual time since the start of the test.
func (w *world) since() time.Duration { return time.Since(w.start) }

// until sleeps until a moment of the test.
func (w *world) until(at time.Duration) {
	time.Sleep(at - w.since())
	synctest.Wait()
}

// lease returns the lease as the server has it.
func (w *world) lease() *meta.Unstructured {
	w.Helper()
	lease, err := w.leases.Get(w.Context(), leaseKey)
	if err != nil {
		w.Fatal(err)
	}
	return lease
}

func (w *world) holder() string {
	w.Helper()
	return field[string](w, w.lease(), "holderIdentity")
}

// field reads a field of the spec.
func field[V any](w *world, lease *meta.Unstructured, name string) V {
	w.Helper()
	v, _, err := meta.Nested[V](lease, "spec", name)
	if err != nil {
		w.Error(err)
	}
	return v
}

// edit changes the lease, as kubectl edit does.
func (w *world) edit(change func(lease *meta.Unstructured)) {
	w.Helper()
	if _, err := w.leases.Modify(w.Context(), leaseKey, func(l *meta.Unstructured) error { change(l); return nil }); err != nil {
		w.Error(err)
	}
}

// put creates the lease with these fields in its spec.
func (w *world) put(spec map[string]any) {
	w.Helper()
	lease := &meta.Unstructured{Object: map[string]any{"spec": spec}}
	lease.SetNamespace(leaseKey.Namespace)
	lease.SetName(leaseKey.Name)
	if _, err := w.leases.Create(w.Context(), lease); err != nil {
		w.Fatal(err)
	}
}

// contender is one process that contends for the lease.
type contender struct {
	*leader.Elector
	w      *world
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // of Run

	mu     sync.Mutex // guards the rest
	errs   []error    // that OnError took
	leads  context.Context
	began  time.Duration // of lead
	lost   time.Duration // when the context of lead ended
	finish func(ctx context.Context) error
}

// contend starts a contender. Its lead waits for the end of its context, and then calls finish, if there is one.
func (w *world) contend(identity string, change func(*leader.Options), cc func(*client.Config)) *contender {
	w.Helper()
	config := leader.Options{Namespace: leaseKey.Namespace, Name: leaseKey.Name, Identity: identity}
	p := &contender{w: w, ended: make(chan struct{})}
	config.OnError = func(err error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.errs = append(p.errs, err)
	}
	if change != nil {
		change(&config)
	}
	p.Elector = leader.New(w.client(cc), config)
	return p
}

// run starts Run.
func (p *contender) run() *contender {
	ctx, cancel := context.WithCancel(quiet(p.w.T))
	p.cancel = cancel
	go func() {
		defer close(p.ended)
		p.err = p.Run(ctx, p.lead)
	}()
	p.w.Cleanup(func() {
		cancel()
		<-p.ended
	})
	return p
}

func (p *contender) lead(ctx context.Context) error {
	p.mu.Lock()
	p.leads, p.began = ctx, p.w.since()
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock()
	p.lost = p.w.since()
	finish := p.finish
	p.mu.Unlock()
	if finish != nil {
		return finish(ctx)
	}
	return nil
}

// stop ends Run, and returns its error.
func (p *contender) stop() error {
	p.cancel()
	return p.wait()
}

// wait waits until Run has returned.
func (p *contender) wait() error {
	p.w.Helper()
	select {
	case <-p.ended:
	case <-time.After(time.Hour):
		p.w.Fatal("Run has not returned for an hour")
	}
	return p.err
}

// ctx returns the context of lead, or nil if it has not been called.
func (p *contender) ctx() context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leads
}

// cause returns why the context of lead has ended; nil if it goes on, and errIdle if lead has not been called.
func (p *contender) cause() error {
	ctx := p.ctx()
	if ctx == nil {
		return errIdle
	}
	return context.Cause(ctx)
}

var errIdle = errors.New("lead has not been called")

// times returns when lead began, and when its context ended.
func (p *contender) times() (began, lost time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.began, p.lost
}

func (p *contender) errors() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]error(nil), p.errs...)
}

// quiet returns the context of a test, whose logs nobody reads.
func quiet(t *testing.T) context.Context { return logr.NewContext(t.Context(), logr.Discard()) }

// isLease reports whether a request is about leases.
func isLease(r *http.Request) bool { return clienttest.RequestOf(r).Resource.Resource == "leases" }

func isLeaseWrite(r *http.Request) bool {
	q := clienttest.RequestOf(r)
	return q.Resource.Resource == "leases" && (q.Verb == "update" || q.Verb == "create")
}
