package canned

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// The server selects what the selectors of package meta ask for, also in pages, streaming lists and events, once it is told to.
func TestAShardSelectorIsAppliedOrIgnored(t *testing.T) {
	s := serveTest(t)
	var ranges meta.Ranges
	for n := range meta.RangeCount {
		if n%3 == 0 || n > 250 {
			ranges = ranges.With(n)
		}
	}
	var all, want []string
	for i := range podCount {
		all = append(all, UID(i))
		if ranges.Has(meta.ShardByUID.Range(meta.Identity{UID: UID(i)})) {
			want = append(want, UID(i))
		}
	}
	if len(want) < 3 || len(want) > podCount-3 {
		t.Fatalf("%d of %d pods are in the ranges", len(want), podCount)
	}
	selector := "shardSelector=" + url.QueryEscape(meta.ShardByUID.Selector(ranges))
	listed := func(query string) (uids []string) {
		for token := ""; ; {
			l := list(t, s, query+"&continue="+token)
			for _, p := range l.Items {
				uids = append(uids, string(p.UID))
			}
			if token = l.Continue; token == "" {
				return uids
			}
		}
	}
	if got := listed(selector + "&limit=2"); !slices.Equal(got, all) {
		t.Errorf("a server that ignores the selector sends %d pods", len(got))
	}
	control(t, s, "reset?select=true")
	if got := listed(selector + "&limit=2"); !slices.Equal(got, want) {
		t.Errorf("a server that selects lists %q, want %q", got, want)
	}
	if got := listed("limit=2"); !slices.Equal(got, all) {
		t.Errorf("without a selector it lists %d pods", len(got))
	}
	next, leave := watch(t, s, "watch=true&sendInitialEvents=true&"+selector)
	var got []string
	for {
		kind, pod, _ := next()
		if kind == "BOOKMARK" {
			break
		}
		got = append(got, string(pod.UID))
	}
	control(t, s, "modify?events=25&rate=0")
	for range want {
		_, pod, _ := next()
		got = append(got, string(pod.UID))
	}
	leave()
	if twice := slices.Concat(want, want); !slices.Equal(got, twice) {
		t.Errorf("a watch sends %q, want %q", got, twice)
	}
	if sent := s.sent.Load(); sent < 100_000 {
		t.Errorf("the server has sent %d bytes, it says", sent)
	}
	for _, text := range []string{"nonsense", "shardRange(object.metadata.namespace, '0x0000000000000000', '0x8000000000000000')"} {
		response, err := http.Get(s.URL + "/api/v1/pods?shardSelector=" + url.QueryEscape(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusBadRequest {
			t.Errorf("%q is answered with %s, %v", text, response.Status, err)
		}
	}
}
