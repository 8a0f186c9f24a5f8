package debug_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/debug"
	"github.com/bowline-go/bowline/internal/memnet"
)

// serve serves the page in the bubble, and returns a client of it.
func (r *rig) serve() *http.Client {
	r.Helper()
	listener := memnet.Listen()
	server := &http.Server{Handler: r.page, BaseContext: func(net.Listener) context.Context { return r.Context() }}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return listener.DialContext(ctx, network, listener.Addr().String())
	}}
	r.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		<-done
	})
	return &http.Client{Transport: transport}
}

// listener is one stream of events.
type listener struct {
	t      *testing.T
	answer *http.Response
	lines  *bufio.Scanner
	leave  context.CancelFunc
}

func (r *rig) listen(c *http.Client, query, lastID string) *listener {
	r.Helper()
	ctx, cancel := context.WithCancel(r.Context())
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://10.0.0.1/debug?stream&"+query, nil)
	if err != nil {
		r.Fatal(err)
	}
	if lastID != "" {
		q.Header.Set("Last-Event-ID", lastID)
	}
	answer, err := c.Do(q)
	if err != nil {
		r.Fatal(err)
	}
	l := &listener{r.T, answer, bufio.NewScanner(answer.Body), cancel}
	r.Cleanup(l.close)
	return l
}

func (l *listener) close() {
	l.leave()
	_ = l.answer.Body.Close()
}

// next returns the name, the id and the data of the next event; the name of a comment is ":".
func (l *listener) next() (name, id, data string) {
	l.t.Helper()
	for l.lines.Scan() {
		field, value, _ := strings.Cut(l.lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			name = value
		case "id":
			id = value
		case "data":
			data = value
		case "":
			if value != "" {
				return ":", "", value
			}
			if name+id+data != "" {
				return name, id, data
			}
		}
	}
	l.t.Fatalf("the stream has ended: %v", l.lines.Err())
	return "", "", ""
}

// event returns the next event as it is in JSON.
func (l *listener) event() (id string, v map[string]any) {
	l.t.Helper()
	name, id, data := l.next()
	if err := json.Unmarshal([]byte(data), &v); err != nil || name != "" {
		l.t.Fatalf("%s event %s: %v", name, data, err)
	}
	return id, v
}

func TestEventsComeAsTheyHappen(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		c := r.serve()
		r.run(informer.New(client.For(r.client, configMaps), informer.Options{}))
		l := r.listen(c, "kind=watch&q=thing", "")
		if got := l.answer.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
			t.Errorf("Content-Type is %s", got)
		}
		synctest.Wait()
		r.create(configMaps, "other", nil) // which the query leaves out
		r.create(configMaps, "thing-1", nil)
		began := time.Now()
		id, e := l.event()
		if e["kind"] != "watch" || e["what"] != "added" || e["key"] != "default/thing-1" || e["in"] != "configmaps.v1" {
			t.Errorf("the event is %v", e)
		}
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		l.close()

		// A browser that connects again gets what it has missed, and nothing twice.
		for n := range 3 {
			r.create(configMaps, fmt.Sprintf("thing-%d", n+2), nil)
		}
		synctest.Wait()
		again := r.listen(c, "kind=watch&q=thing", id)
		for n := range 3 {
			if _, e := again.event(); e["key"] != fmt.Sprintf("default/thing-%d", n+2) {
				t.Errorf("the next event is %v", e)
			}
		}
		// A stream without events shows that it is alive.
		began = time.Now()
		if name, _, _ := again.next(); name != ":" || time.Since(began) > 20*time.Second {
			t.Errorf("after %v there is %q", time.Since(began), name)
		}
	})
}

func TestASlowClientIsToldWhatItMissed(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		debug.Bound(r.page, 10, 16)
		c := r.serve()
		ctx := r.page.Context(r.Context())
		l := r.listen(c, "kind=request", "")
		synctest.Wait()
		// Within the pause between two batches come more events than are kept.
		things := client.For(r.client, configMaps)
		for range 35 {
			_, _ = things.Get(ctx, meta.Key{Namespace: "default", Name: "none"})
		}
		got, missed := 0, 0
		for got+missed < 35 {
			name, _, data := l.next()
			switch name {
			case "missed":
				n := 0
				_, _ = fmt.Sscan(data, &n)
				missed += n
			case "":
				got++
			}
		}
		if got < 10 || missed < 20 || got+missed != 35 {
			t.Errorf("%d events came, and %d were missed", got, missed)
		}
	})
}

func TestAClientThatDoesNotReadIsGivenUp(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		debug.Bound(r.page, 10_000, 1)
		c := r.serve()
		ctx := r.page.Context(r.Context())
		r.listen(c, "", "")
		synctest.Wait()
		// The text of each event is long, and the buffers between are bounded.
		name := strings.Repeat("n", 200)
		for range 4000 {
			_, _ = client.For(r.client, configMaps).Get(ctx, meta.Key{Namespace: "default", Name: name})
		}
		if code := r.streamCode(c); code != http.StatusServiceUnavailable {
			t.Errorf("a second stream has code %d before the first is given up", code)
		}
		time.Sleep(time.Minute)
		if code := r.streamCode(c); code != http.StatusOK {
			t.Errorf("a second stream has code %d", code)
		}
	})
}

func (r *rig) streamCode(c *http.Client) int {
	r.Helper()
	l := r.listen(c, "", "")
	l.close()
	synctest.Wait()
	return l.answer.StatusCode
}

func TestStreamsAreBounded(t *testing.T) {
	bubble(t, debug.Options{}, func(r *rig) {
		debug.Bound(r.page, 500, 2)
		c := r.serve()
		first := r.listen(c, "", "")
		r.listen(c, "", "")
		third := r.listen(c, "", "")
		if third.answer.StatusCode != http.StatusServiceUnavailable || third.answer.Header.Get("Retry-After") == "" {
			t.Errorf("the third stream has code %d", third.answer.StatusCode)
		}
		first.close() // the place is free when the request's context has ended
		synctest.Wait()
		if code := r.streamCode(c); code != http.StatusOK {
			t.Errorf("after one has left, a stream has code %d", code)
		}
	})
}
