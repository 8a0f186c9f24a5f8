package clienttest_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

// fault F13: a bookmark has nothing but a version, in the shape of its kind.
func TestBookmarkOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{gadgets()}})
		version := h.version(t)
		watches := map[string]*stream{}
		for path, want := range map[string]string{
			configMaps:       `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"3"}}`,
			"/api/v1/pods":   `{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"3"},"spec":{"containers":null},"status":{}}`,
			"/api/v1/events": "", "/api/v1/nodes": "", "/api/v1/namespaces": "", "/api/v1/services": "", "/api/v1/secrets": "",
			"/apis/apps/v1/deployments": "", "/apis/coordination.k8s.io/v1/leases": "",
			gadgetsPath: `{"apiVersion":"gadgets.example.com/v1","kind":"Gadget","metadata":{"resourceVersion":"3"}}`,
		} {
			watches[want+path] = h.watch(t, path+"?allowWatchBookmarks=true&resourceVersion="+version)
		}
		h.watch(t, configMaps+"?resourceVersion="+version) // wants none
		synctest.Wait()
		start := time.Now()
		if n := h.server.Bookmark(); n != len(watches) {
			t.Errorf("%d watches get one, want %d", n, len(watches))
		}
		for want, w := range watches {
			e := w.next(t)
			if e.Type != "BOOKMARK" || at(string(e.Object), "metadata") != `{"resourceVersion":"3"}` ||
				strings.HasPrefix(want, "{") && !strings.HasPrefix(want, string(e.Object)+"/") {
				t.Errorf("%s: got %s %s", want, e.Type, e.Object)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("they came after %s", took)
		}
	})
}

// fault F14: a server that sends no bookmarks by itself.
func TestMuteBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		h.server.MuteBookmarks(true)
		w := h.watch(t, configMaps+"?allowWatchBookmarks=true&timeoutSeconds=600&resourceVersion="+h.version(t))
		<-time.After(330 * time.Second)
		h.server.Bookmark()
		synctest.Wait()
		if e, start := w.next(t), time.Now(); e.Type != "BOOKMARK" || time.Since(start) != 0 {
			t.Errorf("got %s", e.Type)
		}
		h.server.MuteBookmarks(false)
		<-time.After(200 * time.Second)
		h.server.MuteBookmarks(true)
		if events, err := w.rest(); len(events) != 3 || err != nil {
			t.Errorf("in 200 s after it was not mute any more: got %v, %v", briefs(events), err)
		}
	})
}

const streaming = "?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=200"

// behaviours 198 and 199: what a server makes of a streaming list.
func TestStreamingLists(t *testing.T) {
	const end = `BOOKMARK {"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"4","annotations":{"k8s.io/initial-events-end":"true"}}}`
	for _, test := range []struct {
		name   string
		mode   clienttest.StreamingLists
		query  string
		events string // their types, the bookmarks of later minutes included
		first  string // the first bookmark
	}{
		{"served", clienttest.StreamingServed, "", "ADDED BOOKMARK BOOKMARK BOOKMARK BOOKMARK BOOKMARK", end},
		{"served to a watch without a version", clienttest.StreamingServed, "legacy", "ADDED BOOKMARK BOOKMARK BOOKMARK BOOKMARK BOOKMARK", end},
		{"ignored", clienttest.StreamingIgnored, "", "ADDED BOOKMARK BOOKMARK BOOKMARK BOOKMARK", "BOOKMARK " +
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"4"}}`},
		{"ignored, from a version", clienttest.StreamingIgnored, "&resourceVersion=4", "BOOKMARK BOOKMARK BOOKMARK BOOKMARK", "BOOKMARK " +
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"4"}}`},
		{"never ended", clienttest.StreamingEndless, "", "ADDED", ""},
		{"refused, and a watch that does not ask", clienttest.StreamingRefused, "legacy", "ADDED BOOKMARK BOOKMARK BOOKMARK BOOKMARK", "BOOKMARK " +
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"4"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, clienttest.Options{StreamingLists: test.mode})
				h.create(t, "a")
				query := streaming + test.query
				if test.query == "legacy" {
					query = "?watch=true&allowWatchBookmarks=true&timeoutSeconds=200"
				}
				s := &stream{resp: h.open(t, http.MethodGet, configMaps+query, "")}
				s.d = newDecoder(s.resp.Body)
				events, err := s.rest()
				types, first := "", ""
				for _, e := range events {
					types += " " + e.Type
					if first == "" && e.Type == "BOOKMARK" {
						first = "BOOKMARK " + string(e.Object)
					}
				}
				if strings.TrimSpace(types) != test.events || first != test.first || err != nil {
					t.Errorf("got%s, first %s, %v", types, first, err)
				}
			})
		})
	}
	t.Run("refused", func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		h.server.SetStreamingLists(clienttest.StreamingRefused)
		refusal{
			method: http.MethodGet, path: configMaps + streaming, code: 422, reason: "Invalid", kind: "ListOptions", group: "meta.k8s.io",
			message: `ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the ` +
				"WatchList feature gate is enabled",
			causes: []string{"sendInitialEvents: FieldValueForbidden"},
		}.check(t, h)
	})
}

// Changes between the initial events and the bookmark that ends them come before it, and it has their version.
func TestABookmarkEndsAStreamingListLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{StreamingLists: clienttest.StreamingEndless})
		h.create(t, "a")
		path := configMaps + strings.TrimPrefix(strings.ReplaceAll(streaming, "&timeoutSeconds=200", "&timeoutSeconds=7200"), "")
		var ws []*stream
		for range 2 {
			s := &stream{resp: h.open(t, http.MethodGet, path, "")}
			s.d = newDecoder(s.resp.Body)
			ws = append(ws, s)
		}
		h.create(t, "b")
		h.must(t, http.MethodDelete, configMaps+"/a", "")
		<-time.After(10 * time.Minute) // no bookmark before that one
		check := func(w *stream) {
			t.Helper()
			for _, want := range []string{"ADDED a", "ADDED b", "DELETED a"} {
				if got := w.next(t).brief(); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			e := w.next(t)
			if e.Type != "BOOKMARK" || at(string(e.Object), "metadata", "annotations", "k8s.io/initial-events-end") != "true" ||
				at(string(e.Object), "metadata", "resourceVersion") != "6" {
				t.Errorf("got %s %s", e.Type, e.Object)
			}
		}
		h.server.Bookmark()
		start := time.Now()
		check(ws[0])
		check(ws[1])
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %s", took)
		}
		late := h.open(t, http.MethodGet, path, "")
		s := &stream{resp: late, d: newDecoder(late.Body)}
		if got := s.next(t).brief(); got != "ADDED b" {
			t.Errorf("got %s", got)
		}
		time.AfterFunc(time.Hour, func() { h.server.Bookmark() })
		if e := s.next(t); e.Type != "BOOKMARK" || time.Since(start) != time.Hour {
			t.Errorf("got %s after %s, want the bookmark after an hour", e.Type, time.Since(start))
		}
	})
}
