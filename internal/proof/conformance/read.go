package conformance

import (
	"errors"
	"slices"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func testGet(t *testing.T, s suite) {
	ns := s.namespace(t)
	made := s.configMap(t, ns, "a", nil)
	got := must[*ConfigMap](t)(s.configMaps.Get(t.Context(), meta.KeyOf(made)))
	equal(t, "uid", got.UID, made.UID)
	equal(t, "resource version", got.ResourceVersion, made.ResourceVersion)
	equal(t, "data", got.Data["k"], "v")

	view := must[*ConfigMapNames](t)(client.For(s.client, ConfigMapViews).Get(t.Context(), meta.KeyOf(made)))
	equal(t, "uid of the projection", view.UID, made.UID)

	_, err := s.configMaps.Get(t.Context(), meta.Key{Namespace: ns, Name: "absent"})
	wantReason(t, err, apierrors.NotFound, 404)
	status := new(apierrors.StatusError)
	errors.As(err, &status)
	if d := status.Status.Details; d == nil || d.Name != "absent" || d.Kind != "configmaps" {
		t.Errorf("details are %+v, want name absent and kind configmaps", d)
	}
	equal(t, "message", status.Status.Message, `configmaps "absent" not found`)

	_, err = client.For(s.client, client.Type[*ConfigMap]{Version: "v1", Kind: "Widget", Resource: "widgets"}).
		Get(t.Context(), meta.Key{Namespace: ns, Name: "a"})
	wantReason(t, err, apierrors.NotFound, 404)
	_, err = client.For(s.client, client.Type[*ConfigMap]{Group: "nothing.example.com", Version: "v1", Kind: "Widget", Resource: "widgets"}).
		Get(t.Context(), meta.Key{Namespace: ns, Name: "a"})
	wantStatus(t, err, 404) // in plain text, because the path is outside the API
}

func testList(t *testing.T, s suite) {
	ns, other := s.namespace(t), s.namespace(t)
	empty := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns}))
	if len(empty.Items) != 0 || empty.Items == nil || empty.ResourceVersion == "" {
		t.Errorf("an empty list has items %v and version %q, want an empty slice and a version", empty.Items, empty.ResourceVersion)
	}
	a, b := s.configMap(t, ns, "a", nil), s.configMap(t, other, "b", nil)
	list := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns}))
	if len(list.Items) != 1 || list.Items[0].UID != a.UID || list.Items[0].ResourceVersion != a.ResourceVersion {
		t.Errorf("list of %s is %+v, want a alone", ns, list.Items)
	}
	all := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{}))
	for _, want := range []*ConfigMap{a, b} {
		if !slices.ContainsFunc(all.Items, func(c *ConfigMap) bool { return c.UID == want.UID }) {
			t.Errorf("the list of all namespaces lacks %s", meta.KeyOf(want))
		}
	}
	if missing, err := s.configMaps.List(t.Context(), client.ListOptions{Namespace: "conformance-absent"}); err != nil || len(missing.Items) != 0 {
		t.Errorf("a list of a namespace that is not there is %v, %v, want none and no error", missing.Items, err)
	}
	stale := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{
		Namespace: ns, ResourceVersion: a.ResourceVersion, ResourceVersionMatch: client.NotOlderThan,
	}))
	equal(t, "items not older than the object", len(stale.Items), 1)
}

