package clienttest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

func TestProtocols(t *testing.T) {
	servers(t, clienttest.Options{}, func(t *testing.T, h *harness) {
		resp := h.open(t, http.MethodGet, configMaps, "")
		want := "HTTP/1.1"
		if strings.Contains(t.Name(), "HTTP/2") {
			want = "HTTP/2.0"
		}
		if resp.Proto != want || (resp.TLS != nil) != strings.HasPrefix(h.base, "https:") {
			t.Errorf("got %s, TLS %v, want %s", resp.Proto, resp.TLS != nil, want)
		}
		w := h.watch(t, configMaps)
		h.create(t, "a")
		if got := w.next(t).brief(); got != "ADDED a" {
			t.Errorf("got %s", got)
		}
		if n := h.server.DropWatches(); n != 1 {
			t.Errorf("dropped %d watches, want 1", n)
		}
		if _, err := w.rest(); err == nil {
			t.Error("a watch that was dropped ends properly")
		}
	})
}

// fault F3: connections that were open fall silent, and new ones work.
func TestFreeze(t *testing.T) {
	servers(t, clienttest.Options{}, func(t *testing.T, h *harness) {
		ctx, cancel := context.WithCancel(t.Context())
		resp := h.send(t, ctx, http.MethodGet, configMaps+"?watch=true", "")
		defer resp.Body.Close()
		if n := h.server.Freeze(); n != 1 {
			t.Errorf("froze %d connections, want 1", n)
		}
		other := &harness{server: h.server, client: &http.Client{Transport: newTransport(h.server.Config())}, base: h.base}
		defer other.client.CloseIdleConnections()
		other.create(t, "a")

		// The request on the frozen connection neither ends nor brings anything, not even when the server drops the watch.
		h.server.DropWatches()
		read := make(chan error)
		go func() {
			_, err := resp.Body.Read(make([]byte, 1))
			read <- err
		}()
		other.must(t, http.MethodGet, configMaps+"/a", "")
		if strings.Contains(t.Name(), "in_memory") {
			<-time.After(time.Hour)
		}
		select {
		case err := <-read:
			t.Errorf("the frozen connection ends with %v", err)
		default:
		}
		cancel()
		if err := <-read; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// fault F3: a server accepts connections and says nothing.
func TestBlackHole(t *testing.T) {
	for _, o := range []clienttest.Options{{}, {TLS: true}, {HTTP2: true}} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, o)
			h.server.BlackHole(true)
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.base+configMaps, nil)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			resp, err := h.client.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Hour {
				t.Errorf("got %v after %s, want silence until the client gives up", err, time.Since(start))
			}
			h.server.BlackHole(false)
			h.must(t, http.MethodGet, configMaps, "")
		})
	}
}

// fault F43: dials fail for a time, and what is open lives on.
func TestRefuse(t *testing.T) {
	servers(t, clienttest.Options{}, func(t *testing.T, h *harness) {
		w := h.watch(t, configMaps)
		for _, cause := range []error{syscall.ECONNREFUSED, syscall.EMFILE, io.ErrClosedPipe} {
			h.server.Refuse(cause)
			if c, err := h.server.Config().Dial(t.Context(), "tcp", strings.TrimPrefix(h.base, "http://")); !errors.Is(err, cause) {
				t.Errorf("a dial gives %v, %v, want %v", c, err, cause)
			}
		}
		h.server.Refuse(nil)
		h.create(t, "a")
		if got := w.next(t).brief(); got != "ADDED a" {
			t.Errorf("got %s", got)
		}
	})
}

// fault F32, behaviour 77: a server that goes away lets its streams end and takes new requests on other connections.
func TestGoAway(t *testing.T) {
	servers(t, clienttest.Options{}, func(t *testing.T, h *harness) {
		w := h.watch(t, configMaps)
		if n := h.server.GoAway(); n != 1 {
			t.Errorf("%d connections were told, want 1", n)
		}
		if strings.Contains(t.Name(), "in_memory") {
			synctest.Wait()
			h.create(t, "a")
			if n := h.server.Connections(); n != 2 {
				t.Errorf("%d connections are open, want one more than the one that goes away", n)
			}
		} else {
			h.create(t, "a")
		}
		if got := w.next(t).brief(); got != "ADDED a" {
			t.Errorf("the watch that was under way brings %s", got)
		}
		if n := h.server.EndWatches(); n != 1 {
			t.Errorf("ended %d watches, want 1", n)
		}
		if events, err := w.rest(); len(events) != 0 || err != nil {
			t.Errorf("the watch ends with %v, %v", briefs(events), err)
		}
		if strings.Contains(t.Name(), "in_memory") {
			<-time.After(5 * time.Second)
			if n := h.server.Connections(); n != 1 {
				t.Errorf("%d connections are open, want the new one", n)
			}
		}
	})
}

func TestGoAwayBeforeRun(t *testing.T) {
	if n := clienttest.New(clienttest.Options{}).GoAway(); n != 0 {
		t.Errorf("%d connections were told", n)
	}
}

func TestMaxStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{HTTP2: true})
		for range 2*250 + 1 {
			h.watch(t, configMaps)
		}
		h.must(t, http.MethodGet, configMaps, "")
		synctest.Wait()
		if n := h.server.Connections(); n != 3 {
			t.Errorf("501 watches and a list, 250 to a connection, use %d connections, want 3", n)
		}
		h.create(t, "a")
		if n := h.server.Watches(); n != 2*250+1 {
			t.Errorf("%d watches run, want 501", n)
		}
	})
}
