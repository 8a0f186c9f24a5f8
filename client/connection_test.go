package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/memnet"
)

// overBoth runs a test in a bubble for each protocol.
func overBoth(t *testing.T, f func(t *testing.T, p protocol)) {
	for _, p := range []protocol{http1, http2} {
		t.Run(string(p), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, p) })
		})
	}
}

// begun writes the headers of a watch and an event, and waits until nobody listens.
func begun(w http.ResponseWriter, r *http.Request) {
	answer{body: event("ADDED", object("a", "1"))}.write(w)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func isWatch(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" }

// Watches are kept apart from other requests, and where a connection has as many as the server allows, the next go over
// further ones.
func TestWatchesHaveSeparateConnections(t *testing.T) {
	t.Run("one after the other", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { manyWatches(t, false) }) })
	t.Run("all at once", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { manyWatches(t, true) }) })
}

func manyWatches(t *testing.T, atOnce bool) {
	const watches, limit = 7, 2
	var mu sync.Mutex
	streams := make(map[string]int) // watches, by the address that they come from
	cfg, n := serveOver(t, http2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen := streams[r.RemoteAddr]
		if isWatch(r) {
			streams[r.RemoteAddr]++
		} else if seen > 0 {
			t.Error("a get came on a connection of watches")
		}
		mu.Unlock()
		if r.Proto != "HTTP/2.0" {
			t.Errorf("a request came by %s", r.Proto)
		}
		if isWatch(r) {
			begun(w, r)
			return
		}
		answer{body: object("a", "1")}.write(w)
	}), func(srv *http.Server) { srv.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: limit} })
	c := dial(t, cfg)
	r := client.For(c, slims)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var watching sync.WaitGroup
	got := make(chan string, watches)
	follow := func() {
		watching.Go(func() {
			for e, err := range r.Watch(ctx, client.WatchOptions{}) {
				if err == nil {
					got <- e.Object.Name
				} else if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
		})
	}
	for range watches {
		follow()
		if !atOnce {
			<-got
			synctest.Wait() // net/http gives a new connection to the request that dialled it, and then to the pool
		}
	}
	if atOnce {
		for range watches {
			<-got
		}
	}
	for range 5 {
		must[*Slim](t)(r.Get(t.Context(), web))
	}
	mu.Lock()
	total := 0
	for address, streams := range streams {
		if total += streams; streams > limit {
			t.Errorf("%s has %d watches, the server allows %d", address, streams, limit)
		}
	}
	if total != watches {
		t.Errorf("%d watches came over %d connections", total, len(streams))
	}
	mu.Unlock()
	// Requests that begin together make a connection each, before they know that they could share one.
	if made, _ := n.count(); !atOnce && (len(streams) != 4 || made != 5) {
		t.Errorf("%d connections were made, %d of them for watches", made, len(streams))
	}
	stop()
	watching.Wait()
	c.Close()
	synctest.Wait()
	if _, open := n.count(); open != 0 {
		t.Errorf("%d connections are open after Close", open)
	}
}

// Config.Wrap sees watches and other requests alike.
func TestWrapSeesEveryRequest(t *testing.T) {
	cfg := serve(t, says(event("ADDED", object("a", "1"))))
	var seen []string
	cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			seen = append(seen, r.URL.RequestURI())
			return next.RoundTrip(r.Clone(r.Context()))
		})
	}
	r := client.For(dial(t, cfg), slims)
	_ = watch(t.Context(), r, client.WatchOptions{})
	_, _ = r.Get(t.Context(), web)
	if got := strings.Join(seen, " "); got != "/api/v1/configmaps?watch=true /api/v1/namespaces/web/configmaps/a" {
		t.Errorf("it saw %s", got)
	}
}

