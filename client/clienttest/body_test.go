package clienttest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// fault F1: the connection is reset in mid-page, after any number of bytes.
func TestResetBody(t *testing.T) {
	servers(t, clienttest.Options{}, func(t *testing.T, h *harness) {
		h.create(t, "a", `"annotations":{"a":"`+strings.Repeat("text ", 20_000)+`"}`)
		whole := h.must(t, http.MethodGet, configMaps, "", "Accept-Encoding", "identity")
		for _, n := range []int{0, 1, 1000, 50_000, len(whole) - 1} {
			h.server.Intercept(func(*http.Request) http.HandlerFunc { return h.server.ResetBody(n) })
			got, err := h.read(t, configMaps)
			// net/http's client of HTTP/2 drops what it has received when the connection breaks.
			complete := got == whole[:n] || strings.Contains(t.Name(), "HTTP/2") && strings.HasPrefix(whole[:n], got)
			reset := errors.Is(err, syscall.ECONNRESET)
			if strings.HasSuffix(t.Name(), "HTTP/2_on_a_socket") {
				reset = err != nil // the kernel tells a reset once, and a write of the client's may be the first to hear of it
			}
			if !reset || !complete {
				t.Errorf("after %d bytes: got %d bytes and %v", n, len(got), err)
			}
		}
		h.server.Intercept(func(*http.Request) http.HandlerFunc { return h.server.ResetBody(1 << 20) })
		if got := h.must(t, http.MethodGet, configMaps, "", "Accept-Encoding", "identity"); got != whole {
			t.Error("a body that is shorter does not stay whole")
		}
	})
}

// read returns as much of a body as arrives, and the error of whatever part of the request fails.
func (h *harness) read(t *testing.T, path string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := h.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// fault F3: an answer falls silent in its middle.
func TestStall(t *testing.T) {
	for _, o := range []clienttest.Options{{}, {TLS: true}, {HTTP2: true}} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, o)
			h.create(t, "a")
			h.server.Intercept(func(*http.Request) http.HandlerFunc { return h.server.Stall(20) })
			// Its context ends the read. To close the body meanwhile would stop the virtual time of Go 1.27, whose Close waits for a lock.
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			resp := h.send(t, ctx, http.MethodGet, configMaps, "")
			defer resp.Body.Close()
			time.AfterFunc(time.Hour, cancel)
			start := time.Now()
			if got, err := io.ReadAll(resp.Body); len(got) != 20 || err == nil || time.Since(start) != time.Hour {
				t.Errorf("got %d bytes and %v after %s", len(got), err, time.Since(start))
			}
			// A watch that is silent can be cut all the same.
			w := h.watch(t, configMaps)
			synctest.Wait()
			if n := h.server.DropWatches(); n != 1 {
				t.Errorf("dropped %d watches, want 1", n)
			}
			if _, err := w.rest(); err == nil {
				t.Error("the watch ends properly")
			}
		})
	}
}

// fault F26: an answer comes a few bytes at a time, headers included.
func TestDrip(t *testing.T) {
	for _, o := range []clienttest.Options{{}, {TLS: true}, {HTTP2: true}} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, o)
			h.create(t, "a")
			want := h.must(t, http.MethodGet, configMaps, "")
			h.server.Intercept(func(r *http.Request) http.HandlerFunc {
				if clienttest.RequestOf(r).Verb == "create" {
					return nil
				}
				return h.server.Drip(10, time.Second)
			})
			start := time.Now()
			resp := h.open(t, http.MethodGet, configMaps, "")
			headers := time.Since(start)
			got, err := io.ReadAll(resp.Body)
			all := time.Since(start)
			// Ten bytes a second. Over TLS there are more bytes, and they are of use a record at a time; HTTP/2 compresses headers.
			if string(got) != want || err != nil || headers < 3*time.Second || all < time.Duration(len(want)/10)*time.Second {
				t.Errorf("got headers after %s, and %d bytes of %d after %s, %v", headers, len(got), len(want), all, err)
			}
			w := h.watch(t, configMaps+"?timeoutSeconds=600")
			h.create(t, "b") // on another connection
			start = time.Now()
			first, second := w.next(t).brief(), w.next(t).brief()
			if took := time.Since(start); first != "ADDED a" || second != "ADDED b" || took < 10*time.Second {
				t.Errorf("got %s and %s after %s", first, second, took)
			}
			h.server.DropWatches()
			if _, err := w.rest(); err == nil {
				t.Error("the watch ends properly")
			}
		})
	}
}

// fault F24: what is declared and what comes differ.
func TestRewriteMayDeclareAWrongLength(t *testing.T) {
	servers(t, clienttest.Options{}, func(t *testing.T, h *harness) {
		h.create(t, "a")
		whole := h.must(t, http.MethodGet, configMaps, "")
		for _, test := range []struct {
			by   int
			want string
			err  error
		}{
			{5, whole, io.ErrUnexpectedEOF},
			{-5, whole[:len(whole)-5], nil},
			{-1 << 20, "", nil},
		} {
			h.server.Intercept(func(*http.Request) http.HandlerFunc {
				return h.server.Rewrite(func(head http.Header, body []byte) []byte {
					length := max(0, len(body)+test.by)
					head.Set("Content-Length", strconv.Itoa(length))
					return body[:min(len(body), length)]
				})
			})
			resp := h.open(t, http.MethodGet, configMaps, "")
			if got, err := io.ReadAll(resp.Body); string(got) != test.want || !errors.Is(err, test.err) {
				t.Errorf("by %d: got %d bytes of %d and %v", test.by, len(got), len(whole), err)
			}
		}
	})
}

