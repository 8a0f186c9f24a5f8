package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
)

// dripping writes head at once, and body at a rate.
func dripping(head, body string, bytes int, every time.Duration) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := io.WriteString(conn, head); err != nil {
			return
		}
		for len(body) > 0 {
			time.Sleep(every)
			n := min(bytes, len(body))
			if _, err := io.WriteString(conn, body[:n]); err != nil {
				return
			}
			body = body[n:]
		}
	}
}

// fault F26: a server that drips a byte every ten seconds, or nothing, holds nobody, whatever it is that it drips.
func TestAnAnswerThatDripsIsGivenUp(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
	const failed = "HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
	list := listOf("5", "", object("a", "1"), object("b", "1"))
	get := func(ctx context.Context, c *client.Client) error { return drop(client.For(c, slims).Get(ctx, web)) }
	all := func(ctx context.Context, c *client.Client) error {
		return drop(client.For(c, slims).List(ctx, client.ListOptions{}))
	}
	follow := func(ctx context.Context, c *client.Client) error {
		return watch(ctx, client.For(c, slims), client.WatchOptions{})
	}
	raw := func(ctx context.Context, c *client.Client) error {
		resp, err := c.Raw(ctx, client.RawRequest{Path: "/metrics"})
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		return drop(io.ReadAll(resp.Body))
	}
	for _, test := range []struct {
		name       string
		head, body string
		do         func(ctx context.Context, c *client.Client) error
		took       time.Duration
		want       string
		answered   bool // the error is what the server said
	}{
		{"the headers of a get", "", ok, get, 75 * time.Second, `get configmaps "web/a": server stalled: no answer within 1m15s`, false},
		{"the headers of a list", "", ok, all, 75 * time.Second, "list configmaps: server stalled: no answer within 1m15s", false},
		{"the headers of a watch", "", ok, follow, 75 * time.Second, "watch configmaps: server stalled: no answer within 1m15s", false},
		{"an object", ok, object("a", "1"), get, 30 * time.Second, "server stalled: 2 B of its answer arrived in 30s", false},
		{"a list", ok, list, all, 30 * time.Second, "server stalled: 2 B of its answer arrived in 30s", false},
		{"the rest of a list", ok + list[:300], list[300:], all, 30 * time.Second, "server stalled: 302 B of its answer arrived in 30s", false},
		{"a raw answer", ok, list, raw, 30 * time.Second, "server stalled: 2 B of its answer arrived in 30s", false},
		{"an error", failed, status(500, "InternalError", "oops"), get, 30 * time.Second, "(500): the answer is not a Status but application/json: {", true},
		{"an error of a watch", failed, status(500, "InternalError", "oops"), follow, 30 * time.Second, "(500): ", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := serveRaw(t, dripping(test.head, test.body, 1, 11*time.Second))
				cfg.Retry.Attempts = 1
				start := time.Now()
				err := test.do(t.Context(), dial(t, cfg))
				if took := time.Since(start); took != test.took {
					t.Errorf("it took %v, want %v", took, test.took)
				}
				wantErr(t, err, test.want)
				if test.answered {
					is[*apierrors.StatusError](t, err)
					return
				}
				stalled(t, err)
				if strings.Contains(err.Error(), "of its answer arrived in 30s") != (test.took == 30*time.Second) || apierrors.SafeToRetry(err) {
					t.Errorf("error is %v", err)
				}
			})
		})
	}
}

// stalled fails the test unless err says that the server stalled, which is a timeout of the network.
func stalled(t *testing.T, err error) {
	t.Helper()
	if apierrors.NetworkOf(err) != apierrors.NetworkTimeout || !strings.Contains(err.Error(), "server stalled: ") {
		t.Errorf("error is %v, one of the network of the kind %q", err, apierrors.NetworkOf(err))
	}
}

