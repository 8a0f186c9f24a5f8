package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// ferry is a custom resource whose definition comes from its type.
type ferry struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            ferrySpec `json:"spec"`
	Status          struct {
		Conditions []meta.Condition `json:"conditions,omitempty"`
		Crew       int32            `json:"crew"`
	} `json:"status"`
}

type ferrySpec struct {
	Rope    string                   `json:"rope" crd:"minLength=1; maxLength=16; pattern=^[a-z]+$"`
	Color   string                   `json:"color,omitempty" crd:"enum=red,green; default=red"`
	Crew    int32                    `json:"crew,omitempty" crd:"minimum=1; exclusiveMaximum=1e2; multipleOf=1; default=2"`
	Load    float64                  `json:"load,omitempty" crd:"maximum=0.50"`
	Fuel    meta.Quantity            `json:"fuel,omitzero" crd:"default=1Gi"`
	Surge   meta.IntOrString         `json:"surge,omitzero" crd:"default=25%"`
	Every   meta.Duration            `json:"every,omitzero" crd:"default=5m"`
	Data    []byte                   `json:"data,omitempty"`
	Sailed  meta.Time                `json:"sailed"` // null if it is zero
	Ports   []string                 `json:"ports"`  // null if it is nil
	Choice  *string                  `json:"choice,omitempty" crd:"enum=a,b"`
	Spare   *meta.Quantity           `json:"spare"`
	Limits  map[string]meta.Quantity `json:"limits"`
	Cabins  []ferryCabin             `json:"cabins,omitempty" crd:"listType=map; listMapKeys=name"`
	Labels  map[string]string        `json:"labels,omitempty" crd:"mapType=atomic; items.maxLength=5"`
	Extra   json.RawMessage          `json:"extra,omitempty"`
	Object  *meta.Unstructured       `json:"object,omitempty"`
	Select  *meta.LabelSelector      `json:"select,omitempty"`
	Between struct {
		Min int8   `json:"min"`
		Max uint16 `json:"max"`
	} `json:"between"`
}

type ferryCabin struct {
	Name string `json:"name"`
	Beds uint8  `json:"beds"`
}

// ferryboat is a ferry in a later release of its program, whose schema is narrower.
type ferryboat struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Rope string `json:"rope" crd:"maxLength=8"`
	} `json:"spec"`
	Status struct {
		Crew int32 `json:"crew"`
	} `json:"status"`
}

// dinghy is a ferryboat in a later release still.
type dinghy struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Rope string `json:"rope" crd:"maxLength=4"`
	} `json:"spec"`
	Status struct {
		Crew int32 `json:"crew"`
	} `json:"status"`
}

// RunInstalls is the part of the suite about definitions that package client/crd makes of Go types and installs.
func RunInstalls(t *testing.T, cfg client.Config) {
	s := newSuite(t, cfg)
	for _, test := range []struct {
		name string
		run  func(*testing.T, suite)
	}{
		{"a definition is as it was sent", testInstall},
		{"a type accepts what it encodes to", testInstalledType},
		{"a schema is not narrowed under objects", testNarrowing},
		{"a version is not dropped", testDropping},
		{"replicas install at once", testInstallsAtOnce},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, s)
		})
	}
}

// installing returns the resource of ferries in a group that only this test uses.
func (s suite) installing(t *testing.T) (ns string, ferries client.Type[*ferry]) {
	t.Helper()
	ns = s.namespace(t)
	ferries = client.Type[*ferry]{Group: ns + ".installs.bowline.example", Version: "v1", Kind: "Ferry", Resource: "ferries"}
	t.Cleanup(func() {
		key := meta.Key{Name: "ferries." + ferries.Group}
		_ = client.For(s.client, crd.Definitions()).Delete(context.WithoutCancel(t.Context()), key, client.DeleteOptions{})
	})
	return ns, ferries
}

func (s suite) install(t *testing.T, d *crd.Definition) {
	t.Helper()
	if err := crd.Install(t.Context(), s.client, d); err != nil {
		t.Fatal(err)
	}
}

// ferry creates a ferry.
func (s suite) ferry(t *testing.T, ns string, of client.Type[*ferry]) (*ferry, error) {
	t.Helper()
	f := &ferry{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "a"}}
	f.Spec.Rope = "hemp"
	return client.For(s.client, of).With(client.WriteOptions{FieldValidation: client.ValidateStrict}).Create(t.Context(), f)
}

func testInstall(t *testing.T, s suite) {
	_, ferries := s.installing(t)
	want := crd.MustOf(ferries, crd.Options{
		ShortNames: []string{"fe"}, Categories: []string{"boats"},
		Columns:          []crd.Column{{Name: "Rope", JSONPath: ".spec.rope"}, {Name: "Age", JSONPath: ".metadata.creationTimestamp"}},
		Scale:            &crd.Scale{SpecReplicas: ".spec.crew", StatusReplicas: ".status.crew"},
		SelectableFields: []string{".spec.color"}, Labels: map[string]string{"app": "harbour"},
		Descriptions: map[string]string{"spec.cabins[].name": "Name is unique."},
	})
	s.install(t, want)
	if plan, err := crd.PlanOf(t.Context(), s.client, want); err != nil || plan.New || len(plan.Changes) > 0 {
		t.Errorf("%v, %v", plan, err)
	}
	definitions := client.For(s.client, crd.Definitions())
	first := must[*crd.Definition](t)(definitions.Get(t.Context(), meta.Key{Name: want.Name}))
	s.install(t, want)
	second := must[*crd.Definition](t)(definitions.Get(t.Context(), meta.Key{Name: want.Name}))
	if first.Generation != 1 || second.Generation != 1 {
		t.Errorf("the generations are %d and %d", first.Generation, second.Generation)
	}
}