func TestRewriteMayAddGarbage(t *testing.T) {
	servers(t, clienttest.Options{}, func(t *testing.T, h *harness) {
		whole := h.must(t, http.MethodGet, configMaps, "")
		h.server.Intercept(func(*http.Request) http.HandlerFunc {
			return h.server.Rewrite(func(_ http.Header, body []byte) []byte { return append(body, "garbage"...) })
		})
		if got := h.must(t, http.MethodGet, configMaps, ""); got != whole+"garbage" {
			t.Errorf("got %s", got)
		}
		if a := h.do(t, http.MethodGet, configMaps+"/a", ""); a.code != 404 || !strings.HasSuffix(a.body, "garbage") {
			t.Errorf("got %d %s", a.code, a.body)
		}
		if !strings.Contains(t.Name(), "in_memory") {
			return
		}
		events, err := h.watch(t, configMaps+"?timeoutSeconds=1").rest()
		if len(events) != 0 || err == nil {
			t.Errorf("a watch brings %v and ends with %v", briefs(events), err)
		}
	})
}

// fault F23: a compressed body lacks its end, and only the compression tells.
func TestRewriteMayTruncateGzip(t *testing.T) {
	servers(t, clienttest.Options{}, func(t *testing.T, h *harness) {
		h.create(t, "a")
		whole := h.must(t, http.MethodGet, configMaps, "")
		for _, missing := range []int{0, 1, 8, 30, 1 << 20} {
			h.server.Intercept(func(*http.Request) http.HandlerFunc {
				return h.server.Rewrite(func(head http.Header, body []byte) []byte {
					var b bytes.Buffer
					z := gzip.NewWriter(&b)
					_, _ = z.Write(body)
					_ = z.Close()
					head.Set("Content-Encoding", "gzip")
					return b.Bytes()[:max(0, b.Len()-missing)]
				})
			})
			a := h.do(t, http.MethodGet, configMaps, "", "Accept-Encoding", "gzip") // reads all there is
			if a.header.Get("Content-Encoding") != "gzip" {
				t.Fatalf("it is not compressed: %v", a.header)
			}
			z, err := gzip.NewReader(strings.NewReader(a.body))
			var got []byte
			if err == nil {
				got, err = io.ReadAll(z)
			}
			if (missing == 0) != (err == nil) || !strings.HasPrefix(whole, string(got)) {
				t.Errorf("without %d bytes: got %d bytes of %d, %v", missing, len(got), len(whole), err)
			}
		}
	})
}

// fault F25 and others: answers that are not the server's.
func TestHandlersSendForeignAnswers(t *testing.T) {
	servers(t, clienttest.Options{}, func(t *testing.T, h *harness) {
		h.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.HTML() })
		if a := h.do(t, http.MethodGet, configMaps, ""); a.code != 200 || a.header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("a page: got %d %v", a.code, a.header)
		}
		h.server.Intercept(func(*http.Request) http.HandlerFunc {
			return clienttest.Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nworld")
		})
		resp, err := h.client.Get(h.base + configMaps)
		if strings.Contains(t.Name(), "HTTP/2") {
			if err == nil {
				resp.Body.Close()
				t.Error("raw bytes: got an answer over HTTP/2")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); string(got) != "hello" || err == nil {
			t.Errorf("raw bytes: got %s, %v", got, err)
		}
	})
}

// faults F15 and F16: a watch brings what a test wants.
func TestFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		lines := []string{
			`{"type":"ADDED","object":{"metadata":{"name":"a"}}}`,
			`{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"too old","reason":"Expired","code":410}}`,
		}
		for _, hold := range []bool{false, true} {
			h.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.Frames(hold, lines...) })
			start := time.Now()
			ctx, cancel := context.WithCancel(t.Context())
			resp := h.send(t, ctx, http.MethodGet, configMaps+"?watch=true", "")
			time.AfterFunc(time.Hour, cancel)
			events, err := (&stream{resp, json.NewDecoder(resp.Body)}).rest()
			resp.Body.Close()
			if len(events) != 2 || events[0].brief() != "ADDED a" || string(events[1].Object) !=
				`{"kind":"Status","status":"Failure","message":"too old","reason":"Expired","code":410}` {
				t.Errorf("got %v", events)
			}
			if held := time.Since(start) == time.Hour; held != hold || (err == nil) == hold {
				t.Errorf("hold %v: it ended after %s with %v", hold, time.Since(start), err)
			}
		}
	})
}

// faults F6 and F7: running watches end with an ERROR event.
func TestFailWatches(t *testing.T) {
	servers(t, clienttest.Options{}, func(t *testing.T, h *harness) {
		w := h.watch(t, configMaps)
		h.create(t, "a")
		if got := w.next(t).brief(); got != "ADDED a" {
			t.Errorf("got %s", got)
		}
		n := h.server.FailWatches(meta.Status{Code: 429, Details: &meta.StatusDetails{RetryAfterSeconds: 7}})
		events, err := w.rest()
		if n != 1 || err != nil || fmt.Sprint(briefs(events)) != "[ERROR]" ||
			string(events[0].Object) != `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","details":{"retryAfterSeconds":7},"code":429}` {
			t.Errorf("%d watches, got %v, %v", n, events, err)
		}
	})
}
