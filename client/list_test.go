package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// behaviours 20, 79 and 80
func TestListReadsEveryPage(t *testing.T) {
	const first = "/api/v1/namespaces/web/configmaps?labelSelector=a%3Db&limit=2&resourceVersion=3&resourceVersionMatch=NotOlderThan"
	const next = "/api/v1/namespaces/web/configmaps?continue=%s&labelSelector=a%%3Db&limit=2"
	for _, test := range []struct {
		name  string
		pages []string
		want  string
		uris  []string
	}{
		{"no object", []string{listOf("5", "")}, "", []string{first}},
		{
			"an items member that is null",
			[]string{`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":null}`},
			"",
			[]string{first},
		},
		{
			"no items member",
			[]string{`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"5"}}`},
			"",
			[]string{first},
		},
		{"one short page", []string{listOf("5", "", object("a", "1"))}, "a", []string{first}},
		{"one full page", []string{listOf("5", "", object("a", "1"), object("b", "2"))}, "a b", []string{first}},
		{
			"two pages",
			[]string{listOf("5", "c 1", object("a", "1"), object("b", "2")), listOf("5", "", object("c", "3"))},
			"a b c",
			[]string{first, fmt.Sprintf(next, "c+1")},
		},
		{
			"three pages, of which one is empty",
			[]string{listOf("5", "c1", object("a", "1")), listOf("5", "c2"), listOf("5", "", object("b", "2"))},
			"a b",
			[]string{first, fmt.Sprintf(next, "c1"), fmt.Sprintf(next, "c2")},
		},
		{
			"the metadata after the items",
			[]string{
				`{"items":[` + object("a", "1") + `],"metadata":{"resourceVersion":"5","continue":"c1"},"apiVersion":"v1","kind":"ConfigMapList"}`,
				`{"metadata":{"resourceVersion":"5"},"items":[` + object("b", "2") + `],"apiVersion":"v1","kind":"ConfigMapList"}`,
			},
			"a b",
			[]string{first, fmt.Sprintf(next, "c1")},
		},
		{
			"items without a kind, as most servers send them",
			[]string{listOf("5", "", `{"metadata":{"name":"a"}}`, `{"metadata":{"name":"b"}}`)},
			"a b",
			[]string{first},
		},
		{
			"the same object twice, as an inconsistent list has it",
			[]string{listOf("5", "c1", object("a", "1")), listOf("5", "", object("a", "2"))},
			"a a",
			[]string{first, fmt.Sprintf(next, "c1")},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := says(test.pages...)
			r := client.For(connect(t, srv), slims)
			o := client.ListOptions{
				Namespace: "web", LabelSelector: "a=b", PageSize: 2, ResourceVersion: "3", ResourceVersionMatch: client.NotOlderThan,
			}
			list := must[meta.List[*Slim]](t)(r.List(t.Context(), o))
			var names []string
			for _, obj := range list.Items {
				names = append(names, obj.Name)
			}
			if got := strings.Join(names, " "); got != test.want || list.Items == nil {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if list.ResourceVersion != "5" || list.Continue != "" {
				t.Errorf("metadata is %+v", list.ListMeta)
			}
			var uris []string
			for _, c := range srv.all() {
				uris = append(uris, c.uri)
			}
			if !slices.Equal(uris, test.uris) {
				t.Errorf("requests are %q\n        want %q", uris, test.uris)
			}
			names, bad, err := collect(t.Context(), client.For(connect(t, says(test.pages...)), slims), o)
			if got := strings.Join(names, " "); got != test.want || len(bad) > 0 || err != nil {
				t.Errorf("All gives %q, %v, %v", got, bad, err)
			}
		})
	}
}

// A watch that starts from the list must miss nothing that happened since its first page.
func TestTheVersionOfAListIsThatOfItsFirstPage(t *testing.T) {
	r := client.For(connect(t, says(listOf("5", "c1", object("a", "1")), listOf("9", "", object("b", "2")))), slims)
	if got := must[meta.List[*Slim]](t)(r.List(t.Context(), client.ListOptions{})).ResourceVersion; got != "5" {
		t.Errorf("version is %s, want 5", got)
	}
}

func TestTheKindOfAnItemIsFilledIn(t *testing.T) {
	r := client.For(connect(t, says(listOf("5", "", `{"metadata":{"name":"a"}}`))), configMaps)
	obj := must[meta.List[*ConfigMap]](t)(r.List(t.Context(), client.ListOptions{})).Items[0]
	if obj.Kind != "ConfigMap" || obj.APIVersion != "v1" {
		t.Errorf("it is a %s %s", obj.APIVersion, obj.Kind)
	}
}

