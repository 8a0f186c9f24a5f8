package remote_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/memnet"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// forwarded is a Forward that runs.
type forwarded struct {
	listener *memnet.Listener
	stop     context.CancelFunc
	ended    chan error
	mu       sync.Mutex
	errs     []error // of single connections
}

// forward forwards from a listener in memory.
func forward(t testing.TB, to *remote.Target, o remote.ForwardOptions) *forwarded {
	t.Helper()
	f := &forwarded{listener: memnet.Listen(), ended: make(chan error, 1)}
	ctx, stop := context.WithCancel(t.Context())
	f.stop = stop
	o.OnError = func(err error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.errs = append(f.errs, err)
	}
	go func() { f.ended <- remote.Forward(ctx, f.listener, to, o) }()
	return f
}

func (f *forwarded) dial(t testing.TB) *memnet.Conn {
	t.Helper()
	c, err := f.listener.DialContext(t.Context(), "tcp", f.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return c.(*memnet.Conn)
}

// end ends the Forward, which must return nil, and returns the errors of single connections.
func (f *forwarded) end(t testing.TB) []error {
	t.Helper()
	f.stop()
	if err := <-f.ended; err != nil {
		t.Errorf("Forward: %v", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.errs
}

// behaviour 164: the listener is the caller's, and so are its port, its family of addresses and who may connect.
func TestForward(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(address, func(t *testing.T) {
			listener, err := net.Listen("tcp", address)
			if err != nil && strings.HasPrefix(address, "[") {
				return // this machine has no IPv6
			} else if err != nil {
				t.Fatal(err)
			}
			r := newPortRig(t, func(c *memnet.Conn) {
				text := make([]byte, 5)
				_, _ = io.ReadFull(c, text)
				_, _ = c.Write(bytes.Repeat(text, 100_000))
			}, clienttest.Options{})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			go func() {
				ended <- remote.Forward(ctx, listener, remote.ToPod(r.pods, web, "80"), remote.ForwardOptions{OnError: func(err error) { t.Error(err) }})
			}()
			for range 3 {
				c, err := net.Dial("tcp", listener.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(c, "hello"); err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(c); err != nil || string(got) != strings.Repeat("hello", 100_000) {
					t.Errorf("ReadAll: %d bytes, %v", len(got), err)
				}
				_ = c.Close()
			}
			stop()
			if err := <-ended; err != nil { // behaviour 165
				t.Errorf("Forward: %v", err)
			}
			if c, err := net.Dial("tcp", listener.Addr().String()); err == nil {
				_ = c.Close()
				t.Error("the listener is open")
			}
		})
	}
}

func TestForwardCarriesMuchBothWaysAtOnce(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := newPortRig(t, echo, clienttest.Options{TLS: true})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- remote.Forward(ctx, listener, remote.ToPod(r.pods, web, "80"), remote.ForwardOptions{OnError: func(err error) { t.Error(err) }})
	}()
	data := make([]byte, 16<<20)
	_, _ = rand.Read(data)
	c, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		if _, err := c.Write(data); err != nil {
			t.Error(err)
		}
	})
	got := make([]byte, len(data))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, data) {
		t.Errorf("the bytes are others, or %v", err)
	}
	writer.Wait()
	_ = c.Close()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A client that sends no more still gets the answer.
func TestForwardOfAClientThatClosesOneDirection(t *testing.T) {
	for _, tc := range []struct {
		name  string
		parts int           // of the answer
		pause time.Duration // before each
		want  int           // parts that arrive
		ends  time.Duration
	}{
		{"an answer", 1, 9 * time.Second, 1, 9 * time.Second},
		{"a long answer", 100, 9 * time.Second, 100, 900 * time.Second},
		{"an answer that is too late", 2, 11 * time.Second, 0, 10 * time.Second},
		{"no answer", 1, time.Hour, 0, 10 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newPortRig(t, func(c *memnet.Conn) {
					text := make([]byte, 5)
					_, _ = io.ReadFull(c, text)
					for range tc.parts {
						time.Sleep(tc.pause)
						if _, err := c.Write(text); err != nil {
							return
						}
					}
				}, clienttest.Options{})
				f := forward(t, remote.ToPod(r.pods, web, "80"), remote.ForwardOptions{})
				c := f.dial(t)
				start := time.Now()
				_, _ = io.WriteString(c, "hello")
				_ = c.CloseWrite()
				got, err := io.ReadAll(c)
				if took := time.Since(start); err != nil || string(got) != strings.Repeat("hello", tc.want) || took != tc.ends {
					t.Errorf("ReadAll: %q, %v, after %v", got, err, took)
				}
				_ = c.Close()
				synctest.Wait()
				if errs := f.end(t); len(errs) > 0 {
					t.Error(errs)
				}
				time.Sleep(time.Hour)
			})
		})
	}
}

