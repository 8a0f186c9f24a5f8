package recorder_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
)

// Page is an object that records are about.
type Page struct {
	meta.Identity `json:"metadata"`
}

var (
	Pages = client.Type[*Page]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"}
	Sites = client.Type[*Page]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites", Scope: meta.Cluster}
)

func page(name string) *Page {
	return &Page{meta.Identity{Namespace: "default", Name: name, UID: "uid-of-" + name, ResourceVersion: "7"}}
}

// Event is a record as the server has it.
type Event struct {
	meta.ObjectMeta `json:"metadata"`
	EventTime       meta.MicroTime `json:"eventTime"`
	Series          *struct {
		Count            int            `json:"count"`
		LastObservedTime meta.MicroTime `json:"lastObservedTime"`
	} `json:"series"`
	Regarding           map[string]string `json:"regarding"`
	Related             map[string]string `json:"related"`
	Action              string            `json:"action"`
	Reason              string            `json:"reason"`
	Note                string            `json:"note"`
	Type                string            `json:"type"`
	ReportingController string            `json:"reportingController"`
	ReportingInstance   string            `json:"reportingInstance"`
}

// count is how often the record has been made.
func (e *Event) count() int {
	if e.Series == nil {
		return 1
	}
	return e.Series.Count
}

var Events = client.Type[*Event]{Group: "events.k8s.io", Version: "v1", Kind: "Event", Resource: "events"}

// rig is a server, a client and a recorder, in a bubble of virtual time.
type rig struct {
	*testing.T
	server   *clienttest.Server
	c        *client.Client
	events   client.Resource[*Event]
	recorder *recorder.Recorder
	pages    recorder.About[*Page]

	mu   sync.Mutex
	errs []error // that OnError has got
}

// bubble runs f with a recorder that has o, a hook OnError that collects, and a name. Run has not begun.
func bubble(t *testing.T, o recorder.Options, f func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		config := server.Config()
		config.Retry.Attempts = 1
		c, err := client.New(config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		r := &rig{T: t, server: server, c: c, events: client.For(c, Events)}
		if o.Controller == "" {
			o.Controller, o.Instance = "example.com/pages", "pages-1"
		}
		if o.OnError == nil {
			o.OnError = func(err error) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.errs = append(r.errs, err)
			}
		}
		r.recorder = recorder.New(c, o)
		r.pages = recorder.For(r.recorder, Pages)
		f(r)
	})
}

// start begins a Run. The function that it returns ends it and waits.
func (r *rig) start() (stop func()) {
	r.Helper()
	ctx, cancel := context.WithCancel(r.Context())
	done := make(chan error, 1)
	go func() { done <- r.recorder.Run(ctx) }()
	var once sync.Once
	stop = func() {
		r.Helper()
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				r.Errorf("Run returned %v", err)
			}
		})
	}
	r.Cleanup(stop)
	synctest.Wait()
	return stop
}

// taken returns the records that the server has, in the order in which they were made.
func (r *rig) taken() []*Event {
	r.Helper()
	list, err := r.events.List(context.WithoutCancel(r.Context()), client.ListOptions{})
	if err != nil {
		r.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b *Event) int {
		return cmp.Or(a.EventTime.Compare(b.EventTime.Time), cmp.Compare(a.Regarding["name"], b.Regarding["name"]), cmp.Compare(a.Name, b.Name))
	})
	return list.Items
}

// told returns the errors that OnError has got since it was last called.
func (r *rig) told() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	errs := r.errs
	r.errs = nil
	return errs
}

// want fails the test unless the server has these records: object, reason, count and note of each.
func (r *rig) want(lines ...string) {
	r.Helper()
	synctest.Wait()
	var got []string
	for _, e := range r.taken() {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s x%d %s", e.Regarding["name"], e.Reason, e.count(), e.Note)))
	}
	if !slices.Equal(got, lines) {
		r.Errorf("the server has\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(lines, "\n  "))
	}
}

// wantStatus fails the test unless the recorder's numbers are these.
func (r *rig) wantStatus(want string) {
	r.Helper()
	s := r.recorder.Status()
	s.Err = nil
	if got := s.String(); got != want {
		r.Errorf("the status is %s, want %s", got, want)
	}
}

// writes returns how many requests for records there have been.
func (r *rig) writes() (creates, patches int) {
	calls := r.server.Requests()
	return calls[clienttest.Call{Verb: "create", Resource: "events"}], calls[clienttest.Call{Verb: "patch", Resource: "events"}]
}

// answer has the server answer writes of records by what f returns, and in the usual way where that is nil.
func (r *rig) answer(f func(q clienttest.Request) http.HandlerFunc) {
	r.server.Intercept(func(req *http.Request) http.HandlerFunc {
		q := clienttest.RequestOf(req)
		if q.Resource.Resource != "events" || q.Verb != "create" && q.Verb != "patch" {
			return nil
		}
		return f(q)
	})
}

// after sleeps, in virtual time, until all is still.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
