package remote_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/memnet"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

func TestAPortCarriesBytesBothWays(t *testing.T) {
	for name, tls := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			r := newPortRig(t, echo, clienttest.Options{TLS: tls})
			var asked url.Values
			r.Intercept(func(hr *http.Request) http.HandlerFunc {
				asked = hr.URL.Query()
				return nil
			})
			c := r.dial(t)
			if want := (url.Values{"ports": {"80"}}); !reflect.DeepEqual(asked, want) {
				t.Errorf("the server was asked for %v, want %v", asked, want)
			}
			data := make([]byte, 5<<20+3)
			_, _ = rand.Read(data)
			var writer sync.WaitGroup
			writer.Go(func() {
				for rest, size := data, 1; len(rest) > 0; size = size*3%70_000 + 1 {
					n, err := c.Write(rest[:min(size, len(rest))])
					if err != nil {
						t.Error(err)
						return
					}
					rest = rest[n:]
				}
			})
			got := make([]byte, len(data))
			for have, size := 0, 1; have < len(got); size = size*5%50_000 + 1 {
				n, err := c.Read(got[have:min(have+size, len(got))])
				if err != nil {
					t.Fatal(err)
				}
				have += n
			}
			writer.Wait()
			if !bytes.Equal(got, data) {
				t.Error("the bytes that came back are others")
			}
			if a := c.RemoteAddr(); a.Network() != "portforward" || a.String() != "default/web:80" || c.LocalAddr() != a {
				t.Errorf("the addresses are %v and %v", a, c.LocalAddr())
			}
		})
	}
}

// behaviour 165
func TestThePodEndsAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, func(c *memnet.Conn) {
			_, _ = c.Write(bytes.Repeat([]byte("x"), 100_000))
		}, clienttest.Options{})
		c := r.dial(t)
		synctest.Wait() // the end is there before anything is read
		if got, err := io.ReadAll(c); err != nil || len(got) != 100_000 {
			t.Errorf("ReadAll: %d bytes, %v", len(got), err)
		}
		if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("Read after the end: %d, %v", n, err)
		}
		if _, err := c.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("Write after the end: %v", err)
		}
	})
}

// behaviour 165
func TestErrorsOfAPort(t *testing.T) {
	for _, tc := range []struct {
		name  string
		dial  func(context.Context, meta.Key, int) (net.Conn, error)
		reads string // before the error
		want  string
	}{
		{"refuses", nil, "", "connection refused"},
		{
			"cannot be reached", func(context.Context, meta.Key, int) (net.Conn, error) { return nil, errors.New("no route") }, "",
			`error forwarding port 80 to pod web, uid : failed to connect to localhost:80 inside namespace "default/web": no route`,
		},
		{"is reset", func(ctx context.Context, _ meta.Key, _ int) (net.Conn, error) {
			l := memnet.Listen()
			c, err := l.DialContext(ctx, "tcp", l.Addr().String())
			if err != nil {
				return nil, err
			}
			other, err := l.Accept()
			if err != nil {
				return nil, err
			}
			_, _ = other.Write([]byte("half"))
			other.(*memnet.Conn).Break()
			return c, nil
		}, "half", "connection reset by peer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &containers.Server{Dial: tc.dial}, clienttest.Options{})
				c, err := dial(t.Context(), r.pods, web, 80)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				got, err := io.ReadAll(c)
				_, writeErr := c.Write([]byte("x"))
				for call, err := range map[string]error{"Read": err, "Write": writeErr} {
					port, op := (*remote.PortError)(nil), (*client.OpError)(nil)
					if !errors.As(err, &port) || port.Port != 80 || !strings.Contains(port.Message, tc.want) {
						t.Errorf("%s: %v, want %q", call, err, tc.want)
					}
					if !errors.As(err, &op) || !strings.HasPrefix(err.Error(), `connect pods/portforward "default/web": port 80: error forwarding port 80`) {
						t.Errorf("%s: the error is %v", call, err)
					}
				}
				if string(got) != tc.reads {
					t.Errorf("%q was read, want %q", got, tc.reads)
				}
			})
		})
	}
}

