package client_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// A cached object is a Go value, and proves no more than its type can say. Each of these was Unchanged for ever, without a request.

// kindOf is an object with any spec and all of metadata.
type kindOf[S any] struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            S `json:"spec"`
}

type (
	partPolicy struct {
		PodSelector struct {
			MatchLabels map[string]string `json:"matchLabels,omitempty"`
		} `json:"podSelector"`
	}
	scaled struct {
		Replicas int `json:"replicas"`
	}
	counts[N any] struct {
		N     int      `json:"n"`
		Old   N        `json:"old,omitempty"`
		Tags  []string `json:"tags,omitempty"`
		Ports []struct {
			Port int `json:"port"`
		} `json:"ports,omitempty"`
	}
)

// ensureKnown ensures the object that text says, known from a cache as the T that live decodes to, and returns what that did and
// the number of requests. The live object becomes changed by a write.
func ensureKnown[T any](t *testing.T, gvk meta.GVK, text, live string, absent ...string) (string, int) {
	t.Helper()
	object := func(version, rest string) string {
		return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"namespace":"web","name":"a","uid":"u","resourceVersion":%q},%s}`, gvk.APIVersion(), gvk.Kind, version, rest)
	}
	decode := func(text string) *kindOf[T] {
		obj := new(kindOf[T])
		if err := json.Unmarshal([]byte(text), obj); err != nil {
			t.Fatal(err)
		}
		return obj
	}
	srv := says(object("1", live), object("2", text))
	known, want := decode(object("1", live)), decode("{"+text+"}")
	want.Namespace, want.Name = "web", "a"
	r := client.For(connect(t, srv), client.Type[*kindOf[T]]{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Resource: strings.ToLower(gvk.Kind) + "s"})
	got, done, err := r.Ensure(t.Context(), want, client.EnsureOptions{Known: known, Absent: absent})
	if err != nil {
		t.Fatal(err)
	}
	if got == known || got.UID != "u" {
		t.Errorf("got %+v", got)
	}
	return done.Outcome.String(), len(srv.all())
}

// The rules of values are those of overlay.Apply, whose test has all of them.
func TestKnownProvesNothingAboutFieldsThatItsTypeLacks(t *testing.T) {
	var (
		policies = meta.GVK{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}
		customs  = meta.GVK{Group: "example.com", Version: "v1", Kind: "Thing"}
	)
	const (
		selected = `"podSelector":{"matchLabels":{"a":"b"}}`
		more     = `"podSelector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"k","operator":"Exists"}]}`
		same     = "Unchanged 0"
	)
	for _, test := range []struct {
		name string
		do   func(*testing.T, meta.GVK, string, string, ...string) (string, int)
		kind meta.GVK

		want, live string
		absent     []string
		outcome    string
	}{
		{"part of a selector", ensureKnown[partPolicy], policies, `"spec":{` + selected + `}`, `"spec":{` + more + `}`, nil, "Updated 2"},
		{"part of a selector, as it is", ensureKnown[partPolicy], policies, `"spec":{` + selected + `}`, `"spec":{` + selected + `}`, nil, "Unchanged 1"},
		{"7", ensureKnown[scaled], customs, `"spec":{"replicas":7}`, `"spec":{"replicas":7}`, nil, same},
		{"no field for what is absent", ensureKnown[scaled], customs, `"spec":{"replicas":7}`, `"spec":{"replicas":7,"old":0}`, []string{"/spec/old"}, "Updated 2"},
		{"a field whose zero is left out", ensureKnown[counts[int]], customs, `"spec":{"n":7}`, `"spec":{"n":7,"old":0}`, []string{"/spec/old"}, "Updated 2"},
		{"a list that is left out", ensureKnown[counts[int]], customs, `"spec":{"n":7}`, `"spec":{"n":7,"tags":[]}`, []string{"/spec/tags"}, "Updated 2"},
		{"a pointer to what is absent", ensureKnown[counts[*int]], customs, `"spec":{"n":7}`, `"spec":{"n":7}`, []string{"/spec/old"}, same},
		{"an absent label", ensureKnown[counts[int]], customs, `"spec":{"n":7}`, `"spec":{"n":7}`, []string{"/metadata/labels/old", "/metadata/annotations"}, same},
		{"an absent element", ensureKnown[counts[int]], customs, `"spec":{"n":7}`, `"spec":{"n":7}`, []string{"/spec/ports/port=80"}, same},
		{"an absent element by what the type lacks", ensureKnown[counts[int]], customs, `"spec":{"n":7}`, `"spec":{"n":7,"ports":[{"port":80,"protocol":"UDP"}]}`, []string{"/spec/ports/port=80,protocol=UDP"}, "Updated 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if outcome, n := test.do(t, test.kind, test.want, test.live, test.absent...); fmt.Sprint(outcome, " ", n) != test.outcome {
				t.Errorf("got %s %d, want %s", outcome, n, test.outcome)
			}
		})
	}
}

