package clienttest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/internal/network"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/memnet"
	"github.com/bowline-go/bowline/internal/undertest"
)

// Server is an API server. Its methods may be called by several goroutines at once, before, during and after Run.
type Server struct {
	*api
	invalid   error // why the options cannot be used; Run returns it
	door      *network.Door
	webhooks  *webhookServer
	authority *network.Authority // nil without TLS
	replicas  []*Replica
	replay    *replay // nil without Options.Replay
	running   atomic.Bool
	hook      atomic.Pointer[func(*http.Request) http.HandlerFunc]
	test      *undertest.Test // set by Start before it returns the server; nil otherwise

	callsMu sync.Mutex // guards calls
	calls   map[Call]int
}

// New returns a server with the objects of a new kube-apiserver, as the documentation of the package says. It does
// nothing until Run, but clients can use Config at once: their requests wait for Run. If the options are invalid, Run
// returns the error.
func New(o Options) *Server {
	errs := []error{o.validate()}
	o.history, o.lag = cmp.Or(o.history, 10_000), cmp.Or(o.lag, 10_000)
	o.BookmarkEvery = cmp.Or(max(0, o.BookmarkEvery), time.Minute)
	listener := o.Listener
	if listener == nil {
		listener = memnet.Listen()
	}
	s := &Server{calls: map[Call]int{}, webhooks: newWebhookServer(o.Services), door: network.NewDoor(listener, cmp.Or(max(0, o.Replicas), 1)), api: &api{
		options: o, address: listener.Addr().String(), validator: object.NewValidator(), setVerbs: setVerbs,
		store: store.New(cmp.Or(max(0, o.HistoryAge), 5*time.Minute), o.history),
	}}
	if o.TLS || o.HTTP2 {
		s.authority = network.NewAuthority(listener.Addr(), o.HTTP2)
	}
	s.streaming.Store(int32(o.StreamingLists))
	s.sharded.Store(int32(o.ShardedLists))
	for range s.door.Replicas {
		s.replicas = append(s.replicas, &Replica{s.api, s.store.NewCache()})
	}
	s.caller = s.webhooks.caller()
	s.serveBuiltin()
	for _, r := range o.Resources {
		errs = append(errs, s.register(r))
	}
	s.seed()
	for _, path := range o.CRDs {
		errs = append(errs, s.install(path))
	}
	for _, path := range o.Objects {
		errs = append(errs, s.installAll(path))
	}
	if o.Replay != "" && errors.Join(errs...) == nil {
		var err error
		s.replay, err = newReplay(s.api, o.Replay)
		errs = append(errs, err)
	}
	s.invalid = errors.Join(errs...)
	return s
}

// Register adds a resource while the server runs, as the creation of a CustomResourceDefinition does. The error says
// that the resource is invalid, or that its group already has that resource or kind.
func (s *Server) Register(r Resource) error { return s.register(r) }

// Unregister removes a resource, as the deletion of its CustomResourceDefinition does, and the definition too if it has
// one. It deletes the objects, whatever their finalizers; watches send these deletions and then end. From then on the
// resource's paths are not found. [Server.Register] adds the resource again, without objects. The error says that the
// resource is not registered, or is built in.
func (s *Server) Unregister(gvr meta.GVR) error { return s.unregister(gvr) }

// Config returns the configuration of a client of this server.
func (s *Server) Config() client.Config {
	config := client.Config{Server: "http://" + s.address, BearerToken: s.options.Token, Dial: s.door.Dial}
	if s.authority != nil {
		config.Server, config.TLS.CAData = "https://"+s.address, client.Secret(s.authority.PEM())
	}
	config.BelongTo(s.test)
	return config
}

// Replica returns replica i, counted from 0. It panics if there are fewer replicas.
func (s *Server) Replica(i int) *Replica { return s.replicas[i] }

// Run serves until ctx ends. Then it answers the requests in progress, ends watches cleanly, and closes every
// connection. When Run returns, all of the server's goroutines have ended. It returns nil after ctx has ended, and
// otherwise the reason why it cannot serve. Call it only once.
func (s *Server) Run(ctx context.Context) error {
	if s.running.Swap(true) {
		return errors.New("clienttest: Run was called twice: a Server runs only once")
	}
	if s.invalid != nil {
		return errors.Join(s.invalid, s.door.Listener.Close())
	}
	var work network.Traffic
	var conns sync.WaitGroup // only goroutines in Serve add to it, so it does not grow after they have returned
	start := func(net.Listener) *http.Server { return s.newHTTPServer(ctx, &work, &conns) }
	defer s.webhooks.serve(ctx)()
	endReplay := s.replay.start(ctx)
	served := make(chan error, 1)
	go func() { served <- s.door.Serve(start) }()
	var err error
	select {
	case err = <-served:
		_ = s.door.Listener.Close() // Serve has returned, but the listener is still open
	case <-ctx.Done():
		_ = s.door.Listener.Close()
		<-served
	}
	s.shutDown(&work, &conns)
	return errors.Join(err, endReplay())
}