// guarantee: an object that does not decode costs nobody else. behaviour 224
func TestOneBadObjectDoesNotStopAll(t *testing.T) {
	page := listOf("5", "",
		object("a", "1"),
		`{"metadata":{"namespace":"web","name":"bad","uid":"u","resourceVersion":"2"},"data":{"k":7}}`,
		`{"kind":"Secret","apiVersion":"v1","metadata":{"namespace":"web","name":"other"}}`,
		`{"metadata":{"namespace":"web"}}`,
		`{}`,
		object("b", "3"))
	r := client.For(connect(t, says(page)), slims)
	names, bad, err := collect(t.Context(), r, client.ListOptions{})
	if strings.Join(names, " ") != "a b" || err != nil {
		t.Errorf("got %v and %v", names, err)
	}
	want := []string{
		`list configmaps: decode "web/bad" (resource version "2"): `,
		`list configmaps: decode "web/other" (resource version ""): server sent v1 Secret, want v1 ConfigMap`,
		`list configmaps: decode "web/" (resource version ""): metadata.name must not be empty`,
		`list configmaps: decode "" (resource version ""): metadata.name must not be empty`,
	}
	if len(bad) != len(want) {
		t.Fatalf("got %d bad objects: %v", len(bad), bad)
	}
	for i, part := range want {
		wantErr(t, bad[i], part)
	}

	_, err = r.List(t.Context(), client.ListOptions{})
	if e := is[*client.DecodeError](t, err); e.Identity.Name != "bad" {
		t.Errorf("List failed on %+v", e.Identity)
	}
	wantErr(t, err, `list configmaps: decode "web/bad"`)

	var seen []string
	_, err = r.ListEach(t.Context(), client.ListOptions{}, nil, func(item client.Item[*Slim]) error {
		seen = append(seen, fmt.Sprint(item.Identity.Name, " ", item.Object != nil, " ", item.Err != nil))
		return nil
	})
	if got := strings.Join(seen, ", "); err != nil || got != "a true false, bad false true, other false true,  false true,  false true, b true false" {
		t.Errorf("ListEach gives %s, and %v", got, err)
	}
}

