package clienttest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

// history makes the changes that the tests below watch, and returns the version before them.
func history(t *testing.T, h *harness) string {
	t.Helper()
	before := h.version(t)
	h.create(t, "a", `"labels":{"l":"1"}`)
	h.create(t, "b")
	h.must(t, http.MethodPatch, configMaps+"/a", `{"data":{"k":"2"}}`)
	h.must(t, http.MethodPatch, configMaps+"/a", `{"metadata":{"labels":{"l":"2"}}}`)
	h.must(t, http.MethodPatch, configMaps+"/a", `{"data":{"k":"3"}}`)
	h.must(t, http.MethodPatch, configMaps+"/a", `{"metadata":{"labels":{"l":"1"}}}`)
	h.must(t, http.MethodDelete, configMaps+"/a", "")
	h.must(t, http.MethodPost, "/api/v1/namespaces/kube-system/configmaps", `{"metadata":{"name":"c"}}`)
	return before
}

func TestWatchesReplayHistory(t *testing.T) {
	for _, test := range []struct{ name, path, query, want string }{
		{
			"everything", "/api/v1/configmaps", "resourceVersion=%d",
			"ADDED a, ADDED b, MODIFIED a, MODIFIED a, MODIFIED a, MODIFIED a, DELETED a, ADDED c",
		},
		{"one namespace", configMaps, "resourceVersion=%d", "ADDED a, ADDED b, MODIFIED a, MODIFIED a, MODIFIED a, MODIFIED a, DELETED a"},
		{"from a version on, without it", configMaps, "resourceVersion=%d+6", "DELETED a"},
		{"from the present version", configMaps, "resourceVersion=%d+8", ""},
		{"from the future: what is older is left out", configMaps, "resourceVersion=%d+100", ""},
		{
			"labels: who comes is added, who goes is deleted", configMaps, "resourceVersion=%d&labelSelector=l%%3D1",
			"ADDED a, MODIFIED a, DELETED a, ADDED a, DELETED a",
		},
		{"a name", configMaps, "resourceVersion=%d&fieldSelector=metadata.name%%3Db", "ADDED b"},
		{"no version: what is there first", configMaps, "", "ADDED b"},
		{"any version: what is there first", "/api/v1/configmaps", "resourceVersion=0", "ADDED b, ADDED c"},
		{"what is there, with selectors", configMaps, "labelSelector=l", ""},
		{"initial events wanted", configMaps, "resourceVersionMatch=NotOlderThan&sendInitialEvents=true&resourceVersion=%d", "ADDED b"},
		{"initial events not wanted", configMaps, "resourceVersionMatch=NotOlderThan&sendInitialEvents=false&resourceVersion=%d+6", "DELETED a"},
		{"initial events not wanted from any version", configMaps, "resourceVersionMatch=NotOlderThan&sendInitialEvents=false", ""},
		{"the end of what is there is marked for those who allow bookmarks", configMaps, "allowWatchBookmarks=true", "ADDED b, BOOKMARK end"},
		{"also where there is nothing", configMaps, "labelSelector=none&resourceVersion=0&allowWatchBookmarks=true", "BOOKMARK end"},
		{"but not after a version", configMaps, "resourceVersion=%d+6&allowWatchBookmarks=true", "DELETED a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, clienttest.Options{})
				var before int
				fmt.Sscan(history(t, h), &before)
				query := test.query
				if strings.Contains(query, "%d") {
					head, plus, _ := strings.Cut(query, "+")
					offset := 0
					fmt.Sscan(plus, &offset)
					query = fmt.Sprintf(head, before+offset)
				}
				w := h.watch(t, test.path+"?timeoutSeconds=1&"+query)
				events, err := w.rest()
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				last := 0
				for _, e := range events {
					version := 0
					fmt.Sscan(at(string(e.Object), "metadata", "resourceVersion"), &version)
					if version < last {
						t.Errorf("versions go from %d to %d", last, version)
					}
					if strings.Contains(test.query, "%d") {
						last = version
					}
					if e.Type == "BOOKMARK" && at(string(e.Object), "metadata", "annotations", "k8s.io/initial-events-end") == "true" {
						got = append(got, "BOOKMARK end")
						continue
					}
					got = append(got, e.brief())
				}
				if strings.Join(got, ", ") != test.want {
					t.Errorf("got %s, want %s", strings.Join(got, ", "), test.want)
				}
			})
		})
	}
}

