package e2e

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/proof/conformance"
	"github.com/bowline-go/bowline/patch"
)

// history is a namespace with config maps, and what it was like before the last of them came.
type history struct {
	configMaps client.Resource[*conformance.ConfigMap]
	ns         string
	then       string // a version at which there were 5
	now        string // and 7, two of them changed since
}

func newHistory(t *testing.T, c *client.Client, ns string) history {
	t.Helper()
	h := history{configMaps: client.For(c, conformance.ConfigMaps), ns: ns}
	for i := range 7 {
		if i == 5 {
			h.then = must(h.configMaps.List(t.Context(), client.ListOptions{Namespace: ns}))(t).ResourceVersion
		}
		must(h.configMaps.Create(t.Context(), &conformance.ConfigMap{
			ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: fmt.Sprint("c", i), Labels: map[string]string{"even": fmt.Sprint(i%2 == 0)}},
			Data:       map[string]string{"at": "first"},
		}))(t)
	}
	for _, name := range []string{"c0", "c1"} {
		must(h.configMaps.Patch(t.Context(), meta.Key{Namespace: ns, Name: name},
			patch.Merge(map[string]any{"data": map[string]any{"at": "then"}})))(t)
	}
	h.now = must(h.configMaps.List(t.Context(), client.ListOptions{Namespace: ns}))(t).ResourceVersion
	return h
}

// Every combination of the list table in the API concepts that a client may send, with and without pages. behaviour 15
func TestAListIsAsFreshAsItIsAskedToBe(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	h := newHistory(t, c, ns)
	for _, size := range []int{-1, 2, 0} {
		for _, test := range []struct {
			name  string
			o     client.ListOptions
			count int    // how many objects; 0 where it depends
			at    string // the version of the list, where that is certain
		}{
			{"the most recent", client.ListOptions{}, 7, ""},
			{"any", client.ListOptions{ResourceVersion: "0"}, 0, ""},
			{"not older than any", client.ListOptions{ResourceVersion: "0", ResourceVersionMatch: client.NotOlderThan}, 0, ""},
			{"not older than then", client.ListOptions{ResourceVersion: h.then, ResourceVersionMatch: client.NotOlderThan}, 0, ""},
			{"not older than now", client.ListOptions{ResourceVersion: h.now, ResourceVersionMatch: client.NotOlderThan}, 7, ""},
			{"a version without a match", client.ListOptions{ResourceVersion: h.now}, 7, ""},
			{"exactly then", client.ListOptions{ResourceVersion: h.then, ResourceVersionMatch: client.Exact}, 5, h.then},
			{"exactly now", client.ListOptions{ResourceVersion: h.now, ResourceVersionMatch: client.Exact}, 7, h.now},
		} {
			t.Run(fmt.Sprintf("%s, %d a page", test.name, size), func(t *testing.T) {
				o := test.o
				o.Namespace, o.PageSize = ns, size
				pages := 0
				o.OnPage = func(meta.ListMeta) { pages++ }
				list := must(h.configMaps.List(t.Context(), o))(t)
				if n := len(list.Items); n != test.count && test.count != 0 || n < 5 {
					t.Errorf("the list has %d objects, want %d", n, test.count)
				}
				if test.at != "" {
					equal(t, "the version of the list", list.ResourceVersion, test.at)
				}
				if size == 2 && test.o.ResourceVersion != "0" && test.o.ResourceVersionMatch == client.Exact && pages < 3 {
					t.Errorf("the list has %d pages", pages)
				}
				for _, obj := range list.Items {
					if at := obj.Data["at"]; test.at == h.then && at != "first" {
						t.Errorf("%s is %q, want it as it was", obj.Name, at)
					}
				}
			})
		}
	}
}

func TestAPageSaysHowManyObjectsRemain(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	h := newHistory(t, c, ns)
	var remaining []int64
	onPage := func(m meta.ListMeta) {
		n := int64(-1)
		if m.RemainingItemCount != nil {
			n = *m.RemainingItemCount
		}
		remaining = append(remaining, n)
	}
	must(h.configMaps.List(t.Context(), client.ListOptions{Namespace: ns, PageSize: 3, OnPage: onPage}))(t)
	if want := []int64{4, 1, -1}; !slices.Equal(remaining, want) {
		t.Errorf("there remain %v, want %v", remaining, want)
	}
	remaining = nil
	must(h.configMaps.List(t.Context(), client.ListOptions{Namespace: ns, PageSize: 3, OnPage: onPage, LabelSelector: "even=true"}))(t)
	if want := []int64{-1, -1}; !slices.Equal(remaining, want) {
		t.Errorf("with a selector there remain %v, want that it is not known", remaining)
	}
}

// behaviour 16
func TestAMetadataHandleGetsMetadataOnly(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	h := newHistory(t, c, ns)
	r := client.Metadata(h.configMaps)
	got := must(r.Get(t.Context(), meta.Key{Namespace: ns, Name: "c0"}))(t)
	if got.Labels["even"] != "true" || got.UID == "" {
		t.Errorf("the object is %+v, want its metadata", got)
	}
	list := must(r.List(t.Context(), client.ListOptions{Namespace: ns, LabelSelector: "even=true", PageSize: 2}))(t)
	equal(t, "the number of objects", len(list.Items), 4)
	patched := must(r.Patch(t.Context(), meta.KeyOf(got), patch.Merge(map[string]any{"metadata": map[string]any{"labels": map[string]any{"x": "y"}}})))(t)
	equal(t, "the new label", patched.Labels["x"], "y")
	for event, err := range r.Watch(t.Context(), client.WatchOptions{Namespace: ns, ResourceVersion: got.ResourceVersion, FieldSelector: "metadata.name=c0"}) {
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "the version of the event's object", event.Object.ResourceVersion, patched.ResourceVersion)
		break
	}
	if data := must(h.configMaps.Get(t.Context(), meta.KeyOf(got)))(t).Data["at"]; data != "then" {
		t.Errorf("after a patch of the metadata the data is %q", data)
	}
}

