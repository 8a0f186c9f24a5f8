package client_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// unencodable cannot be written as JSON.
type unencodable struct {
	meta.Identity `json:"metadata"`
	F             func() `json:"f"`
}

// mapped is a T that is a map.
type mapped map[string]any

func (m mapped) meta(name string) string {
	md, _ := m["metadata"].(map[string]any)
	s, _ := md[name].(string)
	return s
}
func (m mapped) GetNamespace() string       { return m.meta("namespace") }
func (m mapped) GetName() string            { return m.meta("name") }
func (m mapped) GetResourceVersion() string { return m.meta("resourceVersion") }

// behaviours 13 and 17: what cannot be a body is an error that sends nothing.
func TestObjectsThatCannotBeSent(t *testing.T) {
	srv := says(object("a", "1"))
	c := connect(t, srv)
	maps := client.For(c, client.Type[mapped]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	none := client.For(c, client.Type[meta.Object]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	odd := client.For(c, client.Type[*unencodable]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	r := client.For(c, configMaps)
	other := &ConfigMap{TypeMeta: meta.TypeMeta{Kind: "Secret"}, ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "a"}}
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"a nil pointer, created", drop(r.Create(t.Context(), nil)), "create configmaps: the object must not be nil"},
		{"a nil pointer, updated", drop(r.Update(t.Context(), nil)), "update configmaps: the object must not be nil"},
		{
			"a nil pointer, as a status", drop(r.Status().Update(t.Context(), nil)),
			"update configmaps/status: the object must not be nil",
		},
		{"a nil map", drop(maps.Create(t.Context(), nil)), "the object must not be nil"},
		{"a nil interface", drop(none.Create(t.Context(), nil)), "the object must not be nil"},
		{
			"one that is no JSON", drop(odd.Create(t.Context(), &unencodable{Identity: at(web)})),
			`create configmaps "web/a": encode *client_test.unencodable: json: unsupported type: func()`,
		},
		{
			"one that has been read, created", drop(r.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "a", ResourceVersion: "7"}})),
			`create configmaps "web/a": metadata.resourceVersion must be empty in an object that is created, got "7"`,
		},
		{
			"one of another kind", drop(r.Update(t.Context(), other)),
			`update configmaps "web/a": encode *client_test.ConfigMap: its kind must be "ConfigMap" or empty, got "Secret"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantErr(t, test.err, test.want)
			is[*client.OpError](t, test.err)
		})
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
}

// behaviour 17: a created object goes to the collection, whether the server makes up its name or not.
func TestCreateReturnsWhatTheServerMadeOfIt(t *testing.T) {
	srv := says(object("a-x7k", "1"))
	r := client.For(connect(t, srv), configMaps)
	made := must[*ConfigMap](t)(r.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "web", GenerateName: "a-"}}))
	if made.Name != "a-x7k" || made.ResourceVersion != "1" {
		t.Errorf("got %+v", made.ObjectMeta)
	}
	got := srv.one(t)
	if got.String() != "POST /api/v1/namespaces/web/configmaps" {
		t.Errorf("the request was %s", got)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		t.Fatal(err)
	}
	if md := body["metadata"].(map[string]any); md["generateName"] != "a-" || body["kind"] != "ConfigMap" || body["apiVersion"] != "v1" {
		t.Errorf("the body was %s", got.body)
	}
}

func TestAMapIsATypeToo(t *testing.T) {
	srv := says(object("a", "2", "k"))
	r := client.For(connect(t, srv), client.Type[mapped]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	got := must[mapped](t)(r.Update(t.Context(), mapped{"metadata": map[string]any{"namespace": "web", "name": "a"}}))
	if got.GetResourceVersion() != "2" {
		t.Errorf("got %v", got)
	}
	if c := srv.one(t); c.body != `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"web"}}` {
		t.Errorf("the body was %s", c.body)
	}
}

// behaviour 333; behaviours 25 and 338: the same for a subresource, and through the wrapping
func TestErrorsOfWritesHaveTheServersReason(t *testing.T) {
	obj := &Slim{Identity: at(web)}
	for _, test := range []struct {
		name   string
		a      answer
		create apierrors.Reason
		other  apierrors.Reason
	}{
		{
			"taken, as a Status",
			answer{code: 409, body: status(409, "AlreadyExists", "taken")},
			apierrors.AlreadyExists, apierrors.AlreadyExists,
		},
		{
			"changed, as a Status",
			answer{code: 409, body: status(409, "Conflict", "changed")},
			apierrors.Conflict,
			apierrors.Conflict,
		},
		{"only the code 409", answer{code: 409}, apierrors.AlreadyExists, apierrors.Conflict},
		{"not valid", answer{code: 422, body: status(422, "Invalid", "no")}, apierrors.Invalid, apierrors.Invalid},
		{"too large", answer{code: 413}, apierrors.RequestEntityTooLarge, apierrors.RequestEntityTooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := client.For(connect(t, answers(test.a)), slims)
			for verb, err := range map[string]error{
				"create": drop(r.Create(t.Context(), obj)), "update": drop(r.Update(t.Context(), obj)),
				"status": drop(r.Status().Update(t.Context(), obj)), "patch": drop(r.Patch(t.Context(), web, patch.Merge(map[string]int{}))),
				"delete": r.Delete(t.Context(), web, client.DeleteOptions{}),
			} {
				want := test.other
				if verb == "create" {
					want = test.create
				}
				if !errors.Is(err, want) || apierrors.ReasonOf(err) != want {
					t.Errorf("%s: error is %v, want %s", verb, err, want)
				}
			}
		})
	}
}