// behaviours 69 and 70, faults F3 and F31: a connection whose other end has gone without a word is given up within a minute,
// and the next request makes a new one, to wherever the name leads by then.
func TestASilentConnectionIsFound(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(ctx context.Context, r client.Resource[*Slim], silence func()) error
	}{
		{"while a watch waits for events", func(ctx context.Context, r client.Resource[*Slim], silence func()) (final error) {
			for _, err := range r.Watch(ctx, client.WatchOptions{}) {
				final = err
				silence()
			}
			return final
		}},
		{"while a get waits for its answer", func(ctx context.Context, r client.Resource[*Slim], silence func()) error {
			time.AfterFunc(time.Second, silence)
			return drop(r.Get(ctx, web))
		}},
		{"before it is used again", func(ctx context.Context, r client.Resource[*Slim], silence func()) error {
			if err := r.Delete(ctx, web, client.DeleteOptions{}); err != nil {
				return err
			}
			silence()
			return drop(r.Get(ctx, web))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, n := serveOver(t, http2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					switch {
					case isWatch(r):
						begun(w, r)
					case r.Method == http.MethodGet:
						<-r.Context().Done()
					default:
						answer{body: object("a", "1")}.write(w)
					}
				}), nil)
				ca := newAuthority(t)
				_, other := serveOver(t, http2, says(object("b", "1")), func(srv *http.Server) {
					srv.TLSConfig = &tls.Config{Certificates: []tls.Certificate{must[tls.Certificate](t)(tls.X509KeyPair(ca.issue(t, n.host(t))))}}
				})
				cfg.TLS.CAData = cfg.TLS.CAData + client.Secret(ca.pem)
				cfg.Retry.Attempts = 1
				var moved atomic.Bool
				cfg.Dial = func(ctx context.Context, netw, address string) (net.Conn, error) {
					if moved.Load() { // what the name resolves to now
						return other.dial(ctx, netw, other.listener.Addr().String())
					}
					return n.dial(ctx, netw, address)
				}
				r := client.For(dial(t, cfg), slims)
				var silent atomic.Int64 // since when
				err := test.do(t.Context(), r, func() {
					n.silence()
					moved.Store(true)
					silent.CompareAndSwap(0, time.Now().UnixNano())
				})
				if took := time.Since(time.Unix(0, silent.Load())); err == nil || took > time.Minute {
					t.Errorf("it took %v to find out, with the error %v", took, err)
				}
				is[*client.OpError](t, err)
				if kind := apierrors.NetworkOf(err); kind != apierrors.NetworkClosed && kind != apierrors.NetworkTimeout {
					t.Errorf("%v is a network error of the kind %q", err, kind)
				}
				got := must[*Slim](t)(r.Get(t.Context(), web))
				if made, _ := other.count(); got.Name != "b" || made != 1 {
					t.Errorf("the next request got %+v over %d new connections", got, made)
				}
			})
		})
	}
}

// behaviours 69 and 70: after a timeout of the caller an HTTP/1.1 connection is given up, and an HTTP/2 one used again.
func TestTheConnectionAfterATimeout(t *testing.T) {
	overBoth(t, func(t *testing.T, p protocol) {
		var stuck atomic.Bool
		cfg, n := serveOver(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if stuck.Load() {
				<-r.Context().Done()
				return
			}
			answer{body: object("a", "1")}.write(w)
		}), nil)
		r := client.For(dial(t, cfg), slims)
		must[*Slim](t)(r.Get(t.Context(), web))
		stuck.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := r.Get(ctx, web); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v, want that the time is up", err)
		}
		stuck.Store(false)
		must[*Slim](t)(r.Get(t.Context(), web))
		made, _ := n.count()
		if want := map[protocol]int{http1: 2, http2: 1}[p]; made != want {
			t.Errorf("%d connections were made, want %d", made, want)
		}
	})
}