func testInstalledType(t *testing.T, s suite) {
	ns, ferries := s.installing(t)
	s.install(t, crd.MustOf(ferries, crd.Options{}))
	made, err := s.ferry(t, ns, ferries)
	if err != nil {
		t.Fatal(err)
	}
	is := made.Spec
	if is.Color != "red" || is.Crew != 2 || is.Fuel.String() != "1Gi" || is.Surge.String() != "25%" || is.Every.String() != "5m0s" {
		t.Errorf("the defaults are %+v", is)
	}
	handle := client.For(s.client, ferries)
	full := func(f *ferry) error {
		f.Spec.Data, f.Spec.Ports, f.Spec.Choice, f.Spec.Extra = []byte("x"), []string{"a", "a"}, new("b"), json.RawMessage(`[1,{"a":null}]`)
		f.Spec.Cabins = []ferryCabin{{"a", 1}, {"b", 255}}
		f.Spec.Object = &meta.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "b"}}}
		f.Spec.Select = &meta.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		f.Spec.Between.Min, f.Spec.Between.Max = -128, 65535
		return nil
	}
	if _, err := handle.Modify(t.Context(), made.Key(), full); err != nil {
		t.Error(err)
	}
	if _, err := handle.Status().Modify(t.Context(), made.Key(), func(f *ferry) error {
		return meta.SetCondition(&f.Status.Conditions, f.Generation, meta.Condition{Type: "Ready", Status: meta.ConditionTrue, Reason: "Moored"})
	}); err != nil {
		t.Error(err)
	}
	for name, wrong := range map[string]func(f *ferry){
		"spec.rope":   func(f *ferry) { f.Spec.Rope = "HEMP" },
		"spec.color":  func(f *ferry) { f.Spec.Color = "blue" },
		"spec.crew":   func(f *ferry) { f.Spec.Crew = 100 },
		"spec.load":   func(f *ferry) { f.Spec.Load = 0.6 },
		"spec.choice": func(f *ferry) { f.Spec.Choice = new("c") },
		"spec.cabins": func(f *ferry) { f.Spec.Cabins = []ferryCabin{{"a", 1}, {"a", 2}} },
		"spec.labels": func(f *ferry) { f.Spec.Labels = map[string]string{"a": "abcdef"} },
	} {
		_, err := handle.Modify(t.Context(), made.Key(), func(f *ferry) error { wrong(f); return nil })
		if !errors.Is(err, apierrors.Invalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func testNarrowing(t *testing.T, s suite) {
	ns, ferries := s.installing(t)
	ferryboats := client.Type[*ferryboat](ferries)
	wide, narrow, narrower := crd.MustOf(ferries, crd.Options{}), crd.MustOf(ferryboats, crd.Options{}), crd.MustOf(client.Type[*dinghy](ferries), crd.Options{})
	for _, d := range []*crd.Definition{wide, narrow, wide, narrow} { // there are no objects
		s.install(t, d)
	}
	boat := &ferryboat{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "a"}}
	if _, err := client.For(s.client, ferryboats).Create(t.Context(), boat); err != nil {
		t.Fatal(err)
	}
	s.install(t, narrow)
	if err := crd.Install(t.Context(), s.client, narrower); !errors.As(err, new(*crd.RefusedError)) {
		t.Error(err)
	}
	if err := crd.InstallWith(t.Context(), s.client, []*crd.Definition{narrower}, crd.InstallOptions{Narrow: true}); err != nil {
		t.Error(err)
	}
}

func testDropping(t *testing.T, s suite) {
	_, ferries := s.installing(t)
	newer := ferries
	newer.Version = "v2"
	s.install(t, crd.MustOf(ferries, crd.Options{}))
	s.install(t, crd.MustOf(ferries, crd.Options{Others: []crd.OtherVersion{crd.Other(newer, crd.Options{})}, Storage: "v2"}))
	alone := crd.MustOf(newer, crd.Options{})
	for _, drop := range [][]string{nil, {"v1"}} {
		err := crd.InstallWith(t.Context(), s.client, []*crd.Definition{alone}, crd.InstallOptions{Drop: drop})
		if refused, is := errors.AsType[*crd.RefusedError](err); !is || len(refused.Stored) != 1 {
			t.Error(err)
		}
	}
	unserved := crd.MustOf(newer, crd.Options{Others: []crd.OtherVersion{crd.Other(ferries, crd.Options{Unserved: true})}})
	if err := crd.InstallWith(t.Context(), s.client, []*crd.Definition{unserved}, crd.InstallOptions{Drop: []string{"v1"}}); err != nil {
		t.Error(err)
	}
	if _, err := client.For(s.client, crd.Definitions()).Status().Modify(t.Context(), meta.Key{Name: alone.Name}, func(d *crd.Definition) error {
		d.Status.StoredVersions = []string{"v2"}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s.install(t, alone)
}

func testInstallsAtOnce(t *testing.T, s suite) {
	_, ferries := s.installing(t)
	for generation, d := range []*crd.Definition{crd.MustOf(ferries, crd.Options{}), crd.MustOf(ferries, crd.Options{ShortNames: []string{"fe"}})} {
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if err := crd.Install(t.Context(), s.client, d); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		is := must[*crd.Definition](t)(client.For(s.client, crd.Definitions()).Get(t.Context(), meta.Key{Name: d.Name}))
		if is.Generation != int64(generation+1) {
			t.Errorf("the generation is %d, want %d", is.Generation, generation+1)
		}
	}
}