func TestDialIsRefused(t *testing.T) {
	except := func(verb string) clienttest.Options {
		return clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) {
			return a.Verb != verb || a.Subresource != "portforward", "no"
		}}
	}
	for _, tc := range []struct {
		name    string
		options clienttest.Options
		key     meta.Key
		port    int
		answer  http.HandlerFunc
		is      error
		want    string
	}{
		{name: "no pod", key: meta.Key{Namespace: "default", Name: "none"}, is: apierrors.NotFound, want: `pods "none" not found`},
		{name: "without get", options: except("get"), is: apierrors.Forbidden, want: `cannot get resource "pods/portforward"`},
		{name: "without create", options: except("create"), is: apierrors.Forbidden, want: " create "},
		{
			name: "a server that does not say what is missing", answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "pods \"web\" is forbidden: "}`)
			}, is: apierrors.Forbidden, want: "ask for the permission create on pods/portforward",
		},
		{
			name: "a page", answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Welcome</html>") },
			want: "instead of upgrading to a WebSocket",
		},
		{name: "a proxy that refuses", answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, want: "502"},
		{name: "another protocol", answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "SPDY/3.1")
			w.WriteHeader(http.StatusSwitchingProtocols)
		}, want: "breaks the rules of WebSockets"},
		{name: "port 0", port: -1, want: `port must be a number from 1 to 65535 or the name of a port, got "-1"`},
		{name: "a large port", port: 65536, want: `port must be a number from 1 to 65535 or the name of a port, got "65536"`},
		{name: "an odd name", key: meta.Key{Namespace: "default", Name: "a/b"}, want: "a/b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newPortRig(t, echo, tc.options)
			if tc.answer != nil {
				r.Intercept(func(*http.Request) http.HandlerFunc { return tc.answer })
			}
			key, port := tc.key, tc.port
			if key == (meta.Key{}) {
				key = web
			}
			if port == 0 {
				port = 80
			}
			c, err := dial(t.Context(), r.pods, key, port)
			if c != nil || err == nil || !strings.Contains(err.Error(), tc.want) || tc.is != nil && !errors.Is(err, tc.is) {
				t.Fatalf("Dial: %v, %v, want %q", c, err, tc.want)
			}
			if op := (*client.OpError)(nil); !errors.As(err, &op) || op.Subresource != "portforward" {
				t.Errorf("the error is a %T", err)
			}
		})
	}
	t.Run("a handle that cannot be used", func(t *testing.T) {
		r := newPortRig(t, echo, clienttest.Options{})
		nodes := client.For(r.client, client.Type[*pod]{Version: "v1", Kind: "Node", Resource: "nodes", Scope: meta.Cluster})
		for name, pods := range map[string]client.Resource[*pod]{"zero": {}, "of nodes": nodes} {
			if c, err := dial(t.Context(), pods, web, 80); c != nil || !errors.As(err, new(*client.UsageError)) {
				t.Errorf("%s: %v, %v", name, c, err)
			}
		}
	})
}

// A server that breaks the protocol after the handshake: behaviour 168.
func TestAPortOfAServerThatBreaksTheProtocol(t *testing.T) {
	long := "\x82\x7f\x00\x00\x00\x00\x00\x40\x00\x01\x00" // announces 4 MiB and a byte
	for _, tc := range []struct{ name, sent, reads, want string }{
		{"good order", opening + frame(2, "\x00abc") + closing, "abc", ""},
		{"parts", frame(2, "\x00\x50") + frame(2, "\x00") + frame(2, "\x01\x50") + frame(2, "\x00\x00ab") + frame(2, "\x01\x00") + frame(2, "\x00c") + closing, "abc", ""},
		{"data in the message of the port", frame(2, "\x00\x50\x00abc") + frame(2, "\x01\x50\x00") + closing, "abc", ""},
		{"an error in the message of the port", opening[:5] + frame(2, "\x01\x50\x00it broke") + closing, "", "port 80: it broke"},
		{"an error in parts", opening + frame(2, "\x01it ") + frame(2, "\x01broke") + closing, "", "port 80: it broke"},
		{"an error and a cut", opening + frame(2, "\x00a") + frame(2, "\x01it broke"), "a", "port 80: it broke"},
		{"an error that is no text", opening + frame(2, "\x01\xff\x1b[31mred\n") + closing, "", "port 80: \ufffdred"},
		{"text", opening + frame(1, "\x00abc"), "", "sent a text message"},
		{"no channel", opening + frame(2, ""), "", "a message without a channel"},
		{"an unknown channel", opening + frame(2, "\x02x"), "", "channel 2"},
		{"another port", frame(2, "\x00\x51\x00"), "", "is for port 81, want port 80"},
		{"the port the other way round", frame(2, "\x00\x00\x50"), "", "is for port 20480, want port 80"},
		{"another port for errors", opening[:5] + frame(2, "\x01\x51\x00"), "", "is for port 81, want port 80"},
		{"no port", closing, "", "before it named the port"},
		{"too long", opening + long, "", "more than 4 MiB"},
		{"a cut", opening + frame(2, "\x00ab"), "ab", "unexpected EOF"},
		{"a cut in a frame", opening + frame(2, "\x00abcdef")[:6], "abc", "unexpected EOF"},
		{"a cut in the port", frame(2, "\x00\x50\x00")[:4], "", "unexpected EOF"},
		{"another code", opening + frame(8, "\x03\xf3oh no"), "", `code 1011: "oh no"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newPortRig(t, echo, clienttest.Options{})
				r.Intercept(frames(t, func(c net.Conn) { _, _ = io.WriteString(c, tc.sent) }))
				c := r.dial(t)
				got, err := io.ReadAll(c)
				if string(got) != tc.reads {
					t.Errorf("%q was read, want %q", got, tc.reads)
				}
				if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
					t.Errorf("Read: %v, want %q", err, tc.want)
				}
				if op := (*client.OpError)(nil); err != nil && (!errors.As(err, &op) || op.Key != web) {
					t.Errorf("Read: a %T", err)
				}
			})
		})
	}
}