// The pod reads nothing, so nothing more is read of the client. That it has gone shows when the pod sends.
func TestForwardOfAClientThatGoesWhileThePodReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Time, 1)
		r := newPortRig(t, func(c *memnet.Conn) {
			for {
				time.Sleep(time.Minute)
				if _, err := c.Write([]byte("x")); err != nil {
					ended <- time.Now()
					return
				}
			}
		}, clienttest.Options{})
		f := forward(t, remote.ToPod(r.pods, web, "80"), remote.ForwardOptions{})
		c := f.dial(t)
		_ = c.SetWriteDeadline(time.Now().Add(10 * time.Second))
		if _, err := c.Write(make([]byte, 16<<20)); !isTimeout(err) {
			t.Errorf("Write: %v", err)
		}
		start := time.Now()
		_ = c.Close()
		if took := (<-ended).Sub(start); took > 4*time.Minute {
			t.Errorf("it took %v", took)
		}
		if errs := f.end(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

// The pod's side ends while the client still sends and has not read all: it must get everything.
func TestForwardOfAPodThatEndsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, func(c *memnet.Conn) {
			_, _ = c.Read(make([]byte, 1))
			_, _ = c.Write(bytes.Repeat([]byte("x"), 200<<10))
		}, clienttest.Options{})
		f := forward(t, remote.ToPod(r.pods, web, "80"), remote.ForwardOptions{})
		c := f.dial(t)
		var sender sync.WaitGroup
		sender.Go(func() {
			for range 20 {
				if _, err := c.Write(make([]byte, 1000)); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
		time.Sleep(3 * time.Second)
		if got, err := io.ReadAll(c); err != nil || len(got) != 200<<10 {
			t.Errorf("ReadAll: %d bytes, %v", len(got), err)
		}
		sender.Wait()
		_ = c.Close()
		if errs := f.end(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

// behaviour 165: a failure is told, and the client does not take it for an end in good order.
func TestForwardOfConnectionsThatFail(t *testing.T) {
	for _, tc := range []struct {
		name string
		key  meta.Key
		dial func(context.Context, meta.Key, int) (net.Conn, error)
		want string
		is   error
	}{
		{"no pod", meta.Key{Namespace: "default", Name: "none"}, nil, `connect pods/portforward "default/none"`, apierrors.NotFound},
		{"refused", web, nil, "connection refused", nil},
		{"broken", web, func(ctx context.Context, _ meta.Key, _ int) (net.Conn, error) {
			l := memnet.Listen()
			c, err := l.DialContext(ctx, "tcp", l.Addr().String())
			if err != nil {
				return nil, err
			}
			other, err := l.Accept()
			if err != nil {
				return nil, err
			}
			_, _ = other.Write([]byte("half of the answer"))
			other.(*memnet.Conn).Break()
			return c, nil
		}, "connection reset by peer", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, &containers.Server{Dial: tc.dial}, clienttest.Options{})
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			errs, ended := make(chan error, 10), make(chan error, 1)
			go func() {
				ended <- remote.Forward(ctx, listener, remote.ToPod(r.pods, tc.key, "80"), remote.ForwardOptions{OnError: func(err error) { errs <- err }})
			}()
			for range 2 { // the first one does not end the Forward
				c, err := net.Dial("tcp", listener.Addr().String())
				if err == nil { // the reset may be there before Dial looks
					_, err = io.ReadAll(c)
					_ = c.Close()
				}
				if !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("the client sees %v", err)
				}
				err = <-errs
				if op := (*client.OpError)(nil); !errors.As(err, &op) || !strings.Contains(err.Error(), tc.want) || tc.is != nil && !errors.Is(err, tc.is) {
					t.Errorf("OnError got %v", err)
				}
			}
			stop()
			if err := <-ended; err != nil || len(errs) > 0 {
				t.Errorf("Forward: %v, and %d more errors", err, len(errs))
			}
		})
	}
}

func TestForwardLogsErrorsWithoutAHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTargetRig(t, clienttest.Options{})
		var mu sync.Mutex
		var lines []string
		logger := funcr.New(func(_, args string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, args)
		}, funcr.Options{})
		listener := memnet.Listen()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- remote.Forward(ctx, listener, remote.ToSelector(r.pods, "default", "app=web", "http"), remote.ForwardOptions{Logger: logger})
		}()
		one := func() {
			c, err := listener.DialContext(t.Context(), "tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			_, _ = c.Read(make([]byte, 1))
			_ = c.Close()
			synctest.Wait()
		}
		for range 100 {
			one()
		}
		time.Sleep(2 * time.Second)
		r.add(t, "a")
		one()
		stop()
		<-ended
		mu.Lock()
		defer mu.Unlock()
		if len(lines) != 2 || !strings.Contains(lines[0], `forward to pods \"app=web\" in default, port http: dial fails`) ||
			!strings.Contains(lines[0], "picks no pods") || !strings.Contains(lines[1], "dial works again after 2s, 100 attempts") {
			t.Errorf("%d lines: %s", len(lines), strings.Join(lines, "\n"))
		}
	})
}

func TestForwardSurvivesAPodThatIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTargetRig(t, clienttest.Options{})
		r.add(t, "first")
		r.create(t, r.services, "web", `{"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]}`)
		f := forward(t, remote.ToService(r.pods, r.services, service, "80"), remote.ForwardOptions{})
		said := func() string {
			c := f.dial(t)
			defer c.Close()
			part := make([]byte, 100)
			n, err := c.Read(part)
			if err != nil {
				return err.Error()
			}
			return strings.TrimSpace(string(part[:n]))
		}
		if got := said(); got != "first:8080" {
			t.Errorf("got %s", got)
		}
		for i := range 5 {
			name := fmt.Sprintf("next-%d", i)
			r.add(t, name)
			r.delete(t, map[bool]string{true: "first", false: fmt.Sprintf("next-%d", i-1)}[i == 0])
			if got := said(); got != name+":8080" { // at once, so the Target knows only the old one
				t.Errorf("got %s, want %s", got, name)
			}
			time.Sleep(time.Duration(i) * time.Second)
		}
		if errs := f.end(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

func TestForwardBoundsItsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		r := newPortRig(t, func(c *memnet.Conn) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			_, _ = c.Read(make([]byte, 1))
			mu.Lock()
			now--
			mu.Unlock()
		}, clienttest.Options{})
		f := forward(t, remote.ToPod(r.pods, web, "80"), remote.ForwardOptions{MaxConnections: 3})
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				c := f.dial(t)
				defer c.Close()
				time.Sleep(time.Second)
				_, _ = io.WriteString(c, "x")
				_, _ = io.ReadAll(c)
			})
		}
		all.Wait()
		if most != 3 {
			t.Errorf("there were %d connections at once", most)
		}
		if errs := f.end(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

// behaviour 166: the test ends only if all goroutines have.
func TestForwardOfManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, echo, clienttest.Options{})
		f := forward(t, remote.ToPod(r.pods, web, "80"), remote.ForwardOptions{})
		one := func() {
			c := f.dial(t)
			defer c.Close()
			if got, err := roundTrip(c, "hello"); err != nil || got != "hello" {
				t.Errorf("%q, %v", got, err)
			}
		}
		var all sync.WaitGroup
		for range 100 * histories.Count(1) {
			all.Go(one)
		}
		all.Wait()
		for range 50 {
			one()
		}
		time.Sleep(time.Minute) // the pod, which is silent, is told after 10 s
		synctest.Wait()
		if n := len(f.errs); n > 0 {
			t.Errorf("%d errors", n)
		}
		r.client.Close() // its idle connections
		synctest.Wait()
		if n := r.Connections(); n != 0 {
			t.Errorf("%d connections are left", n)
		}
		f.end(t)
	})
}