// fault F26: a server that accepts a watch and does not begin it is given up; without a StallTimeout a call may take as long as
// its caller likes.
func TestAWatchThatDoesNotBeginIsGivenUp(t *testing.T) {
	const bound = 75 * time.Second
	t.Run("without a word", func(t *testing.T) {
		overBoth(t, func(t *testing.T, p protocol) {
			cfg, _ := serveOver(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if isWatch(r) {
					<-r.Context().Done()
					return
				}
				select {
				case <-r.Context().Done():
				case <-time.After(2 * bound):
					answer{body: object("a", "1")}.write(w)
				}
			}), nil)
			cfg.Retry.Attempts, cfg.StallTimeout = 1, -1
			r := client.For(dial(t, cfg), slims)
			start := time.Now()
			err := watch(t.Context(), r, client.WatchOptions{})
			if took := time.Since(start); took < bound || took > bound+time.Second || apierrors.NetworkOf(err) != apierrors.NetworkTimeout {
				t.Errorf("it took %v, with the error %v", took, err)
			}
			must[*Slim](t)(r.Get(t.Context(), web))
		})
	})
	t.Run("drop by drop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			cfg := serveRaw(t, func(conn net.Conn) {
				for _, b := range []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n") {
					time.Sleep(10 * time.Second)
					if _, err := conn.Write([]byte{b}); err != nil {
						return
					}
				}
			})
			cfg.Retry.Attempts = 1
			start := time.Now()
			err := watch(t.Context(), client.For(dial(t, cfg), slims), client.WatchOptions{})
			if took := time.Since(start); took != bound || apierrors.NetworkOf(err) != apierrors.NetworkTimeout {
				t.Errorf("it took %v, with the error %v", took, err)
			}
		})
	})
	t.Run("but one that has begun may be silent for long", func(t *testing.T) {
		overBoth(t, func(t *testing.T, p protocol) {
			cfg, _ := serveOver(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Hour)
				answer{body: event("ADDED", object("a", "1"))}.write(w)
			}), nil)
			events, err := readWatch(t.Context(), client.For(dial(t, cfg), slims), client.WatchOptions{})
			if len(events) != 1 || err != nil {
				t.Errorf("got %v, %v", events, err)
			}
		})
	})
}

// behaviour 77, fault F32: a server that goes away between the pages of a list, or in the middle of a watch, is asked on a new
// connection. What it had begun to answer is answered on the old one.
func TestAServerThatGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := says(listOf("5", "c1", object("a", "1")), listOf("5", "c2", object("b", "1")), listOf("5", "", object("c", "1")))
		cfg, n := serveOver(t, http2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close") // by which an HTTP/2 server says GOAWAY
			pages.ServeHTTP(w, r)
		}), nil)
		names, bad, err := collect(t.Context(), client.For(dial(t, cfg), slims), client.ListOptions{})
		if got := strings.Join(names, " "); got != "a b c" || bad != nil || err != nil {
			t.Errorf("got %s, %v, %v", got, bad, err)
		}
		if made, _ := n.count(); made < 2 {
			t.Errorf("the pages came over %d connections", made)
		}
	})
}

// behaviour 77, fault F32: what a server says that it has not looked at is sent again by net/http, writes too.
func TestUnprocessedRequestsAreSentAgainAfterGOAWAY(t *testing.T) {
	for name, do := range map[string]func(ctx context.Context, r client.Resource[*Slim]) error{
		"get":   func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Get(ctx, web)) },
		"watch": func(ctx context.Context, r client.Resource[*Slim]) error { return watch(ctx, r, client.WatchOptions{}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := says(object("a", "1"))
				if name == "watch" {
					srv = says(event("ADDED", object("a", "1")))
				}
				cfg, n := serveOver(t, http2, srv, nil)
				leaving := memnet.Listen()
				pair := must[tls.Certificate](t)(tls.X509KeyPair(newAuthority(t).issue(t, "leaving")))
				left := make(chan error, 1)
				go func() { left <- goAway(leaving, pair) }()
				first := true
				cfg.Dial = func(ctx context.Context, netw, address string) (net.Conn, error) {
					if first {
						first = false
						return leaving.DialContext(ctx, netw, leaving.Addr().String())
					}
					return n.dial(ctx, netw, address)
				}
				cfg.TLS = client.TLS{Insecure: true}
				if err := do(t.Context(), client.For(dial(t, cfg), slims)); err != nil {
					t.Error(err)
				}
				if err := <-left; err != nil {
					t.Error(err)
				}
				if made, _ := n.count(); made == 0 || len(srv.all()) != 1 {
					t.Errorf("the other server got %d requests over %d connections", len(srv.all()), made)
				}
				_ = leaving.Close()
			})
		})
	}
}