func TestReadReturnsAPortErrorAlthoughTheServerStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, echo, clienttest.Options{})
		r.Intercept(frames(t, func(c net.Conn) {
			_, _ = io.WriteString(c, opening+frame(2, "\x01it broke"))
			_, _ = io.Copy(io.Discard, c)
		}))
		c := r.dial(t)
		start := time.Now()
		_, err := c.Read(make([]byte, 1))
		if port := (*remote.PortError)(nil); !errors.As(err, &port) || port.Message != "it broke" || time.Since(start) != 10*time.Second {
			t.Errorf("Read: %v, after %v", err, time.Since(start))
		}
	})
}

func TestTheTextOfAnErrorIsBounded(t *testing.T) {
	r := newPortRig(t, echo, clienttest.Options{})
	r.Intercept(frames(t, func(c net.Conn) {
		_, _ = io.WriteString(c, opening)
		for range 10_000 {
			if _, err := io.WriteString(c, frame(2, "\x01"+strings.Repeat("x", 120))); err != nil {
				return
			}
		}
	}))
	_, err := r.dial(t).Read(make([]byte, 1))
	if port := (*remote.PortError)(nil); !errors.As(err, &port) || len(port.Message) != 64<<10 || len(err.Error()) > 5000 {
		t.Errorf("Read: %T with %d bytes, which shows %d", err, len(port.Message), len(err.Error()))
	}
}

func TestTheContextGovernsTheDialOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, echo, clienttest.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		c, err := dial(ctx, r.pods, web, 80)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		cancel()
		time.Sleep(time.Hour)
		if got, err := roundTrip(c, "hello"); err != nil || got != "hello" {
			t.Errorf("after the end of the context: %q, %v", got, err)
		}
		if c, err := dial(ctx, r.pods, web, 80); c != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("Dial: %v, %v", c, err)
		}
		r.Intercept(func(*http.Request) http.HandlerFunc {
			return func(_ http.ResponseWriter, hr *http.Request) { <-hr.Context().Done() }
		})
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if c, err := dial(ctx, r.pods, web, 80); c != nil || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("Dial: %v, %v after %v", c, err, time.Since(start))
		}
	})
}

func roundTrip(c net.Conn, text string) (string, error) {
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	got := make([]byte, len(text))
	n, err := io.ReadFull(c, got)
	return string(got[:n]), err
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // that is how net/http asks
	return ok && timeout.Timeout() && errors.Is(err, os.ErrDeadlineExceeded)
}

func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, func(c *memnet.Conn) {
			part := make([]byte, 5)
			for {
				if _, err := io.ReadFull(c, part); err != nil {
					return
				}
				time.Sleep(time.Minute)
				if _, err := c.Write(part); err != nil {
					return
				}
			}
		}, clienttest.Options{})
		c := r.dial(t)
		part := make([]byte, 5)
		if _, err := io.WriteString(c, "hello"); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		for i := range 3 { // each Read times out, and the connection stays
			if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if n, err := c.Read(part); n != 0 || !isTimeout(err) {
				t.Fatalf("Read: %d, %v", n, err)
			}
			if took, want := time.Since(start), time.Duration(i+1)*10*time.Second; took != want {
				t.Errorf("Read returned after %v, want %v", took, want)
			}
		}
		if n, err := c.Read(part); n != 0 || !isTimeout(err) { // the deadline has passed
			t.Fatalf("Read: %d, %v", n, err)
		}
		if err := c.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if n, err := io.ReadFull(c, part); err != nil || string(part) != "hello" {
			t.Fatalf("Read: %q, %v", part[:n], err)
		}
		// A deadline interrupts a Read that waits, also one in the past.
		for _, in := range []time.Duration{time.Second, -time.Second} {
			failed := make(chan error, 1)
			go func() {
				_, err := c.Read(part)
				failed <- err
			}()
			synctest.Wait()
			if err := c.SetDeadline(time.Now().Add(in)); err != nil {
				t.Fatal(err)
			}
			if err := <-failed; !isTimeout(err) {
				t.Errorf("Read: %v", err)
			}
			if err := c.SetDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		// The text of a timeout says where.
		_ = c.SetReadDeadline(time.Now())
		_, err := c.Read(part)
		if want := "read portforward default/web:80: i/o timeout"; err == nil || err.Error() != want {
			t.Errorf("Read: %v, want %s", err, want)
		}
	})
}

func TestAWriteDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken := make(chan struct{})
		sum := make(chan []byte, 1)
		r := newPortRig(t, func(c *memnet.Conn) {
			<-taken
			all, _ := io.ReadAll(c)
			sum <- all
		}, clienttest.Options{})
		c := r.dial(t)
		data := make([]byte, 16<<20)
		_, _ = rand.Read(data)
		sent := 0
		start := time.Now()
		for range 3 {
			if err := c.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			n, err := c.Write(data[sent:])
			if !isTimeout(err) {
				t.Fatalf("Write: %d, %v", n, err)
			}
			sent += n
		}
		if took := time.Since(start); took != 3*time.Minute {
			t.Errorf("three Writes took %v", took)
		}
		if sent == 0 || sent > 8<<20 {
			t.Errorf("%d bytes were taken by nobody", sent)
		}
		close(taken)
		if err := c.SetWriteDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Write(data[sent:]); err != nil || n != len(data)-sent { // the connection has survived
			t.Fatalf("Write: %d, %v", n, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if got := <-sum; !bytes.Equal(got, data) {
			t.Errorf("the pod got %d bytes of %d, and others", len(got), len(data))
		}
	})
}

// behaviour 161
func TestCloseEndsCallsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newPortRig(t, func(*memnet.Conn) { <-release }, clienttest.Options{})
		c := r.dial(t)
		var calls sync.WaitGroup
		calls.Go(func() {
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("Read: %v", err)
			}
		})
		for range 2 {
			calls.Go(func() {
				if _, err := c.Write(make([]byte, 16<<20)); !errors.Is(err, net.ErrClosed) {
					t.Errorf("Write: %v", err)
				}
			})
		}
		synctest.Wait()
		start := time.Now()
		if err := c.Close(); !isTimeout(err) {
			t.Errorf("Close: %v, although bytes were not sent", err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("Close took %v, although the pod reads nothing", took)
		}
		calls.Wait()
		for name, err := range map[string]error{
			"Close": c.Close(), "SetDeadline": c.SetDeadline(time.Time{}),
			"SetReadDeadline": c.SetReadDeadline(time.Time{}), "SetWriteDeadline": c.SetWriteDeadline(time.Time{}), "Write": func() error { _, err := c.Write([]byte("x")); return err }(),
			"Read": func() error { _, err := c.Read(make([]byte, 1)); return err }(),
		} {
			if op := (*net.OpError)(nil); !errors.Is(err, net.ErrClosed) || !errors.As(err, &op) {
				t.Errorf("%s after Close: %v", name, err)
			}
		}
		close(release)
	})
}

// A deadline in the past and then Close is how a server ends what it cannot wait for.
func TestCloseAfterTheWriteDeadlineWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newPortRig(t, func(*memnet.Conn) { <-release }, clienttest.Options{})
		c := r.dial(t)
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := c.Write(make([]byte, 16<<20)); !isTimeout(err) {
			t.Errorf("Write: %v", err)
		}
		start := time.Now()
		if err := c.Close(); !isTimeout(err) || time.Since(start) != 0 {
			t.Errorf("Close: %v, after %v", err, time.Since(start))
		}
		close(release)
	})
}

func TestCloseDeliversWrittenBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := make(chan int, 1)
		r := newPortRig(t, func(c *memnet.Conn) {
			time.Sleep(2 * time.Second)
			all, err := io.ReadAll(c)
			if err != nil {
				t.Error(err)
			}
			got <- len(all)
		}, clienttest.Options{})
		c := r.dial(t)
		if _, err := c.Write(make([]byte, 200<<10)); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if n := <-got; n != 200<<10 {
			t.Errorf("%d bytes have arrived", n)
		}
	})
}

