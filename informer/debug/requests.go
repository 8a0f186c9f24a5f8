package debug

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// requests tracks the calls of clients that wait for an answer, and counts those that have ended.
type requests struct {
	mu      sync.Mutex // guards the fields below, and those of each call
	flying  map[*call]bool
	sent    int // HTTP exchanges
	failed  int // those without an answer, or with a code of 400 or more
	limited int // those with 429
	retried int
}

// call is one call of a client, from its first attempt to the end of its last one. For a list or a watch, the call ends
// when the answer begins.
type call struct {
	info  client.RequestInfo
	began time.Time

	attempts int
	err      string    // of the last attempt
	again    time.Time // of the next attempt, while the call waits for it
}

type callKey struct{}

func (p *Page) requestHooks() client.Hooks {
	return client.Hooks{
		Call: func(ctx context.Context, r client.RequestInfo) (context.Context, func(error)) {
			c := &call{info: r, began: time.Now(), attempts: 1}
			p.requests.add(c)
			return context.WithValue(ctx, callKey{}, c), func(error) { p.requests.remove(c) }
		},
		Request: func(_ context.Context, r client.RequestInfo) {
			bad := r.Err != nil || r.Code >= http.StatusBadRequest
			p.requests.count(r, bad)
			v := event{Kind: ofRequest, What: r.Verb, In: target(r), Key: objectName(r.Key), Took: r.Duration, Bad: bad}
			if v.Text = fmt.Sprintf("%s %d", r.Method, r.Code); r.Err != nil {
				v.Text = r.Method + ": " + r.Err.Error()
			}
			p.events.add(v)
		},
		Retry: func(ctx context.Context, r client.RequestInfo) {
			c, _ := ctx.Value(callKey{}).(*call)
			text := errorText(r.Err)
			p.requests.retry(c, text, r.Wait)
			p.events.add(event{
				Kind: ofRetry, What: r.Verb, In: target(r), Key: objectName(r.Key), Bad: true,
				Text: fmt.Sprintf("attempt %d failed, the next one follows in %v: %s", r.Attempt, short(r.Wait), text),
			})
		},
		Warning: func(_ context.Context, w client.Warning) {
			p.events.add(event{Kind: ofWarning, What: "server", In: w.Agent, Text: w.Text})
		},
		Stale: func(_ context.Context, err error) {
			p.events.add(event{Kind: ofWarning, What: "stale credential", Text: errorText(err), Bad: true})
		},
	}
}

func (r *requests) add(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flying == nil {
		r.flying = make(map[*call]bool)
	}
	r.flying[c] = true
}

func (r *requests) remove(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.flying, c)
}

func (r *requests) count(of client.RequestInfo, bad bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent++
	if bad {
		r.failed++
	}
	if of.Code == http.StatusTooManyRequests {
		r.limited++
	}
}

func (r *requests) retry(c *call, text string, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retried++
	if c != nil {
		c.attempts++
		c.err, c.again = clean(text), time.Now().Add(wait)
	}
}

// requestsModel is what the page shows about requests.
type requestsModel struct {
	Sent     int           `json:"sent"`
	Failed   int           `json:"failed"`
	Limited  int           `json:"limited"`
	Retried  int           `json:"retried"`
	InFlight []flight      `json:"inFlight"` // the longest first
	More     int           `json:"more,omitempty"`
	Longest  time.Duration `json:"longestNs"`
	Retries  []event       `json:"retries"` // the latest first
}

type flight struct {
	Verb     string     `json:"verb"`
	Target   string     `json:"target"`
	Key      string     `json:"key,omitempty"`
	Host     string     `json:"host"`
	Since    time.Time  `json:"since"`
	Attempts int        `json:"attempts"`
	Err      string     `json:"error,omitempty"`
	Again    *time.Time `json:"again,omitempty"`
}

const mostFlights, mostRetries = 20, 10

func (p *Page) requestsModel(now time.Time) requestsModel {
	m := p.requests.model(now)
	retries, _ := p.events.since(0, []kind{ofRetry}, mostRetries)
	slices.Reverse(retries)
	m.Retries = append([]event{}, retries...) // so that the JSON has [] and not null
	return m
}

func (r *requests) model(now time.Time) requestsModel {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := requestsModel{Sent: r.sent, Failed: r.failed, Limited: r.limited, Retried: r.retried, InFlight: []flight{}}
	for c := range r.flying {
		f := flight{
			Verb: clean(c.info.Verb), Target: clean(target(c.info)), Key: clean(objectName(c.info.Key)), Host: clean(c.info.Host),
			Since: c.began, Attempts: c.attempts, Err: c.err,
		}
		if c.again.After(now) {
			again := c.again
			f.Again = &again
		}
		m.InFlight = append(m.InFlight, f)
	}
	slices.SortFunc(m.InFlight, func(a, b flight) int { return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Key, b.Key)) })
	if len(m.InFlight) > 0 {
		m.Longest = now.Sub(m.InFlight[0].Since)
	}
	if m.More = max(0, len(m.InFlight)-mostFlights); m.More > 0 {
		m.InFlight = m.InFlight[:mostFlights]
	}
	return m
}

// target names the resource of a request, with its subresource.
func target(r client.RequestInfo) string {
	name := r.Resource.String()
	if r.Subresource != "" {
		name += "/" + r.Subresource
	}
	return name
}

// objectName returns a key in a form for people: "namespace/name", a name, or "namespace/" for a collection.
func objectName(k meta.Key) string {
	switch {
	case k.Namespace == "":
		return k.Name
	case k.Name == "":
		return k.Namespace + "/"
	}
	return k.Namespace + "/" + k.Name
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
