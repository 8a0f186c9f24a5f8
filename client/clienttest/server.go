package clienttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/internal/kinds"
	"github.com/bowline-go/bowline/client/clienttest/internal/network"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/printing"
	"github.com/bowline-go/bowline/internal/memnet"
	"github.com/bowline-go/bowline/internal/undertest"
)

// Options say what a server serves and how. The zero value is a server in memory with the built-in resources.
type Options struct {
	// Listener accepts the server's connections, such as a TCP socket on a loopback address. The server closes it. Nil means in
	// memory: only clients with Config reach the server then, and it works under testing/synctest.
	Listener net.Listener

	// Resources are served in addition to the built-in ones.
	Resources []Resource

	// TLS serves https, with a certificate of a CA that is made for this server; Config carries the CA.
	TLS bool

	// HTTP2 serves HTTP/2 to clients that offer it in the TLS handshake, as client's do. It implies TLS.
	HTTP2 bool

	// MaxStreams is the maximum number of concurrent requests on an HTTP/2 connection; 0 means 250, the default of net/http.
	MaxStreams int

	// Replicas is the number of replicas of one store behind the address, which take connections in turn; 0 means one. See
	// Server.Replica.
	Replicas int

	// Token, if set, must be every request's bearer token; other requests are answered with 401.
	Token string

	// Authorize, if set, decides about each request for a resource, about each impersonation, and for the access reviews. A
	// refused request is answered with 403, with reason at the end of the message. Nil allows everything. Paths that are not a
	// resource's, such as those of discovery, are open to everybody, and so are the reviews about oneself. Authorize is not
	// called again for an open watch. Several goroutines call it at once.
	Authorize func(Access) (allowed bool, reason string)

	// Containers, if set, says what happens in the containers of pods; see package client/clienttest/containers. Nil does not
	// serve exec and attach. Discovery does not list them.
	Containers Containers

	// BookmarkEvery is how often a watch that allows bookmarks gets one; 0 means a minute, as on a real server.
	BookmarkEvery time.Duration

	// StreamingLists says how the server treats a watch that asks for the initial events. The zero value serves it.
	StreamingLists StreamingLists

	// ShardedLists says how the server treats shard selectors. The zero value ignores them, as a real server does by default.
	ShardedLists ShardedLists

	// DeletionVersions makes the Status of a deletion have the resource version of the deletion, as servers do from Kubernetes 1.38 on.
	DeletionVersions bool
	// DropManagedFields makes the server leave out metadata.managedFields if a client asks for it in Accept, by the parameter
	// drop=metadata.managedFields (KEP-5958). By default the server ignores the parameter, as a real server does up to Kubernetes
	// 1.37.
	DropManagedFields bool

	// EndBookmarkAfter is the time between the initial events and the bookmark that ends them; 0 means at once. Events that
	// happen meanwhile come before the bookmark, as they may on older servers.
	EndBookmarkAfter time.Duration

	// HistoryAge is how long the server keeps its history: the maximum age of a resource version that a watch may start at, and
	// of a continue token. 0 means 5 minutes, as on a real server. Only changes make a version old: the present version is never
	// too old.
	HistoryAge time.Duration

	// HistoryLength is the maximum number of changes of one resource that the server keeps; 0 means 10,000.
	HistoryLength int

	// WatchLag is the number of changes of its resource that a watch may fall behind, because its client does not read, before
	// the server cuts it; 0 means 10,000. A real server is less patient.
	WatchLag int
}

// validate returns every reason why o cannot be used.
func (o Options) validate() error {
	var errs []error
	for _, f := range []struct {
		name     string
		negative bool
	}{
		{"BookmarkEvery", o.BookmarkEvery < 0},
		{"HistoryAge", o.HistoryAge < 0},
		{"HistoryLength", o.HistoryLength < 0},
		{"WatchLag", o.WatchLag < 0},
		{"MaxStreams", o.MaxStreams < 0},
		{"Replicas", o.Replicas < 0},
		{"EndBookmarkAfter", o.EndBookmarkAfter < 0},
	} {
		if f.negative {
			errs = append(errs, fmt.Errorf("clienttest.Options: %s must not be negative", f.name))
		}
	}
	if o.StreamingLists < StreamingServed || o.StreamingLists > StreamingEndless {
		errs = append(errs, fmt.Errorf("clienttest.Options: StreamingLists is %d, which is none of the constants", o.StreamingLists))
	}
	if o.ShardedLists < ShardsIgnored || o.ShardedLists > ShardsClaimed {
		errs = append(errs, fmt.Errorf("clienttest.Options: ShardedLists is %d, which is none of the constants", o.ShardedLists))
	}
	return errors.Join(errs...)
}

// Server is an API server. Its methods may be called by several goroutines at once, before, during and after Run.
type Server struct {
	options   Options
	invalid   error // why the options cannot be used; Run returns it
	door      *network.Door
	authority *network.Authority // nil without TLS
	validator object.Validator
	store     *store
	replicas  []*Replica
	gzips     sync.Pool // of *gzip.Writer

	tokens    tokens
	streaming atomic.Int32 // StreamingLists
	sharded   atomic.Int32 // ShardedLists
	muted     atomic.Bool  // no bookmarks by themselves

	running atomic.Bool
	hook    atomic.Pointer[func(*http.Request) http.HandlerFunc]

	catalog catalog

	test *undertest.Test // set by Start before anybody has the server; nil otherwise

	callsMu sync.Mutex
	calls   map[Call]int
}

