package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// gated is an object that is not decoded before its gate opens, if it has one.
type gated struct{ meta.Identity }

type gates struct {
	sync.Once
	open chan struct{}
}

var gate *gates

func (g *gated) UnmarshalJSON(b []byte) error {
	if strings.Contains(string(b), `"gated"`) {
		<-gate.open
	}
	var v struct {
		Metadata meta.Identity `json:"metadata"`
	}
	err := json.Unmarshal(b, &v)
	g.Identity = v.Metadata
	return err
}

// late is a body that comes in parts, one for each read, and whose end comes only when it is closed. Who waits for the end
// opens the gate.
type late struct {
	parts  []string
	closed context.Context
	close  func()
}

func (l *late) Read(p []byte) (int, error) {
	if len(l.parts) > 0 {
		n := copy(p, l.parts[0])
		if l.parts[0] = l.parts[0][n:]; l.parts[0] == "" {
			l.parts = l.parts[1:]
		}
		return n, nil
	}
	gate.Do(func() { close(gate.open) })
	<-l.closed.Done()
	return 0, io.ErrClosedPipe
}

func (l *late) Close() error {
	l.close()
	return nil
}

// A function that returned io.EOF while a list waited for the end of a page was called again: the list took the error for
// that end, went on to the next page, and handed on objects that nobody had decoded. An error of the caller's is not one of
// the body, whatever it is.
func TestAnErrorOfTheCallersEndsAListEvenIfItIsEOF(t *testing.T) {
	gate = &gates{open: make(chan struct{})}
	// The first part is decoded by the calling goroutine, while the list may still be short; the second one in several batches,
	// all of which have been framed when the list waits for the end of the page.
	const first = 80
	var items []string
	for i := range first {
		items = append(items, object(fmt.Sprint(i), "1", strings.Repeat("x", 500)))
	}
	for range 250 {
		items = append(items, object("gated", "1"))
	}
	page := listOf("5", "2", items...)
	at := strings.Index(page, items[first])
	c := without(t, func(r *http.Request) (*http.Response, error) {
		closed, cancel := context.WithCancel(context.Background())
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
			Body: &late{parts: []string{page[:at], page[at:]}, closed: closed, close: cancel},
		}, nil
	})
	r := client.For(c, client.Type[*gated]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	ended := false
	_, err := r.ListEach(t.Context(), client.ListOptions{}, nil, func(item client.Item[*gated]) error {
		if ended {
			t.Fatalf("fn was called with %v after it had ended the list", item)
		}
		if ended = item.Identity.Name == "gated"; ended {
			return io.EOF
		}
		return nil
	})
	if err != io.EOF {
		t.Errorf("error is %v, want the caller's own", err)
	}
}