// A list that is not complete is an error, and its metadata is not returned. faults F1, F23 to F25; behaviours 81 and 82
func TestAListThatIsNotCompleteIsAnError(t *testing.T) {
	a := object("a", "1")
	page1 := listOf("5", "c1", a)
	whole := listOf("5", "", a, object("b", "2"))
	cut := func(t *testing.T, err error) {
		if !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			t.Error("it is not an unexpected end")
		}
	}
	reason := func(r apierrors.Reason) func(t *testing.T, err error) {
		return func(t *testing.T, err error) {
			if !errors.Is(err, r) {
				t.Errorf("it is not %s", r)
			}
		}
	}
	kind := func(t *testing.T, err error) { answered(t, err, client.WrongKind) }
	foreign := func(t *testing.T, err error) { answered(t, err, client.ForeignBody) }
	for _, test := range []struct {
		name    string
		answers []answer
		seen    string // the objects before the error
		want    string
		check   func(t *testing.T, err error)
	}{
		{
			"refused",
			[]answer{{code: 403, body: status(403, "Forbidden", "no")}},
			"",
			"server said Forbidden (403): no", reason(apierrors.Forbidden),
		},
		{
			"too old at once",
			[]answer{{code: 410, body: status(410, "Expired", "old")}},
			"", "Expired (410)",
			reason(apierrors.Expired),
		},
		{
			"too old on page 2",
			[]answer{{body: page1}, {code: 410, body: status(410, "Expired", "old")}},
			"a",
			"Expired (410)", reason(apierrors.Expired),
		},
		{"broken on page 2", []answer{{body: page1}, {code: 500}}, "a", "InternalError (500)", reason(apierrors.InternalError)},
		{
			"page 2 is a portal's",
			[]answer{{body: page1}, {header: http.Header{"Content-Type": {"text/html"}}, body: "<html>"}},
			"a",
			"something other than the requested object", foreign,
		},
		{
			"a portal's page",
			[]answer{{header: http.Header{"Content-Type": {"text/html"}}, body: "<html>"}},
			"",
			"something other than the requested object", foreign,
		},
		{"a page that calls itself JSON", []answer{{body: "<html>"}}, "", "something other than the requested object", foreign},
		{
			"a Status of success",
			[]answer{{body: `{"kind":"Status","apiVersion":"v1","status":"Success"}`}},
			"",
			"something other than the requested object", foreign,
		},
		{
			"another list",
			[]answer{{body: strings.Replace(whole, "ConfigMapList", "SecretList", 1)}},
			"",
			"server sent v1 SecretList, want v1 ConfigMapList", kind,
		},
		{"an object", []answer{{body: a}}, "", "server sent v1 ConfigMap, want v1 ConfigMapList", kind},
		// behaviour 190
		{
			"a table",
			[]answer{{body: `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"rows":[]}`}},
			"",
			"Table", kind,
		},
		{
			"another list, which says so at the end",
			[]answer{{body: `{"metadata":{},"items":[` + a + `],"kind":"SecretList","apiVersion":"v1"}`}},
			"a",
			"SecretList", kind,
		},
		{"a list without a kind", []answer{{body: `{"metadata":{},"items":[]}`}}, "", "without a kind", kind},
		{
			"page 2 of another kind",
			[]answer{{body: page1}, {body: strings.Replace(whole, "ConfigMapList", "SecretList", 1)}},
			"a",
			"SecretList", kind,
		},
		{"nothing", []answer{{}}, "", "the body is empty", cut},
		{"cut before the items", []answer{{body: whole[:60]}}, "", "the body is cut", cut},
		{"cut after an object", []answer{{body: whole[:strings.LastIndex(whole, "{\"kind")]}}, "a", "the body is cut", cut},
		{"cut within an object", []answer{{body: whole[:len(whole)-20]}}, "a", "the body is cut", cut},
		{"cut before the last brace", []answer{{body: whole[:len(whole)-1]}}, "a b", "the body is cut", cut},
		{
			"a connection that breaks within an object",
			[]answer{{body: whole[:len(whole)-20], cut: true}},
			"a",
			"read body", cut,
		},
		{
			"one that breaks on page 2",
			[]answer{{body: page1}, {body: whole[:len(whole)-20], cut: true}},
			"a a",
			"read body", cut,
		},
		{"a page 2 that is not there", []answer{{body: page1}, {cut: true}}, "a", "", cut},
		{"something after the list", []answer{{body: whole + "x"}}, "a b", "body at byte", nil},
		{"an item that is no object", []answer{{body: listOf("5", "", a, "7")}}, "a", "body at byte", nil},
		{
			// A server that does not know continue sends the first page for ever.
			"a token that leads nowhere",
			[]answer{{body: page1}},
			"a",
			"server sent a continue token that leads back to a page that has been read", nil,
		},
		{
			"tokens that go round",
			[]answer{{body: listOf("5", "x", a)}, {body: listOf("5", "y", object("b", "2"))}, {body: listOf("5", "x", a)}},
			"a b",
			"leads back to a page that has been read", nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := serve(t, answers(test.answers...))
				cfg.MaxObject = 4000
				r := client.For(dial(t, cfg), slims)
				var seen []string
				m, err := r.ListEach(t.Context(), client.ListOptions{Namespace: "web"}, nil, func(item client.Item[*Slim]) error {
					seen = append(seen, item.Identity.Name)
					return item.Err
				})
				if err == nil {
					t.Fatalf("no error after %v", seen)
				}
				if m != (meta.ListMeta{}) {
					t.Errorf("metadata is %+v", m)
				}
				wantErr(t, err, test.want)
				if got := strings.Join(seen, " "); got != test.seen {
					t.Errorf("objects before the error are %q, want %q", got, test.seen)
				}
				if e := is[*client.OpError](t, err); e.Verb != "list" || e.Key != (meta.Key{Namespace: "web"}) {
					t.Errorf("it is the error of %+v", e)
				}
				if test.check != nil {
					test.check(t, err)
				}
			})
		})
	}
}

// tally counts how often it is decoded.
type tally struct{}

var tallied atomic.Int32 // how many objects were decoded by the test that runs

func (tally) UnmarshalJSON([]byte) error {
	tallied.Add(1)
	return nil
}

type talliedMap struct {
	meta.Identity `json:"metadata"`
	Data          tally `json:"data"`
}