// behaviour 71: nothing bounds how long an answer takes as a whole, as long as it goes on; and who reads slowly is not taken
// for a server that writes slowly.
func TestALongAnswerIsNotTakenForAStall(t *testing.T) {
	items := make([]string, 400)
	for i := range items {
		items[i] = object(fmt.Sprint("a", i), "1", strings.Repeat("x", 200))
	}
	list := listOf("5", "", items...)
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
	t.Run("a slow network", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			cfg := serveRaw(t, dripping(ok, list, 2000, 29*time.Second))
			start := time.Now()
			_, _, err := collect(t.Context(), client.For(dial(t, cfg), slims), client.ListOptions{})
			if took := time.Since(start); err != nil || took < 45*time.Minute {
				t.Errorf("it took %v, with the error %v", took, err)
			}
		})
	})
	t.Run("a slow reader", func(t *testing.T) {
		overBoth(t, func(t *testing.T, p protocol) {
			cfg, _ := serveOver(t, p, says(list), nil)
			n := 0
			for _, err := range client.For(dial(t, cfg), slims).All(t.Context(), client.ListOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				time.Sleep(time.Minute)
			}
			if n != len(items) {
				t.Errorf("got %d objects", n)
			}
		})
	})
	t.Run("a slow reader of a raw answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			resp := must[*http.Response](t)(connect(t, says(list)).Raw(t.Context(), client.RawRequest{Path: "/x"}))
			defer func() { _ = resp.Body.Close() }()
			for {
				time.Sleep(time.Hour)
				if _, err := resp.Body.Read(make([]byte, 4096)); err != nil {
					if err != io.EOF {
						t.Error(err)
					}
					return
				}
			}
		})
	})
	for _, parameter := range []string{"follow", "watch"} {
		t.Run("a raw request with "+parameter, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := dial(t, serveRaw(t, dripping(ok, "log", 1, time.Hour)))
				resp := must[*http.Response](t)(c.Raw(t.Context(), client.RawRequest{Path: "/log", Query: url.Values{parameter: {"true"}}}))
				defer func() { _ = resp.Body.Close() }()
				if got := must[[]byte](t)(io.ReadAll(resp.Body)); string(got) != "log" {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// A server that stalls keeps the whole bound that is asked for, and none where none is.
func TestStallTimeoutIsTheBound(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
	for bound, want := range map[time.Duration]time.Duration{5 * time.Second: 5 * time.Second, -1: 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			cfg := serveRaw(t, dripping(ok, object("a", "1"), 1<<20, 10*time.Minute))
			cfg.StallTimeout = bound
			start := time.Now()
			_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
			if took := time.Since(start); took != want || (err == nil) != (bound < 0) {
				t.Errorf("with %v it took %v, with the error %v", bound, took, err)
			}
		})
	}
}

// behaviour 69: after a stall an HTTP/1.1 connection is given up, and an HTTP/2 one used again.
func TestTheConnectionAfterAStall(t *testing.T) {
	overBoth(t, func(t *testing.T, p protocol) {
		requests := 0
		cfg, n := serveOver(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if requests++; requests == 1 {
				answer{body: `{"kind":`}.write(w)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				return
			}
			answer{body: object("a", "1")}.write(w)
		}), nil)
		r := client.For(dial(t, cfg), slims)
		_, err := r.Get(t.Context(), web)
		stalled(t, err)
		must[*Slim](t)(r.Get(t.Context(), web))
		if made, _ := n.count(); made != map[protocol]int{http1: 2, http2: 1}[p] {
			t.Errorf("%d connections were made", made)
		}
	})
}

// The caller's context ends a read that would stall later, and says so.
func TestAContextThatEndsBeforeTheStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
		r := client.For(dial(t, serveRaw(t, dripping(ok, object("a", "1"), 1, 10*time.Second))), slims)
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		if _, err := r.Get(ctx, web); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "stalled") {
			t.Errorf("error is %v", err)
		}
	})
}

// fault F26: the body of a 401 that is to be replayed is not read, and so holds nobody.
func TestARefusalThatDripsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const refused = "HTTP/1.1 401 No\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
		const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
		requests := 0
		cfg := serveRaw(t, func(conn net.Conn) {
			if requests++; requests == 1 {
				dripping(refused, status(401, "Unauthorized", "no"), 1, 11*time.Second)(conn)
				return
			}
			_, _ = io.WriteString(conn, ok+object("a", "1"))
		})
		cfg.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
			return client.Credential{Token: client.Secret(fmt.Sprint("t", requests))}, nil
		})
		start := time.Now()
		must[*Slim](t)(client.For(dial(t, cfg), slims).Get(t.Context(), web))
		if took := time.Since(start); took != 0 || requests != 2 {
			t.Errorf("it took %v and %d requests", took, requests)
		}
	})
}

// withholds says that its answer is compressed, and then nothing.
func withholds(w http.ResponseWriter, r *http.Request, code int) {
	w.Header().Set("Content-Encoding", "gzip")
	w.WriteHeader(code)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// A refusal whose compressed body did not come held its caller for good: net/http's Close waited for the Read that it was to
// end.
func TestACompressedRefusalThatStallsIsGivenUp(t *testing.T) {
	overBoth(t, func(t *testing.T, p protocol) {
		cfg, _ := serveOver(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "Bearer t1" {
				withholds(w, r, http.StatusUnauthorized)
				return
			}
			answer{body: object("a", "1")}.write(w)
		}), nil)
		cfg.Credentials = client.NewCredentials((&mint{}).fetch)
		must[*Slim](t)(client.For(dial(t, cfg), slims).Get(t.Context(), web))
	})
}

// Nor could such an answer be closed while somebody read it.
func TestACompressedAnswerCanBeClosedBesideARead(t *testing.T) {
	overBoth(t, func(t *testing.T, p protocol) {
		cfg, _ := serveOver(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { withholds(w, r, http.StatusOK) }), nil)
		resp := must[*http.Response](t)(dial(t, cfg).Raw(t.Context(), client.RawRequest{Path: "/x", Query: url.Values{"follow": {"true"}}}))
		read := make(chan error)
		go func() { read <- drop(resp.Body.Read(make([]byte, 1))) }()
		synctest.Wait()
		_ = resp.Body.Close()
		if err := <-read; err == nil {
			t.Error("the read went on")
		}
	})
}