// A type without deletionTimestamp, or without owners, said that the object is not on its way out, and nobody's.
func TestEnsureReadsAgainIfKnownLacksDeletionOrOwners(t *testing.T) {
	type lean struct {
		meta.Identity `json:"metadata"`
		Data          map[string]string `json:"data,omitempty"`
	}
	type leanMeta struct {
		meta.Identity
		meta.DeletionMeta
	}
	type unowned struct {
		leanMeta `json:"metadata"`
		Data     map[string]string `json:"data,omitempty"`
	}
	type wholeMeta struct {
		leanMeta
		meta.OwnerMeta
	}
	type enough struct {
		wholeMeta `json:"metadata"`
		Data      map[string]string `json:"data,omitempty"`
	}
	id := meta.Identity{Namespace: "web", Name: "a", UID: "u", ResourceVersion: "1"}
	text := func(metadata string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"web","name":"a","uid":"u","resourceVersion":"1"` + metadata + `},"data":{"k":"v"}}`
	}
	data := map[string]string{"k": "v"}

	srv := says(text(`,"deletionTimestamp":"2026-01-02T03:04:05Z"`))
	cached := &lean{Identity: id, Data: data}
	leans := client.For(connect(t, srv), client.Type[*lean]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	_, _, err := leans.Ensure(t.Context(), &lean{Identity: at(web), Data: data}, client.EnsureOptions{Known: cached})
	is[*client.DeletingError](t, err)

	srv = says(text(`,"ownerReferences":[{"apiVersion":"v1","kind":"Boss","name":"b","uid":"1","controller":true}]`))
	unownedCached := &unowned{Data: data}
	unownedCached.Identity = id
	want := &unowned{Data: data}
	want.Identity = at(web)
	_, _, err = client.For(connect(t, srv), client.Type[*unowned]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}).Ensure(t.Context(), want, client.EnsureOptions{Known: unownedCached})
	is[*client.ControllerError](t, err)

	srv = says(text(""))
	all, wanted := &enough{Data: data}, &enough{Data: data}
	all.Identity, wanted.Identity = id, at(web)
	got, done, err := client.For(connect(t, srv), client.Type[*enough]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}).Ensure(t.Context(), wanted, client.EnsureOptions{Known: all})
	if err != nil || done.Outcome != client.Unchanged || got.Data["k"] != "v" || len(srv.all()) != 0 {
		t.Errorf("got %+v, %v, %v, by %d requests", got, done, err, len(srv.all()))
	}
}

// A cached object of another type was returned in the place of the whole one, and mutate was called with one that lacks fields.
func TestKnownMustHaveTheTypeOfTheHandle(t *testing.T) {
	type spec struct{ N int }
	srv := says(siteText("1", `"spec":{"n":7}`))
	r := client.For(connect(t, srv), sites)
	other := &kindOf[spec]{ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "a", UID: "u", ResourceVersion: "1"}}
	_, _, err := r.Ensure(t.Context(), &site{Identity: at(web)}, client.EnsureOptions{Known: other})
	is[*client.UsageError](t, err)
	wantErr(t, err, `ensure sites.example.com "web/a": client.EnsureOptions: Known: the object must be a *client_test.site, a map or JSON, got *client_test.kindOf[`)
	_, err = r.ModifyWith(t.Context(), web, func(*site) error { return nil }, client.ModifyOptions{Known: other})
	is[*client.UsageError](t, err)
	wantErr(t, err, `modify sites.example.com "web/a": client.ModifyOptions: Known: the object must be a *client_test.site, a map or JSON, got `)
	if n := len(srv.all()); n != 0 {
		t.Errorf("%d requests", n)
	}
	for _, known := range []any{
		json.RawMessage(siteText("1", `"spec":{"n":7}`)),
		map[string]any{"metadata": map[string]any{"namespace": "web", "name": "a", "uid": "u", "resourceVersion": "1"}, "spec": map[string]any{"n": 7}},
	} {
		got, done, err := r.Ensure(t.Context(), &site{Identity: at(web), Spec: siteSpec{N: 7}}, client.EnsureOptions{Known: known, Absent: []string{"/spec/old"}})
		if err != nil || done.Outcome != client.Unchanged || got.Spec.N != 7 || len(srv.all()) != 0 {
			t.Errorf("%T: got %+v, %v, %v", known, got, done, err)
		}
		if got, err = r.ModifyWith(t.Context(), web, func(*site) error { return nil }, client.ModifyOptions{Known: known}); err != nil || got.Spec.N != 7 || len(srv.all()) != 0 {
			t.Errorf("%T: modified to %+v, %v", known, got, err)
		}
	}
}
