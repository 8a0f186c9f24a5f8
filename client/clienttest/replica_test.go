package clienttest_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// fault F33: what a replica whose cache is behind answers.
func TestALaggingReplicaAnswersFromItsCache(t *testing.T) {
	for name, lag := range map[string]struct {
		versions int
		age      time.Duration
	}{
		"by versions": {2, 0},
		"by time":     {0, 10 * time.Minute},
		"by both":     {2, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, clienttest.Options{})
				h.create(t, "a")
				before := h.version(t) // 4
				h.server.Replica(0).SetLag(lag.versions, lag.age)
				h.create(t, "b")
				h.create(t, "c")
				now := h.version(t)
				if now != "6" {
					t.Fatalf("the present is %s", now)
				}
				for _, test := range []struct{ query, version, names string }{
					{"", now, "[a b c]"},
					{"?limit=2", now, "[a b]"},
					{"?resourceVersion=0", before, "[a]"},
					{"?resourceVersion=" + before, before, "[a]"},
					{"?resourceVersion=5&resourceVersionMatch=Exact", "5", "[a b]"},
					{"?resourceVersion=6&resourceVersionMatch=Exact", "6", "[a b c]"},
				} {
					list := h.must(t, http.MethodGet, configMaps+test.query, "")
					if got := fmt.Sprint(names(t, list)); got != test.names || at(list, "metadata", "resourceVersion") != test.version {
						t.Errorf("list %s: got %s at %s, want %s at %s", test.query, got, at(list, "metadata", "resourceVersion"), test.names, test.version)
					}
				}
				// A continue token of the present works.
				token := at(h.must(t, http.MethodGet, configMaps+"?limit=2", ""), "metadata", "continue")
				if got := fmt.Sprint(names(t, h.must(t, http.MethodGet, configMaps+"?limit=2&continue="+token, ""))); got != "[c]" {
					t.Errorf("the second page has %s", got)
				}
				for _, test := range []struct {
					query string
					code  int
				}{{"", 200}, {"?resourceVersion=0", 404}, {"?resourceVersion=" + before, 404}} {
					if a := h.do(t, http.MethodGet, configMaps+"/c"+test.query, ""); a.code != test.code {
						t.Errorf("get %s: got %d, want %d", test.query, a.code, test.code)
					}
				}
				// A version that the cache has not is waited for.
				start := time.Now()
				a := h.do(t, http.MethodGet, configMaps+"?resourceVersion="+now, "")
				s := a.status(t)
				if a.code != 504 || s.Message != "Timeout: Too large resource version: 6, current: 4" || s.Details.RetryAfterSeconds != 1 ||
					len(s.Details.Causes) != 1 || s.Details.Causes[0].Reason != "ResourceVersionTooLarge" || time.Since(start) != 3*time.Second {
					t.Errorf("after %s: got %d %s", time.Since(start), a.code, a.body)
				}
				events, err := h.watch(t, configMaps+"?allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan").rest()
				if err != nil || len(events) != 1 || at(string(events[0].Object), "reason") != "Timeout" {
					t.Errorf("a streaming list of the present: got %v, %v", events, err)
				}

				// Watches bring what happens once the cache has it.
				stale := h.watch(t, configMaps+"?resourceVersion=0")
				if got := stale.next(t).brief(); got != "ADDED a" {
					t.Errorf("a watch of anything starts with %s", got)
				}
				late := h.watch(t, configMaps+"?allowWatchBookmarks=true&resourceVersion="+before)
				synctest.Wait()
				h.server.Bookmark()
				if e := late.next(t); e.Type != "BOOKMARK" || at(string(e.Object), "metadata", "resourceVersion") != before {
					t.Errorf("got %s %s, want a bookmark of what the cache has", e.Type, e.Object)
				}
				<-time.After(10 * time.Minute)
				if lag.versions > 0 {
					h.create(t, "d")
					h.create(t, "e")
					<-time.After(10 * time.Minute)
				}
				for _, w := range []*stream{stale, late} {
					for _, want := range []string{"ADDED b", "ADDED c"} {
						for e := w.next(t); ; e = w.next(t) {
							if e.Type == "BOOKMARK" {
								continue
							}
							if e.brief() != want {
								t.Errorf("got %s, want %s", e.brief(), want)
							}
							break
						}
					}
				}
			})
		})
	}
}

func TestALagThatEndsReleasesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		r := h.server.Replica(0)
		r.SetLag(math.MaxInt, 0)
		w := h.watch(t, configMaps+"?resourceVersion="+h.version(t))
		h.create(t, "a")
		listed := make(chan string)
		go func() {
			listed <- fmt.Sprint(names(t, h.must(t, http.MethodGet, configMaps+"?resourceVersion="+h.version(t), "")))
		}()
		<-time.After(2 * time.Second)
		r.SetLag(0, 0)
		if got := <-listed + w.next(t).brief(); got != "[a]ADDED a" {
			t.Errorf("got %s", got)
		}
		// What it has, it keeps.
		r.SetLag(3, time.Minute)
		if list := h.must(t, http.MethodGet, configMaps+"?resourceVersion=0", ""); at(list, "metadata", "resourceVersion") != h.version(t) {
			t.Errorf("the cache went back: %s", list)
		}
	})
}

func TestACacheLagsInEachResourceByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		r := h.server.Replica(0)
		r.SetLag(math.MaxInt, 0, meta.GVR{Version: "v1", Resource: "configmaps"})
		const accounts = "/api/v1/namespaces/default/serviceaccounts"
		has := func(path string) int { return len(names(t, h.must(t, http.MethodGet, path+"?resourceVersion=0", ""))) }
		before := has(accounts)
		h.create(t, "a")
		h.must(t, http.MethodPost, accounts, `{"metadata":{"name":"a"}}`)
		if maps, others := has(configMaps), has(accounts); maps != 0 || others != before+1 {
			t.Errorf("the cache has %d config maps and %d service accounts, want 0 and %d", maps, others, before+1)
		}
		r.SetLag(0, time.Minute) // of all: config maps too, whose cache keeps the version that it has
		if maps := has(configMaps); maps != 0 {
			t.Errorf("the cache has %d config maps at once", maps)
		}
		<-time.After(time.Minute)
		if maps := has(configMaps); maps != 1 {
			t.Errorf("a minute later the cache has %d config maps, want 1", maps)
		}
		defer func() {
			if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "pages") {
				t.Errorf("a lag of a resource that is not there: got %v, want a panic that names it", v)
			}
		}()
		r.SetLag(1, 0, meta.GVR{Group: "example.com", Version: "v1", Resource: "pages"})
	})
}

func TestConnectionsLeadToReplicasInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Replicas: 3})
		h.server.Replica(1).SetLag(math.MaxInt, 0)
		h.create(t, "a") // on the first connection
		var got []int
		for range 6 {
			transport := newTransport(h.server.Config())
			other := &harness{server: h.server, client: &http.Client{Transport: transport}, base: h.base}
			got = append(got, len(names(t, other.must(t, http.MethodGet, configMaps+"?resourceVersion=0", ""))))
			transport.CloseIdleConnections()
		}
		if fmt.Sprint(got) != "[0 1 1 0 1 1]" {
			t.Errorf("connections after the first list %v objects", got)
		}
		// Or as a function for Intercept decides.
		h.server.Intercept(func(*http.Request) http.HandlerFunc { return h.server.Replica(1).ServeHTTP })
		if n := len(names(t, h.must(t, http.MethodGet, configMaps+"?resourceVersion=0", ""))); n != 0 {
			t.Errorf("the replica that was chosen lists %d objects", n)
		}
		// A request from elsewhere is answered by the first.
		w := httptest.NewRecorder()
		h.server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, configMaps+"?resourceVersion=0", nil))
		if n := len(names(t, w.Body.String())); n != 1 {
			t.Errorf("the first replica lists %d objects", n)
		}
	})
}
