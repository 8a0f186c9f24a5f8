package memnet_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/internal/memnet"
)

// connect returns both ends of a connection, and closes everything at the end of the test.
func connect(t *testing.T) (client, server *memnet.Conn) {
	t.Helper()
	l := memnet.Listen()
	a, err := l.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close(); l.Close() })
	return a.(*memnet.Conn), b.(*memnet.Conn)
}

// Two servers in memory had one address, so that whatever tells servers apart by it took them for one.
func TestListenersHaveDifferentAddresses(t *testing.T) {
	a, b := memnet.Listen(), memnet.Listen()
	if a.Addr().String() == b.Addr().String() {
		t.Errorf("both have the address %v", a.Addr())
	}
	if _, err := a.DialContext(t.Context(), "tcp", b.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a dial to the other one returned %v, want a refusal", err)
	}
}

func TestBytesArriveInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		want := make([]byte, 5*memnet.BufferSize+17)
		if _, err := rand.Read(want); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for _, direction := range [][2]*memnet.Conn{{client, server}, {server, client}} {
			wg.Go(func() {
				for rest := want; len(rest) > 0; {
					n, err := direction[0].Write(rest[:min(len(rest), 7001)])
					if err != nil {
						t.Error(err)
						return
					}
					rest = rest[n:]
				}
				if err := direction[0].CloseWrite(); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				got, err := io.ReadAll(direction[1])
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("got %d bytes, want %d: %v", len(got), len(want), err)
				}
			})
		}
		wg.Wait()
	})
}

func TestBothEndsMayWriteBeforeTheyRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		full := make([]byte, memnet.BufferSize)
		for _, c := range []*memnet.Conn{client, server} {
			if n, err := c.Write(full); n != len(full) || err != nil {
				t.Fatalf("write: %d, %v", n, err)
			}
		}
	})
}

func TestAWriterWaitsWhileTheBufferIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		done := make(chan error)
		go func() {
			_, err := client.Write(make([]byte, memnet.BufferSize+1))
			done <- err
		}()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("write returned with a full buffer: %v", err)
		default:
		}
		if _, err := io.ReadFull(server, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

// TestDeadlines runs the cases of golang.org/x/net/nettest's timeout tests, on virtual time.
func TestDeadlines(t *testing.T) {
	read := func(c *memnet.Conn) error { _, err := c.Read(make([]byte, 1)); return err }
	write := func(c *memnet.Conn) error {
		_, err := c.Write(make([]byte, 2*memnet.BufferSize))
		return err
	}
	for name, op := range map[string]struct {
		call func(*memnet.Conn) error
		set  func(*memnet.Conn, time.Time) error
	}{
		"read":  {read, (*memnet.Conn).SetReadDeadline},
		"write": {write, (*memnet.Conn).SetWriteDeadline},
		"both":  {read, (*memnet.Conn).SetDeadline},
	} {
		within := func(t *testing.T, c *memnet.Conn, want time.Duration) {
			t.Helper()
			start := time.Now()
			err := op.call(c)
			var timeout net.Error
			if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Fatalf("got %v, want a timeout", err)
			}
			if got := time.Since(start); got != want {
				t.Fatalf("failed after %s, want %s", got, want)
			}
		}
		t.Run(name+": a deadline in the past fails at once, and again", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := connect(t)
				op.set(c, time.Unix(1, 0))
				within(t, c, 0)
				within(t, c, 0)
			})
		})
		t.Run(name+": a deadline in the future fails when it comes", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := connect(t)
				op.set(c, time.Now().Add(time.Second))
				within(t, c, time.Second)
				within(t, c, 0)
			})
		})
		t.Run(name+": a deadline that is set while the call waits ends it", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := connect(t)
				op.set(c, time.Now().Add(time.Hour))
				time.AfterFunc(time.Minute, func() { op.set(c, time.Unix(1, 0)) })
				within(t, c, time.Minute)
			})
		})
		t.Run(name+": a later deadline replaces one that has passed", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := connect(t)
				op.set(c, time.Unix(1, 0))
				op.set(c, time.Now().Add(time.Second))
				within(t, c, time.Second)
			})
		})
		t.Run(name+": no deadline means waiting until the connection closes", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := connect(t)
				op.set(c, time.Now().Add(time.Second))
				op.set(c, time.Time{})
				time.AfterFunc(time.Hour, func() { c.Close() })
				if err := op.call(c); !errors.Is(err, net.ErrClosed) {
					t.Fatalf("got %v, want net.ErrClosed", err)
				}
				if err := op.set(c, time.Time{}); !errors.Is(err, net.ErrClosed) {
					t.Fatalf("setting a deadline after Close: got %v, want net.ErrClosed", err)
				}
			})
		})
	}
}