func TestATableHasTheColumnsOfTheServer(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	headings := func(table client.Table) (names []string) {
		for _, column := range table.Columns {
			names = append(names, column.Name)
		}
		return names
	}
	create(t, client.For(c, deployments), ns, deployment)
	table := must(client.For(c, deployments).Table(t.Context(), client.ListOptions{Namespace: ns}, client.TableOptions{}))(t)
	if want := []string{"Name", "Ready", "Up-to-date", "Available", "Age", "Containers", "Images", "Selector"}; !slices.Equal(headings(table), want) {
		t.Errorf("the columns are %q, want %q", headings(table), want)
	}
	if len(table.Rows) != 1 || table.Rows[0].Cells[0] != any("web") || table.Rows[0].Cells[1] != any("0/1") || table.Rows[0].Object.Labels["app"] != "web" {
		t.Errorf("the rows are %+v, want the one", table.Rows)
	}
	one := must(client.For(c, deployments).TableOf(t.Context(), meta.Key{Namespace: ns, Name: "web"}, client.TableOptions{}))(t)
	ages := regexp.MustCompile(`\d+s\n`) // the server computes them for each answer
	equal(t, "one object as a table", ages.ReplaceAllString(one.String(), "AGE\n"), ages.ReplaceAllString(table.String(), "AGE\n"))

	h := newHistory(t, c, ns)
	for _, size := range []int{-1, 3} {
		table = must(h.configMaps.Table(t.Context(), client.ListOptions{Namespace: ns, PageSize: size, LabelSelector: "even=true"}, client.TableOptions{}))(t)
		if want := []string{"Name", "Data", "Age"}; !slices.Equal(headings(table), want) || len(table.Rows) != 4 || table.Plain {
			t.Errorf("the table has the columns %q and %d rows, want %q and 4", headings(table), len(table.Rows), want)
		}
		if data, ok := table.Rows[0].Cells[1].(int64); !ok || data != 1 {
			t.Errorf("the cell of the data is %#v, want the integer 1", table.Rows[0].Cells[1])
		}
	}
	table = must(h.configMaps.Table(t.Context(), client.ListOptions{Namespace: ns, ResourceVersion: h.then, ResourceVersionMatch: client.Exact}, client.TableOptions{}))(t)
	equal(t, "the number of rows then", len(table.Rows), 5)
}

// A server that keeps no history beside etcd's, which is compacted: continue tokens, exact versions, and versions to watch
// from, are all too old then. What is only a floor is not. behaviour 81, 82
func TestListsOfACompactedHistoryAreTooOld(t *testing.T) {
	t.Parallel()
	p, err := controlplane.Start(t.Context(), servers("--watch-cache=false"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	c := open(t, client.Config{Server: p.Server, TLS: client.TLS{CAData: client.Secret(p.CA)}, BearerToken: client.Secret(p.Token)})
	ns := must(client.For(c, conformance.Namespaces).Create(t.Context(), &conformance.Namespace{ObjectMeta: meta.ObjectMeta{Name: "history"}}))(t).Name
	h := newHistory(t, c, ns)

	forgotten := false
	forget := func() {
		if !forgotten {
			forgotten = true
			// Something has to happen after the version of the list, or that version is what is kept.
			must(h.configMaps.Patch(t.Context(), meta.Key{Namespace: ns, Name: "c6"}, patch.Merge(map[string]any{"data": map[string]any{"at": "end"}})))(t)
			compact(t, p.Etcd)
		}
	}
	_, err = h.configMaps.List(t.Context(), client.ListOptions{Namespace: ns, PageSize: 1, OnPage: func(meta.ListMeta) { forget() }})
	wantReason(t, err, apierrors.Expired)
	page := (*client.OpError)(nil)
	if !errors.As(err, &page) || page.Page < 2 {
		t.Errorf("error is %v, want one of a page after the first", err)
	}

	for _, size := range []int{-1, 2} {
		_, err = h.configMaps.List(t.Context(), client.ListOptions{Namespace: ns, PageSize: size, ResourceVersion: h.then, ResourceVersionMatch: client.Exact})
		wantReason(t, err, apierrors.Expired)
		if errors.As(err, &page) && page.Page > 0 {
			t.Errorf("error is %v, want one of the first page", err)
		}
		list := must(h.configMaps.List(t.Context(), client.ListOptions{Namespace: ns, PageSize: size, ResourceVersion: h.then, ResourceVersionMatch: client.NotOlderThan}))(t)
		equal(t, "the number of objects of a list that is not older", len(list.Items), 7)
	}
	for _, err := range h.configMaps.Watch(t.Context(), client.WatchOptions{Namespace: ns, ResourceVersion: h.then}) {
		wantReason(t, err, apierrors.Expired)
		break
	}
}