// goAway is an HTTP/2 server that accepts one connection, waits for a request on it, and says that it goes away without
// having looked at any.
func goAway(l net.Listener, pair tls.Certificate) error {
	conn, err := acceptHTTP2(l, pair)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = conn.Write(frame(goAwayFrame, 0, 0, make([]byte, 8))) // the last stream that it looked at is none
	return err
}

// fault F43: that there is no file descriptor or port is the network's error, of a request that may be sent again.
func TestConnectionsThatCannotBeMade(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.EADDRNOTAVAIL} {
		t.Run(errno.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // in a bubble: nothing may be left over
				cfg := serve(t, says(object("a", "1")))
				inner, fail := cfg.Dial, true
				cfg.Dial = func(ctx context.Context, netw, address string) (net.Conn, error) {
					if fail {
						return nil, &net.OpError{Op: "dial", Net: netw, Err: os.NewSyscallError("socket", errno)}
					}
					return inner(ctx, netw, address)
				}
				r := client.For(dial(t, cfg), slims)
				for name, err := range map[string]error{
					"get":    drop(r.Get(t.Context(), web)),
					"list":   drop(r.List(t.Context(), client.ListOptions{})),
					"watch":  watch(t.Context(), r, client.WatchOptions{}),
					"create": drop(r.Create(t.Context(), &Slim{Identity: at(web)})),
				} {
					if e := is[*client.OpError](t, err); e.Verb != name || !errors.Is(err, errno) ||
						apierrors.NetworkOf(err) != apierrors.NetworkUnreachable || !apierrors.SafeToRetry(err) {
						t.Errorf("%s: error is %v", name, err)
					}
				}
				fail = false
				must[*Slim](t)(r.Get(t.Context(), web))
			})
		})
	}
}

// fault F30: a server whose certificate is replaced by another of the same authority keeps its connections, and gets new ones.
func TestTheServersCertificateMayChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		var current atomic.Pointer[tls.Certificate]
		more := make(chan bool)
		cfg, n := serveOver(t, http2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !isWatch(r) {
				answer{body: object("a", "1")}.write(w)
				return
			}
			answer{body: event("ADDED", object("a", "1"))}.write(w)
			_ = http.NewResponseController(w).Flush()
			<-more
			answer{body: event("ADDED", object("b", "2"))}.write(w)
		}), func(srv *http.Server) {
			srv.TLSConfig = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return current.Load(), nil }}
		})
		cfg.TLS.CAData = client.Secret(ca.pem)
		swap := func() {
			pair := must[tls.Certificate](t)(tls.X509KeyPair(ca.issue(t, n.host(t))))
			current.Store(&pair)
		}
		swap()
		c := dial(t, cfg)
		r := client.For(c, slims)
		var names []string
		for e, err := range r.Watch(t.Context(), client.WatchOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			if names = append(names, e.Object.Name); len(names) == 1 {
				must[*Slim](t)(r.Get(t.Context(), web))
				swap()
				synctest.Wait() // until it is idle
				c.Close()       // the connection of the get; that of the watch is not idle
				must[*Slim](t)(r.Get(t.Context(), web))
				close(more)
			}
		}
		if made, _ := n.count(); strings.Join(names, " ") != "a b" || made < 3 {
			t.Errorf("the watch saw %v, and %d connections were made", names, made)
		}
	})
}
