package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// behaviours 10 and 15: the table of lists in the Kubernetes API concepts. What it calls invalid is refused before anything is
// sent; for the rest the query says what is meant, also where the server would guess otherwise.
func TestEveryCombinationOfTheListTable(t *testing.T) {
	const (
		noVersion = `list configmaps: client.ListOptions: ResourceVersion must be set if ResourceVersionMatch is `
		zero      = `list configmaps: client.ListOptions: ResourceVersion must be a version from the server if ` +
			`ResourceVersionMatch is Exact, got "0"`
	)
	for _, test := range []struct {
		version string
		match   client.ResourceVersionMatch
		query   string // without a limit
		refused string
	}{
		{"", "", "", ""},
		{"0", "", "resourceVersion=0", ""},
		{"7", "", "resourceVersion=7&resourceVersionMatch=NotOlderThan", ""},
		{"", client.NotOlderThan, "", noVersion + "NotOlderThan"},
		{"0", client.NotOlderThan, "resourceVersion=0&resourceVersionMatch=NotOlderThan", ""},
		{"7", client.NotOlderThan, "resourceVersion=7&resourceVersionMatch=NotOlderThan", ""},
		{"", client.Exact, "", noVersion + "Exact"},
		{"0", client.Exact, "", zero},
		{"7", client.Exact, "resourceVersion=7&resourceVersionMatch=Exact", ""},
		{
			"7", "Newest", "",
			`list configmaps: client.ListOptions: ResourceVersionMatch must be NotOlderThan, Exact or empty, got "Newest"`,
		},
	} {
		for _, size := range []int{-1, 2} {
			o := client.ListOptions{ResourceVersion: test.version, ResourceVersionMatch: test.match, PageSize: size}
			srv := answers(answer{body: listOf("7", "next", object("a", "1"))}, answer{body: listOf("7", "", object("b", "2"))})
			r := client.For(connect(t, srv), slims)
			_, err := r.List(t.Context(), o)
			_, _, errAll := collect(t.Context(), r, o)
			if test.refused != "" {
				for _, err := range []error{err, errAll} {
					if err == nil || err.Error() != test.refused {
						t.Errorf("%+v: error is %v\n         want %s", o, err, test.refused)
					}
					is[*client.UsageError](t, err)
				}
				if calls := srv.all(); len(calls) != 0 {
					t.Errorf("%+v: the server got %v", o, calls)
				}
				continue
			}
			if err != nil || errAll != nil {
				t.Errorf("%+v: %v, %v", o, err, errAll)
				continue
			}
			first, next := test.query, "continue=next"
			if size > 0 {
				next += "&limit=2"
				if first = "limit=2"; test.query != "" {
					first += "&" + test.query
				}
			}
			if first != "" {
				first = "?" + first
			}
			calls := srv.all()
			if calls[0].uri != "/api/v1/configmaps"+first || calls[1].uri != "/api/v1/configmaps?"+next {
				t.Errorf("%+v: the server got %v, want queries %q and %q", o, calls[:2], first, next)
			}
		}
	}
}

// behaviour 15: the duty of a client that the API concepts name beside the table, for servers that know no match.
func TestAListThatIsNotOfTheExactVersionIsRefused(t *testing.T) {
	late := `{"items":[` + object("a", "1") + `],"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"}}`
	for name, body := range map[string]string{"that says so first": listOf("9", "", object("a", "1")), "that says so last": late} {
		t.Run(name, func(t *testing.T) {
			r := client.For(connect(t, says(body)), slims)
			_, err := r.List(t.Context(), client.ListOptions{ResourceVersion: "7", ResourceVersionMatch: client.Exact, PageSize: -1})
			if e := answered(t, err, client.WrongVersion); e.Want != "7" || e.Got != "9" {
				t.Errorf("error is %+v", e)
			}
			if want := `list configmaps: server sent the list at resource version "9", want exactly "7"`; err.Error() != want {
				t.Errorf("error is %v, want %s", err, want)
			}
		})
	}
}

// behaviour 15: the other duty. A server that takes the least version for the exact one may have forgotten it.
func TestAListWhoseLeastVersionIsTooOldIsSentWithoutIt(t *testing.T) {
	for reason, test := range map[string]struct {
		options client.ListOptions
		again   string
	}{
		"a least version":     {client.ListOptions{ResourceVersion: "7", ResourceVersionMatch: client.NotOlderThan}, "?limit=500"},
		"a version":           {client.ListOptions{ResourceVersion: "7", LabelSelector: "a"}, "?labelSelector=a&limit=500"},
		"an exact version":    {client.ListOptions{ResourceVersion: "7", ResourceVersionMatch: client.Exact}, ""},
		"any version":         {client.ListOptions{ResourceVersion: "0"}, ""},
		"the present version": {client.ListOptions{}, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			srv := answers(answer{code: 410, body: status(410, "Expired", "too old")}, answer{body: listOf("9", "", object("a", "1"))})
			list, err := client.For(connect(t, srv), slims).List(t.Context(), test.options)
			calls := srv.all()
			if test.again == "" {
				if !errors.Is(err, apierrors.Expired) || len(calls) != 1 {
					t.Errorf("error is %v after %v, want it to be Expired after one request", err, calls)
				}
				return
			}
			if err != nil || list.ResourceVersion != "9" || len(list.Items) != 1 {
				t.Errorf("got %+v, %v", list, err)
			}
			if len(calls) != 2 || calls[1].uri != "/api/v1/configmaps"+test.again {
				t.Errorf("the server got %v, want %s second", calls, test.again)
			}
		})
	}
}

// behaviour 20
func TestTheKindOfAList(t *testing.T) {
	empty := `{"kind":"%","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`
	for _, test := range []struct{ listKind, sent, want string }{
		{"", "ConfigMapList", ""},
		{"", "ConfigMap", "server sent v1 ConfigMap, want v1 ConfigMapList"},
		{"ConfigMap", "ConfigMap", ""},
		{"ConfigMapBundle", "ConfigMapBundle", ""},
		{"ConfigMapBundle", "ConfigMapList", "server sent v1 ConfigMapList, want v1 ConfigMapBundle"},
	} {
		t.Run(test.listKind+" and "+test.sent, func(t *testing.T) {
			typ := client.Type[*meta.Unstructured](configMaps)
			typ.ListKind = test.listKind
			r := client.For(connect(t, says(strings.Replace(empty, "%", test.sent, 1))), typ)
			list, err := r.List(t.Context(), client.ListOptions{})
			if test.want != "" {
				wantErr(t, err, test.want)
				answered(t, err, client.WrongKind)
				return
			}
			if err != nil || list.Items == nil || len(list.Items) != 0 {
				t.Errorf("got %+v, %v, want an empty list that is not nil", list, err)
			}
		})
	}
	partial := client.Type[*meta.Unstructured](configMaps)
	partial.ListKind = "ConfigMapBundle" // is not what the metadata comes in
	body := `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[]}`
	if _, err := client.Metadata(client.For(connect(t, says(body)), partial)).List(t.Context(), client.ListOptions{}); err != nil {
		t.Error(err)
	}
}