func TestEventsAreWrittenAsTheRealServerWritesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
		h.must(t, http.MethodPost, configMaps, `{"metadata":{"name":"a"}}`)
		h.must(t, http.MethodDelete, configMaps+"/a", "")
		h.must(t, http.MethodPost, widgetPath, `{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"w"}}`)
		const (
			object   = `"name":"a","namespace":"default","uid":"UID","resourceVersion":"%d","creationTimestamp":"2000-01-01T00:00:00Z"`
			partial  = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
			bookmark = `{"type":"BOOKMARK","object":{"kind":"%s","apiVersion":"%s","metadata":{"resourceVersion":"6"}}}` + "\n"
		)
		for _, test := range []struct{ name, path, accept, want string }{
			{
				"a compiled-in type", configMaps, "", fmt.Sprintf(`{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{`+object+`}}}`+"\n"+
					`{"type":"DELETED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{`+object+`}}}`+"\n"+bookmark, 4, 5, "ConfigMap", "v1"),
			},
			{
				"metadata alone", configMaps, partial, fmt.Sprintf(`{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",`+
					`"metadata":{`+object+`}}}`+"\n"+`{"type":"DELETED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",`+
					`"metadata":{`+object+`}}}`+"\n"+bookmark, 4, 5, "PartialObjectMetadata", "meta.k8s.io/v1"),
			},
			{
				"a custom type", widgetPath, "", `{"type":"ADDED","object":{"apiVersion":"example.dev/v1","kind":"Widget","metadata":{` +
					`"creationTimestamp":"2000-01-01T00:00:00Z","generation":1,"name":"w","namespace":"default","resourceVersion":"6","uid":"UID"}}}` + "\n" +
					`{"type":"BOOKMARK","object":{"apiVersion":"example.dev/v1","kind":"Widget","metadata":{"resourceVersion":"6"}}}` + "\n",
			},
		} {
			got := h.must(t, http.MethodGet, test.path+"?watch=true&resourceVersion=3&allowWatchBookmarks=true&timeoutSeconds=3", "", "Accept", test.accept)
			if got := hideUID(got); got != test.want {
				t.Errorf("%s: got\n%swant\n%s", test.name, got, test.want)
			}
		}
	})
}

// guarantee of the list and watch contract: a watch from a list's version sees everything that happens after it, once.
func TestNothingIsLostBetweenListAndWatch(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	const writers, each = 4, 50
	var wg, writing sync.WaitGroup
	for i := range writers {
		writing.Go(func() {
			for j := range each {
				name := fmt.Sprintf("w%d-%d", i, j)
				h.create(t, name)
				if j%3 == 0 {
					h.must(t, http.MethodDelete, configMaps+"/"+name, "")
				}
			}
		})
	}
	for range 3 {
		wg.Go(func() {
			list := h.must(t, http.MethodGet, configMaps, "")
			state := map[string]bool{}
			for _, name := range names(t, list) {
				state[name] = true
			}
			w := h.watch(t, configMaps+"?resourceVersion="+at(list, "metadata", "resourceVersion"))
			for !state["last"] {
				e := w.next(t)
				kind, name, _ := strings.Cut(e.brief(), " ")
				if state[name] == (kind == "ADDED") {
					t.Errorf("got %s while its being there is %v", e.brief(), state[name])
				}
				state[name] = kind == "ADDED"
				if kind == "DELETED" {
					delete(state, name)
				}
			}
			if got, want := len(state), len(names(t, h.must(t, http.MethodGet, configMaps, ""))); got != want {
				t.Errorf("the watch leads to %d objects, there are %d", got, want)
			}
		})
	}
	writing.Wait()
	h.create(t, "last")
	wg.Wait()
}