func testPaging(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := numbered("page", 23)
	for _, name := range names {
		s.configMap(t, ns, name, nil)
	}
	for _, size := range []int{1, 5, 22, 23, 24, 0, -1} {
		list := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns, PageSize: size}))
		var got []string
		for _, c := range list.Items {
			got = append(got, c.Name)
		}
		if !slices.Equal(got, names) {
			t.Errorf("with pages of %d the list is %v, want %v", size, got, names)
		}
		if list.ResourceVersion == "" || list.Continue != "" {
			t.Errorf("with pages of %d the list has version %q and continue %q, want a version and no token", size, list.ResourceVersion, list.Continue)
		}
	}
	// The pages of one list show one moment: they do not have objects that are created between them.
	n := 0
	for c, err := range s.configMaps.All(t.Context(), client.ListOptions{Namespace: ns, PageSize: 10}) {
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			s.configMap(t, ns, "page-zzz", nil)
		}
		if c.Name == "page-zzz" {
			t.Error("the list has an object that was made after its first page")
		}
		n++
	}
	equal(t, "objects", n, len(names))
	// Leaving the loop is not an error and leaves nothing behind.
	for range s.configMaps.All(t.Context(), client.ListOptions{Namespace: ns, PageSize: 2}) {
		break
	}
}

func testSelectors(t *testing.T, s suite) {
	ns := s.namespace(t)
	s.configMap(t, ns, "a", map[string]string{"app": "web", "tier": "front"})
	s.configMap(t, ns, "b", map[string]string{"app": "web", "tier": "back"})
	s.configMap(t, ns, "c", map[string]string{"app": "db"})
	s.configMap(t, ns, "d", nil)
	for _, test := range []struct{ labels, fields, want string }{
		{"app=web", "", "ab"},
		{"app==web,tier!=back", "", "a"},
		{"app!=web", "", "cd"},
		{"app in (web,db)", "", "abc"},
		{"tier notin (front)", "", "bcd"},
		{"tier", "", "ab"},
		{"!tier", "", "cd"},
		{"app in (web),!tier", "", ""},
		{"", "metadata.name=b", "b"},
		{"", "metadata.name!=b", "acd"},
		{"app=web", "metadata.name!=a", "b"},
		{"", "metadata.namespace=" + ns, "abcd"},
	} {
		list := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{
			Namespace: ns, LabelSelector: test.labels, FieldSelector: test.fields, PageSize: 1,
		}))
		got := ""
		for _, c := range list.Items {
			got += c.Name
		}
		if got != test.want {
			t.Errorf("labels %q and fields %q select %q, want %q", test.labels, test.fields, got, test.want)
		}
	}
	for _, o := range []client.ListOptions{{LabelSelector: "app in web"}, {FieldSelector: "spec.nothing=1"}} {
		o.Namespace = ns
		_, err := s.configMaps.List(t.Context(), o)
		wantReason(t, err, apierrors.BadRequest, 400)
	}
}

func testOneAndCount(t *testing.T, s suite) {
	ns := s.namespace(t)
	r := s.configMaps.In(ns)
	count := func(r client.Resource[*ConfigMap], o client.ListOptions, n int, known bool) {
		t.Helper()
		if got, sure, err := r.Count(t.Context(), o); err != nil || got != n || sure != known {
			t.Errorf("the count with %+v is %d, %t, %v; want %d, %t", o, got, sure, err, n, known)
		}
	}
	count(r, client.ListOptions{}, 0, true)
	for _, name := range []string{"a", "b", "c"} {
		s.configMap(t, ns, name, map[string]string{"x": "y"})
	}
	count(r, client.ListOptions{}, 3, true)
	count(r, client.ListOptions{LabelSelector: "x=y"}, 0, false)
	count(r, client.ListOptions{LabelSelector: "x=z"}, 0, true)
	one := r.One(meta.Key{Name: "b"})
	list := must[meta.List[*ConfigMap]](t)(one.List(t.Context(), client.ListOptions{}))
	equal(t, "objects of the handle", len(list.Items), 1)
	for e, err := range one.Watch(t.Context(), client.WatchOptions{}) {
		if err != nil || e.Identity.Name != "b" {
			t.Fatalf("the watch brings %v, %v", e, err)
		}
		if e.Type == client.Deleted {
			break
		}
		if err := one.DeleteCollection(t.Context(), client.Selection{Everything: true}, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	count(r, client.ListOptions{}, 2, true)
}