func TestAWriteThatTimesOutSaysHowMuchItWrote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := connect(t)
		c.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := c.Write(make([]byte, memnet.BufferSize+100))
		if n != memnet.BufferSize || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got %d, %v", n, err)
		}
	})
}

func TestEndings(t *testing.T) {
	for _, test := range []struct {
		name  string
		end   func(c *memnet.Conn)
		data  string // what the peer still reads
		read  error  // and then
		write error  // what the peer's writes give
		own   error  // what the end's own writes give
	}{
		{"close: the peer reads the rest, then EOF", func(c *memnet.Conn) { c.Close() }, "hello", io.EOF, syscall.EPIPE, net.ErrClosed},
		{
			"close for writing: the peer reads the rest, then EOF, and may still write",
			func(c *memnet.Conn) { c.CloseWrite() }, "hello", io.EOF, nil, syscall.EPIPE,
		},
		{
			"close after closing for writing", func(c *memnet.Conn) { c.CloseWrite(); c.Close() },
			"hello", io.EOF, syscall.EPIPE, net.ErrClosed,
		},
		{
			"reset: the peer loses the rest", (*memnet.Conn).Reset,
			"", syscall.ECONNRESET, syscall.ECONNRESET, syscall.ECONNRESET,
		},
		{
			"break: the peer reads the rest, then a reset", (*memnet.Conn).Break,
			"hello", syscall.ECONNRESET, syscall.ECONNRESET, syscall.ECONNRESET,
		},
		{
			"close after a break", func(c *memnet.Conn) { c.Break(); c.Close() },
			"hello", syscall.ECONNRESET, syscall.ECONNRESET, net.ErrClosed,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := connect(t)
				client.Write([]byte("hello"))
				test.end(client)
				var got bytes.Buffer
				buf := make([]byte, 3)
				var err error
				for err == nil {
					var n int
					n, err = server.Read(buf)
					got.Write(buf[:n])
				}
				if got.String() != test.data || !errors.Is(err, test.read) {
					t.Errorf("the peer reads %q, %v; want %q, %v", got.String(), err, test.data, test.read)
				}
				if _, err := server.Write([]byte("x")); !errors.Is(err, test.write) {
					t.Errorf("the peer's write: got %v, want %v", err, test.write)
				}
				if _, err := client.Write([]byte("x")); !errors.Is(err, test.own) {
					t.Errorf("own write: got %v, want %v", err, test.own)
				}
			})
		})
	}
}

func TestAnEndingWakesWaitingCalls(t *testing.T) {
	for name, end := range map[string]func(client, server *memnet.Conn){
		"own close":    func(client, _ *memnet.Conn) { client.Close() },
		"peer's close": func(_, server *memnet.Conn) { server.Close() },
		"reset":        func(client, _ *memnet.Conn) { client.Reset() },
		"break":        func(client, _ *memnet.Conn) { client.Break() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := connect(t)
				var wg sync.WaitGroup
				wg.Go(func() {
					if _, err := client.Read(make([]byte, 1)); err == nil {
						t.Error("read: no error")
					}
				})
				wg.Go(func() {
					if _, err := client.Write(make([]byte, 2*memnet.BufferSize)); err == nil {
						t.Error("write: no error")
					}
				})
				synctest.Wait()
				end(client, server)
				wg.Wait()
			})
		})
	}
}