// A relist does not decode what has not changed.
func TestReusedObjectsAreNotDecoded(t *testing.T) {
	tallied.Store(0)
	page := []string{listOf("5", "c1", object("a", "1"), object("b", "2")), listOf("5", "", `{"metadata":{}}`, object("c", "3"))}
	r := client.For(connect(t, says(page...)), client.Type[*talliedMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	have := map[meta.Identity]*talliedMap{
		{Namespace: "web", Name: "a", UID: "u-a", ResourceVersion: "1"}: {},
		{Namespace: "web", Name: "b", UID: "u-b", ResourceVersion: "1"}: {}, // an older one
		{Namespace: "web", Name: "c", UID: "u-c", ResourceVersion: "3"}: {},
	}
	var asked, got []string
	m, err := r.ListEach(t.Context(), client.ListOptions{}, func(id meta.Identity) (*talliedMap, bool) {
		asked = append(asked, id.Name)
		obj, ok := have[id]
		return obj, ok
	}, func(item client.Item[*talliedMap]) error {
		if item.Reused && item.Object != have[item.Identity] {
			t.Errorf("%s is another object than the one that was reused", item.Identity.Name)
		}
		if !item.Reused && item.Err == nil && item.Object.Name != item.Identity.Name {
			t.Errorf("%s was not decoded", item.Identity.Name)
		}
		got = append(got, fmt.Sprintf("%s %v %v", item.Identity.Name, item.Reused, item.Err != nil))
		return nil
	})
	if err != nil || m.ResourceVersion != "5" {
		t.Errorf("got %+v, %v", m, err)
	}
	if !slices.Equal(asked, []string{"a", "b", "c"}) || !slices.Equal(got, []string{"a true false", "b false false", " false true", "c true false"}) {
		t.Errorf("asked for %v, got %v", asked, got)
	}
	if n := tallied.Load(); n != 1 {
		t.Errorf("%d objects were decoded, want 1", n)
	}
}

func TestManagedFieldsAreCutUnlessAskedFor(t *testing.T) {
	managed := strings.Replace(object("a", "1"), `"metadata":{`, `"metadata":{"managedFields":[{"manager":"m"}],`, 1)
	for _, keep := range []bool{false, true} {
		r := client.For(connect(t, says(listOf("5", "", managed))), configMaps)
		obj := must[meta.List[*ConfigMap]](t)(r.List(t.Context(), client.ListOptions{KeepManagedFields: keep})).Items[0]
		if got := len(obj.ManagedFields) == 1; got != keep || obj.Name != "a" {
			t.Errorf("KeepManagedFields %v gives %+v", keep, obj.ObjectMeta)
		}
		w := client.For(connect(t, says(event("ADDED", managed))), configMaps)
		for e, err := range w.Watch(t.Context(), client.WatchOptions{KeepManagedFields: keep}) {
			if err != nil || (len(e.Object.ManagedFields) == 1) != keep {
				t.Errorf("KeepManagedFields %v gives %+v, %v", keep, e.Object, err)
			}
		}
	}
}

// An error of the caller's that looks like one of the list's is still the caller's.
func TestListEachReturnsTheCallersErrorItself(t *testing.T) {
	r := client.For(connect(t, says(listOf("5", "", object("a", "1")))), slims)
	for _, mine := range []error{io.EOF, io.ErrUnexpectedEOF, apierrors.Expired, context.Canceled} {
		_, err := r.ListEach(t.Context(), client.ListOptions{}, nil, func(client.Item[*Slim]) error { return mine })
		if err != mine {
			t.Errorf("error is %v, want %v itself", err, mine)
		}
	}
}

// A page that is fetched ahead and fails costs nothing of the page before it.
func TestANextPageThatFailsEarlyFailsTheListInItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := answers(
			answer{body: listOf("5", "c1", object("a", "1"), object("b", "2"), object("c", "3"))},
			answer{code: 410, body: status(410, "Expired", "old")},
		)
		r := client.For(connect(t, srv), slims)
		var seen []string
		_, err := r.ListEach(t.Context(), client.ListOptions{}, nil, func(item client.Item[*Slim]) error {
			time.Sleep(time.Minute) // the failure is long there
			seen = append(seen, item.Identity.Name)
			return nil
		})
		if !errors.Is(err, apierrors.Expired) || len(seen) != 3 {
			t.Errorf("got %v after %v", err, seen)
		}
	})
}

// All may be iterated again, and each time it is a new list.
func TestAllMayBeIteratedAgain(t *testing.T) {
	srv := says(listOf("5", "", object("a", "1")))
	seq := client.For(connect(t, srv), slims).All(t.Context(), client.ListOptions{})
	if n := len(srv.all()); n != 0 {
		t.Errorf("%d requests before the first iteration", n)
	}
	for range 2 {
		for _, err := range seq {
			if err != nil {
				t.Error(err)
			}
		}
	}
	if n := len(srv.all()); n != 2 {
		t.Errorf("%d requests for two iterations", n)
	}
}