// New returns a server with the objects of a new kube-apiserver, as the documentation of the package says. It does nothing until
// Run, but Config can be used at once: requests wait. If the options are invalid, Run returns the error.
func New(o Options) *Server {
	s := &Server{options: o, validator: object.NewValidator(), calls: map[Call]int{}}
	errs := []error{o.validate()}
	s.options.BookmarkEvery = orDefault(o.BookmarkEvery, time.Minute)
	s.options.WatchLag = orDefault(o.WatchLag, 10_000)
	listener := o.Listener
	if listener == nil {
		listener = memnet.Listen()
	}
	s.door = network.NewDoor(listener, orDefault(o.Replicas, 1))
	if o.TLS || o.HTTP2 {
		s.authority = network.NewAuthority(listener.Addr(), o.HTTP2)
	}
	s.streaming.Store(int32(o.StreamingLists))
	s.sharded.Store(int32(o.ShardedLists))
	s.store = newStore(orDefault(o.HistoryAge, 5*time.Minute), orDefault(o.HistoryLength, 10_000))
	for range s.door.Replicas {
		s.replicas = append(s.replicas, &Replica{s: s})
	}
	s.store.replicas = s.replicas
	for _, r := range builtinKinds() {
		s.store.serve(&r)
	}
	s.store.pairRecords()
	for _, r := range o.Resources {
		errs = append(errs, s.Register(r))
	}
	s.seed()
	s.invalid = errors.Join(errs...)
	return s
}

func orDefault[T ~int | ~int64](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// Register adds a resource while the server runs, as the creation of a CustomResourceDefinition does. The error says that the
// resource is invalid, or that its group already has that resource or kind.
func (s *Server) Register(r Resource) error {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	return s.store.register(&resource{Resource: r, Type: object.Type{Traits: kinds.Traits{Generation: true}}, builtinTraits: builtinTraits{
		columns: printing.PlainColumns(), print: printing.PlainCells,
	}})
}

// Config returns the configuration of a client of this server.
func (s *Server) Config() client.Config {
	address := s.door.Listener.Addr().String()
	config := client.Config{Server: "http://" + address, BearerToken: s.options.Token, Dial: s.door.Dial}
	if s.authority != nil {
		config.Server, config.TLS.CAData = "https://"+address, s.authority.PEM()
	}
	config.BelongTo(s.test)
	return config
}

// Run serves until ctx ends. Then it answers the requests that are under way, ends watches cleanly, and closes every connection.
// When Run returns, none of the server's goroutines is running. It returns nil after ctx has ended, and otherwise the reason why
// it could not serve. It can be called once.
func (s *Server) Run(ctx context.Context) error {
	if s.running.Swap(true) {
		return errors.New("clienttest: Run was called twice")
	}
	if s.invalid != nil {
		return errors.Join(s.invalid, s.door.Listener.Close())
	}
	var work network.Traffic
	var conns sync.WaitGroup // goroutines in Serve add to it, so it does not grow after they have returned
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		work.Add(1)
		defer work.Add(-1)
		s.handle(w, r)
	})
	start := func(net.Listener) *http.Server {
		srv := &http.Server{
			Handler:     handler,
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
			HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: s.options.MaxStreams},
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
	served := make(chan error, 1)
	go func() { served <- s.door.Serve(start) }()
	var err error
	select {
	case err = <-served:
		_ = s.door.Listener.Close() // it takes no more connections, but is still open
	case <-ctx.Done():
		_ = s.door.Listener.Close()
		<-served
	}
	// Handlers see the end of ctx, so watches end. A watch that is blocked in a write, because its client does not read, ends
	// when its connection is closed.
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
	// The connections are closed first. Over TLS, net/http's Close writes a farewell while it holds a lock that the rest of it
	// needs, and that write blocks on a slow connection or if the client does not read.
	for _, c := range s.door.Open() {
		_ = c.Close()
	}
	for _, srv := range servers {
		_ = srv.Close()
	}
	conns.Wait()
	s.door.Release()
	<-done
	return err
}

// TB is the part of testing.TB that Start needs. It is an interface so that programs which embed a server do not link
// package testing.
type TB interface {
	Helper()
	Cleanup(f func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Start returns a server that runs until the end of the test. The test fails if the server does.
//
// The test also fails if it changes an object in the cache of an informer whose client has the server's Config; the error names
// the object and the field. Each informer checks up to 1000 of its objects at a time: when one is replaced or deleted, at each
// list, every minute, and when the informer's Run ends. A benchmark is not checked.
//
// Likewise the test fails if it reads the cache of such an informer before the cache holds a complete list; see
// informer.Options.AllowEarlyReads.
func Start(tb TB, o Options) *Server {
	tb.Helper()
	s := New(o)
	if s.invalid != nil {
		tb.Fatalf("start the server: %v", s.invalid)
	}
	if _, measures := tb.(interface{ Loop() bool }); !measures { // as testing.B does
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
