package client_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

const half = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"

// shardOf returns a page of a list whose server says that it applied a selector.
func shardOf(selector, next, item string) string {
	return strings.Replace(listOf("7", next, item), `"continue"`, fmt.Sprintf(`"shardInfo":{"selector":%q},"continue"`, selector), 1)
}

func TestAWatchSkipsObjectsBeforeTheyAreDecoded(t *testing.T) {
	frame := func(kind, object string) string { return fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", kind, object) }
	bad := strings.Replace(object("b", "2"), `"metadata"`, `"data":7,"metadata"`, 1) // it would not decode
	srv := answers(answer{body: frame("ADDED", object("a", "1")) + frame("ADDED", bad) + frame("MODIFIED", bad) + frame("DELETED", bad)})
	var got []string
	err := client.For(connect(t, srv), slims).WatchEach(t.Context(), client.WatchOptions{
		Skip: func(id meta.Identity) bool { return id.Name == "b" },
	}, nil, func(e client.Event[*Slim]) error {
		got = append(got, fmt.Sprint(e.Type, " ", e.Identity.Name, " ", e.Reused, " ", e.Object != nil, " ", e.Err))
		return nil
	})
	want := "ADDED a false true <nil>, ADDED b true false <nil>, MODIFIED b true false <nil>, DELETED b true false <nil>"
	if err != nil || strings.Join(got, ", ") != want {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestEveryRequestOfAListHasItsShardSelector(t *testing.T) {
	srv := answers(
		answer{code: 410, body: status(410, "Expired", "too old")},
		answer{body: shardOf(half, "next", object("a", "1"))},
		answer{body: shardOf(half, "", object("b", "2"))},
	)
	var pages []string
	list, err := client.For(connect(t, srv), slims).List(t.Context(), client.ListOptions{
		ShardSelector: half, ResourceVersion: "5", PageSize: 1,
		OnPage: func(m meta.ListMeta) { pages = append(pages, m.ShardInfo.Selector) },
	})
	if err != nil || list.ShardInfo.Selector != half || len(list.Items) != 2 {
		t.Errorf("got %+v, %v", list, err)
	}
	if len(pages) != 2 || pages[0] != half || pages[1] != half {
		t.Errorf("OnPage got %q", pages)
	}
	selector := "shardSelector=" + url.QueryEscape(half)
	for i, query := range []string{
		"limit=1&resourceVersion=5&resourceVersionMatch=NotOlderThan&" + selector, "limit=1&" + selector, "continue=next&limit=1&" + selector,
	} {
		if got := srv.all()[i].uri; got != "/api/v1/configmaps?"+query {
			t.Errorf("request %d is %s, want the query %s", i, got, query)
		}
	}
}

// Replicas of a server may differ in what they support, and one of them may answer the first page alone.
func TestAListIsAShardOnlyIfEveryPageSaysSo(t *testing.T) {
	a, b := object("a", "1"), object("b", "2")
	for name, test := range map[string]struct {
		pages []string
		want  string
	}{
		"of no page":         {[]string{listOf("7", "x", a), listOf("7", "", b)}, ""},
		"of the first page":  {[]string{shardOf(half, "x", a), listOf("7", "", b)}, ""},
		"of the last page":   {[]string{listOf("7", "x", a), shardOf(half, "", b)}, ""},
		"of another shard":   {[]string{shardOf(half, "x", a), shardOf("another", "y", b), shardOf(half, "", b)}, ""},
		"of all but one":     {[]string{shardOf(half, "x", a), listOf("7", "y", b), shardOf(half, "", b)}, ""},
		"of every page":      {[]string{shardOf(half, "x", a), shardOf(half, "y", b), shardOf(half, "", b)}, half},
		"of the only page":   {[]string{shardOf(half, "", a)}, half},
		"of a page in front": {[]string{listOf("7", "x", a), shardOf(half, "y", b), shardOf(half, "", b)}, ""},
	} {
		list, err := client.For(connect(t, says(test.pages...)), slims).List(t.Context(), client.ListOptions{ShardSelector: half})
		if err != nil || list.ShardInfo.Selector != test.want {
			t.Errorf("%s: got %+v, %v", name, list.ListMeta, err)
		}
	}
}

func TestTheRequestOfAWatchHasItsShardSelector(t *testing.T) {
	srv := says(event("ADDED", object("a", "1")))
	r := client.For(connect(t, srv), slims)
	for _, o := range []client.WatchOptions{{}, {ShardSelector: half}} {
		if err := watch(t.Context(), r, o); err != nil {
			t.Error(err)
		}
	}
	calls := srv.all()
	if calls[0].uri != "/api/v1/configmaps?watch=true" || calls[1].uri != "/api/v1/configmaps?shardSelector="+url.QueryEscape(half)+"&watch=true" {
		t.Errorf("the server got %v", calls)
	}
}

func TestATableOfAShard(t *testing.T) {
	srv := says(`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"columnDefinitions":[],"rows":[]}`)
	if _, err := client.For(connect(t, srv), slims).Table(t.Context(), client.ListOptions{ShardSelector: half}, client.TableOptions{}); err != nil {
		t.Error(err)
	}
	if got := srv.all()[0].uri; got != "/api/v1/configmaps?limit=500&shardSelector="+url.QueryEscape(half) {
		t.Errorf("the server got %s", got)
	}
}