// A connection that was closed while the server still passed bytes on was reset by the next message of the server, and they were lost.
func TestCloseWaitsForTheServersEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		busy, took time.Duration
	}{"a busy server": {2 * time.Second, 2 * time.Second}, "a server that does not end": {time.Hour, 5 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newPortRig(t, echo, clienttest.Options{})
				late := make(chan error, 1)
				r.Intercept(frames(t, func(c net.Conn) {
					_, _ = io.WriteString(c, opening)
					time.Sleep(tc.busy) // with what has been sent
					_, err := io.WriteString(c, frame(2, "\x00late")+closing)
					late <- err
				}))
				c := r.dial(t)
				if _, err := c.Write([]byte("abc")); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				if err := c.Close(); err != nil || time.Since(start) != tc.took {
					t.Errorf("Close: %v, after %v", err, time.Since(start))
				}
				if err := <-late; tc.busy == tc.took && err != nil {
					t.Errorf("the connection was closed before the server's last message: %v", err)
				}
			})
		})
	}
}

// A reader that takes its time breaks nothing, whatever has come meanwhile, and bounds what is held.
func TestASlowReaderOfAPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 32 << 20
		written := 0
		r := newPortRig(t, func(c *memnet.Conn) {
			for written < size {
				n, err := c.Write(make([]byte, 32<<10))
				if written += n; err != nil {
					t.Error(err)
					return
				}
			}
		}, clienttest.Options{})
		c := r.dial(t)
		time.Sleep(time.Hour)
		synctest.Wait()
		if written > 8<<20 {
			t.Errorf("%d bytes are held", written)
		}
		if n, err := io.Copy(io.Discard, c); err != nil || n != size {
			t.Errorf("Copy: %d, %v", n, err)
		}
	})
}

// The process in the pod takes its time, and so does whoever writes.
func TestASlowPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 32 << 20
		got := make(chan int64, 1)
		r := newPortRig(t, func(c *memnet.Conn) {
			time.Sleep(time.Hour)
			n, _ := io.Copy(io.Discard, c)
			got <- n
		}, clienttest.Options{})
		c := r.dial(t)
		if n, err := c.Write(make([]byte, size)); err != nil || n != size {
			t.Errorf("Write: %d, %v", n, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if n := <-got; n != size {
			t.Errorf("%d bytes have arrived", n)
		}
	})
}

// behaviour 159
func TestAPortOfAServerThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, echo, clienttest.Options{})
		c := r.dial(t)
		start := time.Now()
		r.Freeze()
		_, err := c.Read(make([]byte, 1))
		if err == nil || !strings.Contains(err.Error(), "has not answered a ping for") {
			t.Errorf("Read: %v", err)
		}
		if took := time.Since(start); took > 70*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestAnIdlePortGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, echo, clienttest.Options{TLS: true})
		c := r.dial(t)
		time.Sleep(24 * time.Hour)
		if got, err := roundTrip(c, "hello"); err != nil || got != "hello" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// behaviour 166: the test ends only if all goroutines have.
func TestManyConnectionsLeaveNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, echo, clienttest.Options{TLS: true})
		one := func() {
			c, err := dial(t.Context(), r.pods, web, 80)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if got, err := roundTrip(c, "hello"); err != nil || got != "hello" {
				t.Errorf("%q, %v", got, err)
			}
		}
		var all sync.WaitGroup
		for range histories.Count(2) {
			for range 50 {
				all.Go(one)
			}
			all.Wait()
		}
		for range 20 {
			one()
		}
	})
}

// A caller may forget to close a connection that has ended.
func TestAConnectionThatHasEndedHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, func(*memnet.Conn) {}, clienttest.Options{})
		c, err := dial(t.Context(), r.pods, web, 80)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("Read: %v", err)
		}
	})
}

// Several goroutines may use a connection at once, and close it.
func TestCallsAtOnce(t *testing.T) {
	r := newPortRig(t, echo, clienttest.Options{})
	for range 10 {
		c := r.dial(t)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { _, _ = c.Read(make([]byte, 100)) })
			all.Go(func() { _, _ = c.Write(make([]byte, 100)) })
			all.Go(func() { _ = c.SetDeadline(time.Now().Add(time.Minute)) })
			all.Go(func() { _, _ = c.Write(make([]byte, 100_000)) })
			all.Go(func() { _ = c.RemoteAddr().String() })
		}
		all.Go(func() { _ = c.Close() })
		all.Wait()
	}
}