// newHTTPServer returns a server for one listener. It counts its requests in work and its connections in conns.
func (s *Server) newHTTPServer(ctx context.Context, work *network.Traffic, conns *sync.WaitGroup) *http.Server {
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			work.Add(1)
			defer work.Add(-1)
			s.handle(w, r)
		}),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: network.WithConn,
		ConnState: func(c net.Conn, state http.ConnState) {
			work.State(c, state)
			switch state {
			case http.StateNew:
				conns.Add(1)
			case http.StateClosed, http.StateHijacked:
				conns.Done()
			}
		},
		Protocols: new(http.Protocols),
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	srv.Protocols.SetHTTP1(true)
	srv.Protocols.SetHTTP2(s.options.HTTP2)
	if s.authority != nil {
		srv.TLSConfig = s.authority.Config()
	}
	return srv
}

// shutDown ends the requests in progress, and closes every connection.
func (s *Server) shutDown(work *network.Traffic, conns *sync.WaitGroup) {
	// Handlers see the end of the context, so watches end. A watch that is blocked in a write, because its client does
	// not read, ends when its connection is closed.
	servers := s.door.Shut()
	for _, srv := range servers {
		srv.SetKeepAlivesEnabled(false)
	}
	done := work.Done()
	grace := time.NewTimer(time.Second)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
	}
	// The connections are closed first. Over TLS, net/http's Close writes an alert while it holds a lock that the rest
	// of Close needs, and that write blocks if the connection is slow or the client does not read.
	for _, c := range s.door.Open() {
		_ = c.Close()
	}
	for _, srv := range servers {
		_ = srv.Close()
	}
	conns.Wait()
	s.door.Release()
	<-done
}

// handle answers one request from the network: it counts the request, and calls the hook first.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	q := RequestOf(r)
	s.callsMu.Lock()
	s.calls[Call{q.Verb, q.Resource.Resource}]++
	s.callsMu.Unlock()
	if hook := s.hook.Load(); hook != nil {
		if answer := (*hook)(r); answer != nil {
			answer(w, r)
			return
		}
	}
	s.ServeHTTP(w, r)
}

// Requests returns how many requests of each kind the server has received, whatever their answers.
func (s *Server) Requests() map[Call]int {
	s.callsMu.Lock()
	defer s.callsMu.Unlock()
	return maps.Clone(s.calls)
}

// Unchecked returns how many writes had a field of a built-in kind whose rules this server does not know, or not all of
// them, by the kind and the path of the field, such as "DeviceClass spec.selectors.cel.expression". A real server might
// have refused such a write. A test that relies on the server's validation can fail if there are any.
func (s *Server) Unchecked() map[string]int {
	tx := s.api.store.Begin()
	defer tx.End()
	return maps.Clone(s.api.unchecked)
}

// ServeHTTP answers r as the server usually does. It does not call the function of Intercept, and Requests does not
// count r. Use it in handlers for Intercept that add to the usual answer or change it.
//
// If there are several replicas, the replica of the request's connection answers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := 0
	if c := network.ConnOf(r); c != nil {
		n = c.Replica
	}
	s.replicas[n].ServeHTTP(w, r)
}

// TB is the part of testing.TB that Start needs. It is an interface so that programs that embed a server do not link
// package testing.
type TB interface {
	Helper()
	Cleanup(f func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Start returns a server that runs until the end of the test. The test fails if the server does.
//
// The test also fails if it changes an object in the cache of an informer whose client has the server's Config; the
// error names the object and the field. Each informer checks up to 1000 of its objects at a time: when one is replaced
// or deleted, at each list, every minute, and when the informer's Run ends. A benchmark is not checked.
//
// Likewise the test fails if it reads the cache of such an informer before the cache holds a complete list; see
// informer.Options.AllowEarlyReads.
func Start(tb TB, o Options) *Server {
	tb.Helper()
	s := New(o)
	if s.invalid != nil {
		tb.Fatalf("start the server: %v", s.invalid)
	}
	if _, measures := tb.(interface{ Loop() bool }); !measures { // testing.B has the method Loop
		s.test = undertest.New(tb.Errorf)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	tb.Cleanup(func() {
		s.test.End()
		cancel()
		if err := <-done; err != nil {
			tb.Errorf("run the server: %v", err)
		}
	})
	return s
}