func TestWatchTime(t *testing.T) {
	run := func(t *testing.T, o clienttest.Options, query string, during func(h *harness)) (got []string, took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, o)
			w := h.watch(t, configMaps+"?resourceVersion=3&"+query)
			start := time.Now()
			go during(h)
			for {
				e, err := w.tryNext()
				if err != nil {
					if err.Error() != "EOF" {
						t.Errorf("the watch ends with %v", err)
					}
					break
				}
				got = append(got, fmt.Sprintf("%s %s@%s", time.Since(start), e.Type, at(string(e.Object), "metadata", "resourceVersion")))
			}
			took = time.Since(start)
		})
		return got, took
	}
	nothing := func(*harness) {}
	for _, test := range []struct {
		name   string
		o      clienttest.Options
		query  string
		during func(h *harness)
		want   string
		took   time.Duration
	}{
		{name: "timeoutSeconds ends a watch", query: "timeoutSeconds=90", during: nothing, took: 90 * time.Second},
		{name: "a watch without it ends too", query: "", during: nothing, took: 45 * time.Minute},
		{
			name: "a bookmark comes every minute, and just before the end", query: "timeoutSeconds=150&allowWatchBookmarks=true",
			during: nothing, want: "1m0s BOOKMARK@3, 2m0s BOOKMARK@3, 2m28s BOOKMARK@3", took: 150 * time.Second,
		},
		{
			name: "or as often as wanted", o: clienttest.Options{BookmarkEvery: time.Second}, query: "timeoutSeconds=2&allowWatchBookmarks=true",
			during: nothing, want: "1s BOOKMARK@3, 2s BOOKMARK@3", took: 2 * time.Second,
		},
		{
			// fault F14: what happens elsewhere moves a bookmark, so an idle watch does not start at a version that is too old.
			name: "it carries the version of everything", query: "timeoutSeconds=100&allowWatchBookmarks=true",
			during: func(h *harness) {
				h.must(t, http.MethodPost, "/api/v1/nodes", `{"metadata":{"name":"n"}}`)
				<-time.After(61 * time.Second)
				h.create(t, "a")
			},
			want: "1m0s BOOKMARK@4, 1m1s ADDED@5, 1m38s BOOKMARK@5", took: 100 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, took := run(t, test.o, test.query, test.during)
			if test.o.BookmarkEvery == time.Second && len(got) == 1 {
				test.want = "1s BOOKMARK@3" // the second one and the end are due at the same time
			}
			if strings.Join(got, ", ") != test.want || took != test.took {
				t.Errorf("got %s in %s, want %s in %s", strings.Join(got, ", "), took, test.want, test.took)
			}
		})
	}
}

func TestInvalidWatchesAreRefused(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	const forbidden = "resourceVersionMatch: FieldValueForbidden"
	options := func(name, query, message string, causes ...string) refusal {
		return refusal{
			name: name, path: configMaps + "?watch=true&" + query, code: 422, reason: "Invalid", kind: "ListOptions", group: "meta.k8s.io",
			message: `ListOptions.meta.k8s.io "" is invalid: ` + message, causes: causes,
		}
	}
	for _, test := range []refusal{
		options("a match without initial events", "resourceVersionMatch=NotOlderThan", "resourceVersionMatch: Forbidden: "+
			"resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided", forbidden),
		options("an exact match", "resourceVersionMatch=Exact", "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for "+
			`watch unless sendInitialEvents is provided, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]`,
			forbidden, "resourceVersionMatch: FieldValueNotSupported"),
		options("initial events without a match", "sendInitialEvents=true", "resourceVersionMatch: Forbidden: sendInitialEvents requires "+
			"setting resourceVersionMatch to NotOlderThan", forbidden),
		options("a match with continue", "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x", "resourceVersionMatch: "+
			"Forbidden: resourceVersionMatch is forbidden when continue is provided", forbidden),
		{
			name: "a version that is no number", path: configMaps + "?watch=true&resourceVersion=x", code: 500,
			message: `resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax`,
		},
		{
			name: "a time that is no number", path: configMaps + "?watch=true&timeoutSeconds=x", code: 400, reason: "BadRequest",
			message: `strconv.ParseInt: parsing "x": invalid syntax`,
		},
		{
			name: "a bad selector", path: configMaps + "?watch=true&labelSelector=" + url.QueryEscape("a in ("), code: 400,
			reason: "BadRequest", message: "unable to parse requirement: ...",
		},
		{
			name: "a form that is not there", path: configMaps + "?watch=true", code: 406, reason: "NotAcceptable", message: "only the...",
		},
	} {
		test.method = http.MethodGet
		t.Run(test.name, func(t *testing.T) {
			if test.code == 406 {
				if a := h.do(t, test.method, test.path, "", "Accept", "text/html"); a.code != 406 {
					t.Errorf("got %d %s", a.code, a.body)
				}
				return
			}
			test.check(t, h)
		})
	}
}

// fault F6: a version that is too old is an ERROR event within a good answer, as on a real server.
func TestAWatchFromATooOldVersionGetsAnErrorEvent(t *testing.T) {
	want := func(version, oldest string) string {
		return `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource ` +
			`version: ` + version + ` (` + oldest + `)","reason":"Expired","code":410}}` + "\n"
	}
	for name, age := range map[string]func(t *testing.T, h *harness){
		"by Compact": func(t *testing.T, h *harness) { h.server.Compact() },
		"by age": func(t *testing.T, h *harness) {
			<-time.After(5*time.Minute + 2*time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, clienttest.Options{})
				before := h.version(t)
				h.create(t, "a")
				now := h.version(t)
				age(t, h)
				if got := h.must(t, http.MethodGet, configMaps+"?watch=true&resourceVersion="+before, ""); got != want(before, now) {
					t.Errorf("got %s, want %s", got, want(before, now))
				}
				events, err := h.watch(t, configMaps+"?timeoutSeconds=1&resourceVersion="+now).rest()
				if len(events) != 0 || err != nil {
					t.Errorf("from the present version: got %v, %v", briefs(events), err)
				}
			})
		})
	}
	t.Run("initial events from the future", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, clienttest.Options{})
			start := time.Now()
			events, err := h.watch(t, configMaps+"?resourceVersionMatch=NotOlderThan&sendInitialEvents=true&resourceVersion=99").rest()
			if len(events) != 1 || events[0].Type != "ERROR" || at(string(events[0].Object), "code") != "504" || err != nil ||
				time.Since(start) != 3*time.Second {
				t.Errorf("got %v, %v after %s", events, err, time.Since(start))
			}
		})
	})
}