func TestAResetHasTheErrorTextOfTCP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		server.Reset()
		host, _, err := net.SplitHostPort(server.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("read memnet %s:1025->%s:80: read: connection reset by peer", host, host)
		_, err = client.Read(make([]byte, 1))
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

func TestMethodsMayBeCalledAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		var wg sync.WaitGroup
		for range 20 {
			for _, c := range []*memnet.Conn{client, server} {
				wg.Go(func() { c.Read(make([]byte, 1024)) })
				wg.Go(func() { c.Write(make([]byte, 1024)) })
				wg.Go(func() { c.SetDeadline(time.Now().Add(10 * time.Millisecond)) })
				wg.Go(func() { c.SetReadDeadline(time.Now().Add(10 * time.Millisecond)) })
				wg.Go(func() { c.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)) })
				wg.Go(func() { _ = c.LocalAddr().String() + c.RemoteAddr().String() })
			}
		}
		time.AfterFunc(time.Second, func() { client.Close(); server.Reset() })
		wg.Wait()
	})
}

func TestListener(t *testing.T) {
	dial := func(l *memnet.Listener, network, address string) error {
		c, err := l.DialContext(context.Background(), network, address)
		if err == nil {
			c.Close()
		}
		return err
	}
	t.Run("another address or network is refused", func(t *testing.T) {
		l := memnet.Listen()
		defer l.Close()
		if err := dial(l, "tcp", "example.org:443"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("got %v, want ECONNREFUSED", err)
		}
		if err := dial(l, "udp", l.Addr().String()); err == nil {
			t.Error("udp: no error")
		}
	})
	t.Run("a dial with an ended context fails with its error", func(t *testing.T) {
		l := memnet.Listen()
		defer l.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.DialContext(ctx, "tcp", l.Addr().String()); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
	t.Run("close ends accept, resets what waits and refuses the rest", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			early, err := l.DialContext(t.Context(), "tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
			if _, err := early.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("read: got %v, want ECONNRESET", err)
			}
			if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("accept: got %v, want net.ErrClosed", err)
			}
			if err := dial(l, "tcp", l.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("dial: got %v, want ECONNREFUSED", err)
			}
			if err := l.Close(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("second close: got %v, want net.ErrClosed", err)
			}
		})
	})
	t.Run("accept waits for a dial, and close wakes it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			accepted := make(chan error)
			go func() {
				for {
					_, err := l.Accept()
					accepted <- err
					if err != nil {
						return
					}
				}
			}()
			synctest.Wait()
			if err := dial(l, "tcp", l.Addr().String()); err != nil {
				t.Fatal(err)
			}
			if err := <-accepted; err != nil {
				t.Fatal(err)
			}
			l.Close()
			if err := <-accepted; !errors.Is(err, net.ErrClosed) {
				t.Fatal(err)
			}
		})
	})
}

// TestHTTPWorksInABubble is what the package is for: net/http on both sides, keep-alive and server timeouts included.
func TestHTTPWorksInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		srv := &http.Server{
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				select {
				case <-time.After(time.Minute):
				case <-r.Context().Done():
					return
				}
				fmt.Fprintf(w, "%s %d", r.URL.Path, len(body))
			}),
			IdleTimeout: time.Hour,
		}
		served := make(chan error)
		go func() { served <- srv.Serve(l) }()
		client := &http.Client{Transport: &http.Transport{DialContext: l.DialContext}}
		start := time.Now()
		for i := range 3 {
			resp, err := client.Post("http://"+l.Addr().String()+"/x", "text/plain", bytes.NewReader(make([]byte, 1<<20)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if string(got) != "/x 1048576" || err != nil {
				t.Fatalf("request %d: %q, %v", i, got, err)
			}
		}
		if took := time.Since(start); took != 3*time.Minute {
			t.Errorf("three requests took %s of virtual time, want 3m0s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String(), nil)
		if _, err := client.Do(req); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want context.DeadlineExceeded", err)
		}
		srv.Close()
		<-served
		client.CloseIdleConnections()
	})
}

func BenchmarkPingPong(b *testing.B) {
	l := memnet.Listen()
	defer l.Close()
	client, err := l.DialContext(b.Context(), "tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { io.Copy(server, server) })
	buf := make([]byte, 1024)
	b.SetBytes(int64(2 * len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Write(buf); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(client, buf); err != nil {
			b.Fatal(err)
		}
	}
	client.Close()
	wg.Wait()
	server.Close()
}
