package client_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// Knot is a custom resource.
type Knot struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Turns int `json:"turns,omitempty"`
	} `json:"spec,omitzero"`
	Status struct {
		Turns  int      `json:"turns,omitempty"`
		Phases []string `json:"phases"`
	} `json:"status,omitzero"`
}

var knots = client.Type[*Knot]{Group: "example.com", Version: "v1", Kind: "Knot", Resource: "knots"}

// knotServer serves knots, with a status subresource or without, and has one.
func knotServer(t *testing.T, status bool) (*clienttest.Server, client.Resource[*Knot], meta.Key) {
	t.Helper()
	server := clienttest.Start(t, clienttest.Options{Resources: []clienttest.Resource{{
		Group: "example.com", Version: "v1", Kind: "Knot", Resource: "knots", Status: status,
	}}})
	r := client.For(dial(t, server.Config()), knots)
	key := meta.Key{Namespace: "default", Name: "a"}
	k := &Knot{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	k.Spec.Turns = 1
	must[*Knot](t)(r.Create(t.Context(), k))
	return server, r, key
}

// A change that the server leaves out without a word is an error, and no success.
func TestModifySaysWhatTheServerHasLeftOut(t *testing.T) {
	both := func(k *Knot) error {
		k.Spec.Turns++
		k.Status.Turns++
		k.Labels = map[string]string{"l": "v"}
		return nil
	}
	for _, test := range []struct {
		name        string
		status      bool // there is such a subresource
		subresource bool // it is what is modified
		mutate      func(*Knot) error
		want        string
		turns       [2]int // spec's and status', afterwards
	}{
		{"both at once", true, false, both, `modify knots.example.com "default/a": server ignored the change of status, which is written through Resource.Status`, [2]int{2, 0}},
		{"the status alone", true, false, func(k *Knot) error { k.Status.Turns = 3; return nil }, "server ignored the change of status", [2]int{1, 0}},
		{"the spec alone", true, false, func(k *Knot) error { k.Spec.Turns = 3; return nil }, "", [2]int{3, 0}},
		{"both, where the status is no subresource", false, false, both, "", [2]int{2, 1}},
		{
			"both, through the status", true, true, both,
			`modify knots.example.com/status "default/a": server ignored the change of metadata.labels, spec, which is not part of status`,
			[2]int{1, 1},
		},
		{"the status, through it", true, true, func(k *Knot) error { k.Status.Turns = 3; return nil }, "", [2]int{1, 3}},
		{"an empty list, which is as good as none", true, false, func(k *Knot) error { k.Status.Phases = []string{}; return nil }, "", [2]int{1, 0}},
		{"the same, where the status is no subresource", false, false, func(k *Knot) error { k.Status.Phases = []string{}; return nil }, "", [2]int{1, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, r, key := knotServer(t, test.status)
				modify := r.Modify
				if test.subresource {
					modify = r.Status().Modify
				}
				got, err := modify(t.Context(), key, test.mutate)
				if test.want == "" {
					if err != nil {
						t.Fatal(err)
					}
				} else {
					wantErr(t, err, test.want)
					is[*client.UsageError](t, err)
					if got != nil || strings.Contains(err.Error(), "not part of status") != test.subresource {
						t.Errorf("beside %v there is %+v", err, got)
					}
				}
				stored := must[*Knot](t)(r.Get(t.Context(), key))
				if turns := [2]int{stored.Spec.Turns, stored.Status.Turns}; turns != test.turns {
					t.Errorf("there are %v turns, want %v", turns, test.turns)
				}
			})
		})
	}
}

// Whether something was left out is seen in what the server has stored: one that makes something else of it has not.
func TestModifyReportsAStatusAsIgnoredOnlyIfItIsUnchanged(t *testing.T) {
	const live = `{"kind":"Knot","apiVersion":"example.com/v1","metadata":{"namespace":"web","name":"a","uid":"u","resourceVersion":"1"},"status":{"turns":1}}`
	for _, test := range []struct {
		name, stored string
		status       int // how the server answers for the subresource
		ignored      bool
	}{
		{"something else", `{"turns":7}`, 200, false},
		{"more", `{"turns":2,"more":[1]}`, 200, false},
		{"the same", `{"turns":2}`, 200, false},
		{"the status before", `{"turns":1,"phases":[],"zero":{"n":0,"b":false,"s":""}}`, 200, true},
		{"the status before, without the subresource", `{"turns":1}`, 404, false},
		{"the status before, if the subresource is forbidden", `{"turns":1}`, 403, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				a := answer{body: live}
				switch {
				case strings.HasSuffix(r.URL.Path, "/status"):
					if a.code = test.status; a.code != 200 {
						a.body = status(a.code, "", "no")
					}
				case r.Method == http.MethodPut:
					a.body = strings.NewReplacer(`"1"`, `"2"`, `{"turns":1}`, test.stored).Replace(live)
				}
				a.write(w)
			})
			_, err := client.For(connect(t, h), knots).Modify(t.Context(), web, func(k *Knot) error { k.Status.Turns = 2; return nil })
			if (err != nil) != test.ignored {
				t.Errorf("error is %v", err)
			}
			if err != nil {
				is[*client.UsageError](t, err)
				wantErr(t, err, "server ignored the change of ")
			}
		})
	}
}