// behaviour 161: connections that wait, in either direction, do not hold up the end.
func TestForwardEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newPortRig(t, func(c *memnet.Conn) {
			first := make([]byte, 1)
			_, _ = c.Read(first)
			if first[0] == 'w' {
				_, _ = c.Write(make([]byte, 16<<20))
			}
			<-release
		}, clienttest.Options{})
		f := forward(t, remote.ToPod(r.pods, web, "80"), remote.ForwardOptions{})
		var all sync.WaitGroup
		for _, text := range []string{"", "r", "w", "r" + strings.Repeat("x", 16<<20)} {
			all.Go(func() {
				c := f.dial(t)
				defer c.Close()
				_, _ = io.WriteString(c, text)
				if len(text) < 2 {
					time.Sleep(time.Minute)
				}
			})
		}
		time.Sleep(30 * time.Second)
		start := time.Now()
		if errs := f.end(t); len(errs) > 0 || time.Since(start) > 2*time.Second {
			t.Errorf("%v, after %v", errs, time.Since(start))
		}
		close(release)
		all.Wait()
	})
}

// broken is a listener that fails.
type broken struct {
	net.Listener
	errs []error // of Accept, before it accepts
}

func (b *broken) Accept() (net.Conn, error) {
	if len(b.errs) > 0 {
		err := b.errs[0]
		b.errs = b.errs[1:]
		return nil, err
	}
	return b.Listener.Accept()
}

func TestForwardOfAListenerThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, echo, clienttest.Options{})
		to := remote.ToPod(r.pods, web, "80")
		gone := errors.New("gone")
		memory := memnet.Listen()
		if err := remote.Forward(t.Context(), &broken{memory, []error{gone}}, to, remote.ForwardOptions{}); !errors.Is(err, gone) {
			t.Errorf("Forward: %v", err)
		}
		if _, err := memory.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the listener is open: %v", err)
		}
		// Too many open files is a state that passes.
		memory = memnet.Listen()
		full := &net.OpError{Op: "accept", Err: syscall.EMFILE}
		ctx, stop := context.WithCancel(t.Context())
		var errs []error
		ended := make(chan error, 1)
		go func() {
			ended <- remote.Forward(ctx, &broken{memory, []error{full, full, full}}, to, remote.ForwardOptions{OnError: func(err error) { errs = append(errs, err) }})
		}()
		c, err := memory.DialContext(t.Context(), "tcp", memory.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if got, err := roundTrip(c, "hello"); err != nil || got != "hello" || time.Since(start) != 35*time.Millisecond {
			t.Errorf("%q, %v after %v", got, err, time.Since(start))
		}
		_ = c.Close()
		stop()
		if err := <-ended; err != nil || len(errs) != 3 || !errors.Is(errs[0], syscall.EMFILE) {
			t.Errorf("Forward: %v; %v", err, errs)
		}
	})
}

func TestForwardRefusesInvalidArguments(t *testing.T) {
	r := newPortRig(t, echo, clienttest.Options{})
	for _, tc := range []struct {
		to   *remote.Target
		o    remote.ForwardOptions
		want string
	}{
		{remote.ToPod(r.pods, web, "80"), remote.ForwardOptions{MaxConnections: -1}, "remote.ForwardOptions: MaxConnections must be 0 or more, got -1"},
		{remote.ToPod(r.pods, web, "none of these/"), remote.ForwardOptions{}, "port must be a number"},
		{nil, remote.ForwardOptions{}, "make it with ToPod"},
	} {
		listener := memnet.Listen()
		err := remote.Forward(t.Context(), listener, tc.to, tc.o)
		if !errors.As(err, new(*client.UsageError)) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Forward: %v, want %q", err, tc.want)
		}
		if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the listener is open: %v", err)
		}
	}
}

// behaviour 163: a WebSocket goes through proxies of http and https, for which the client uses CONNECT.
func TestAPortThroughAProxy(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			r := newPortRig(t, echo, clienttest.Options{TLS: true})
			cfg := r.Config()
			connects := 0
			proxy := newTunneller(t, scheme == "https", func(hr *http.Request) (net.Conn, error) {
				connects++
				return cfg.Dial(hr.Context(), "tcp", hr.Host)
			})
			through := cfg
			through.Dial, through.Proxy = nil, http.ProxyURL(proxy.url)
			through.TLS.CAData = cfg.TLS.CAData + client.Secret(proxy.ca)
			c, err := client.New(through)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			conn, err := dial(t.Context(), client.For(c, pods), web, 80)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := roundTrip(conn, "hello"); err != nil || got != "hello" || connects == 0 {
				t.Errorf("%q, %v; %d tunnels", got, err, connects)
			}
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
			c.Close()
			proxy.close()
		})
	}
}