func TestAWatchFromTheFutureLeavesOutWhatComesBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		w := h.watch(t, configMaps+"?resourceVersion=5") // the present is 3
		synctest.Wait()
		for i := range 4 {
			h.create(t, fmt.Sprint("a", i))
		}
		if got := w.next(t).brief(); got != "ADDED a2" {
			t.Errorf("got %s, want ADDED a2", got)
		}
	})
}

// A deleted object is its last state with the version of the deletion, which may have more digits.
func TestADeletedObjectCarriesTheVersionOfItsDeletion(t *testing.T) {
	for _, accept := range []string{"application/json", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"} {
		h := newHarness(t, clienttest.Options{})
		created := h.create(t, "a")
		for at(created, "metadata", "resourceVersion") != "9" {
			created = h.must(t, http.MethodPatch, configMaps+"/a", `{"metadata":{"labels":{"l":"`+h.version(t)+`"}}}`)
		}
		h.must(t, http.MethodDelete, configMaps+"/a", "")
		e := h.watch(t, configMaps+"?resourceVersion=9&timeoutSeconds=1", "Accept", accept).next(t)
		if e.brief() != "DELETED a" || at(string(e.Object), "metadata", "resourceVersion") != "10" {
			t.Errorf("%s: got %s %s", accept, e.Type, e.Object)
		}
	}
}

// Compact does not touch the watches that run.
func TestCompactLeavesRunningWatchesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		w := h.watch(t, configMaps)
		synctest.Wait()
		for i := range 3 {
			h.create(t, fmt.Sprint("a", i))
			h.server.Compact()
		}
		for i := range 3 {
			if got, want := w.next(t).brief(), fmt.Sprint("ADDED a", i); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

func TestASlowWatchIsCutAndDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{}.Bounded(0, 10))
		pad := strings.Repeat("x", 60_000)
		slow := h.watch(t, configMaps)
		fast := h.watch(t, configMaps)
		got := make(chan int)
		go func() {
			events, err := fast.rest()
			if err != nil {
				t.Errorf("the fast watch ends with %v", err)
			}
			got <- len(events)
		}()
		h.create(t, "a")
		const writes = 40 // of which the slow one's connection holds about four
		start := time.Now()
		for i := range writes {
			h.must(t, http.MethodPatch, configMaps+"/a", fmt.Sprintf(`{"data":{"k":"%d%s"}}`, i, pad))
			synctest.Wait()
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("writes waited for %s", took)
		}
		<-time.After(time.Second) // the slow one has a moment to end within a frame
		if n := h.server.Watches(); n != 1 {
			t.Errorf("%d watches run, want the fast one", n)
		}
		events, err := slow.rest()
		if err == nil || len(events) == 0 || len(events) > 20 {
			t.Errorf("the slow watch got %d events and ends with %v", len(events), err)
		}
		<-time.After(time.Hour)
		if n := <-got; n != writes+1 {
			t.Errorf("the fast watch got %d events, want %d", n, writes+1)
		}
	})
}

func TestAClientThatLeavesEndsItsWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer h.send(t, ctx, http.MethodGet, configMaps+"?watch=true", "").Body.Close()
		synctest.Wait()
		if n := h.server.Watches(); n != 1 {
			t.Errorf("%d watches run, want 1", n)
		}
		cancel()
		synctest.Wait()
		if n := h.server.Watches(); n != 0 {
			t.Errorf("%d watches run, want none", n)
		}
	})
}

// A fault that cuts a watch's body left it among the running ones for ever.
func TestAWatchWhoseBodyIsCutHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		h.server.Intercept(func(*http.Request) http.HandlerFunc { return h.server.CutBody(5) })
		w := h.watch(t, configMaps)
		h.server.Intercept(nil)
		h.create(t, "a")
		if events, err := w.rest(); err == nil || len(events) != 0 {
			t.Errorf("the watch brought %d events and ends with %v, want none and an error", len(events), err)
		}
		synctest.Wait()
		if n := h.server.Watches(); n != 0 {
			t.Errorf("%d watches run, want none", n)
		}
	})
}
