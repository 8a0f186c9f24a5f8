package meta_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// What follows has the shape of the types of k8s.io/api and k8s.io/apimachinery: the fields, the tags and the methods that
// matter here.
type (
	foreignUID   string
	foreignTime  struct{ time.Time }
	foreignOwner struct {
		APIVersion         string     `json:"apiVersion" protobuf:"bytes,5,opt,name=apiVersion"`
		Kind               string     `json:"kind"`
		Name               string     `json:"name"`
		UID                foreignUID `json:"uid"`
		Controller         *bool      `json:"controller,omitempty"`
		BlockOwnerDeletion *bool      `json:"blockOwnerDeletion,omitempty"`
	}
	foreignType struct {
		Kind       string `json:"kind,omitempty"`
		APIVersion string `json:"apiVersion,omitempty"`
	}
	ForeignMeta struct {
		Name              string         `json:"name,omitempty"`
		UID               foreignUID     `json:"uid,omitempty"`
		DeletionTimestamp *foreignTime   `json:"deletionTimestamp,omitempty"`
		OwnerReferences   []foreignOwner `json:"ownerReferences,omitempty"`
	}
	foreignPod struct {
		foreignType `json:",inline"`
		ForeignMeta `json:"metadata,omitempty"`
		Spec        struct{ NodeName string } `json:"spec"`
	}
)

func (t *foreignTime) IsZero() bool                             { return t == nil || t.Time.IsZero() }
func (m *ForeignMeta) GetNamespace() string                     { return "" }
func (m *ForeignMeta) GetName() string                          { return m.Name }
func (m *ForeignMeta) GetUID() foreignUID                       { return m.UID }
func (m *ForeignMeta) GetResourceVersion() string               { return "" }
func (m *ForeignMeta) GetOwnerReferences() []foreignOwner       { return m.OwnerReferences }
func (m *ForeignMeta) SetOwnerReferences(owners []foreignOwner) { m.OwnerReferences = owners }
func (m *ForeignMeta) GetDeletionTimestamp() *foreignTime       { return m.DeletionTimestamp }
func (m *ForeignMeta) SetDeletionTimestamp(when *foreignTime)   { m.DeletionTimestamp = when }

// The shapes of a user's own objects.
type (
	ownPod struct {
		meta.ObjectMeta `json:"metadata"`
	}
	smallPod struct {
		meta.Identity `json:"metadata"`
	}
	leanMeta struct {
		meta.Identity
		meta.OwnerMeta
		meta.DeletionMeta
		meta.LabelMeta
	}
	leanPod struct {
		leanMeta `json:"metadata"`
	}
	shortOwner struct {
		Name       string `json:"name"`
		UID        string `json:"uid"`
		Controller bool   `json:"controller"`
	}
	shortPod struct {
		smallPod
		owners []shortOwner
	}
	valueTime struct {
		smallPod
		when meta.Time
	}
	mapPod  map[string]any
	anyTime struct{ smallPod }
)

func (p *shortPod) GetOwnerReferences() []shortOwner       { return p.owners }
func (p *shortPod) SetOwnerReferences(owners []shortOwner) { p.owners = owners }
func (p *valueTime) GetDeletionTimestamp() meta.Time       { return p.when }
func (m mapPod) object() *meta.Unstructured                { return &meta.Unstructured{Object: m} }
func (m mapPod) GetNamespace() string                      { return "" }
func (m mapPod) GetName() string                           { return "map" }
func (m mapPod) GetResourceVersion() string                { return "" }
func (m mapPod) GetDeletionTimestamp() *meta.Time          { return m.object().GetDeletionTimestamp() }

func (m mapPod) GetOwnerReferences() []meta.OwnerReference { return m.object().GetOwnerReferences() }

func (m mapPod) SetOwnerReferences(owners []meta.OwnerReference) {
	m.object().SetOwnerReferences(owners)
}

// reading is Owners and ControllerOf of one object.
func reading[T meta.Owned[R], R any](obj T) func() ([]meta.OwnerReference, meta.OwnerReference, bool) {
	return func() ([]meta.OwnerReference, meta.OwnerReference, bool) {
		controller, found := meta.ControllerOf(obj)
		return meta.Owners(obj), controller, found
	}
}

func TestOwners(t *testing.T) {
	yes, no := true, false
	want := []meta.OwnerReference{
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "a", UID: "u1", Controller: &no, BlockOwnerDeletion: &yes},
		{APIVersion: "v1", Kind: "Pod", Name: "b", UID: "u2", Controller: &yes},
	}
	foreign := &foreignPod{}
	for _, o := range want {
		foreign.OwnerReferences = append(foreign.OwnerReferences, foreignOwner{
			o.APIVersion, o.Kind, o.Name, foreignUID(o.UID), o.Controller, o.BlockOwnerDeletion,
		})
	}
	unstructured := &meta.Unstructured{}
	unstructured.SetOwnerReferences(want)
	lean := &leanPod{}
	lean.OwnerReferences = want

	for _, test := range []struct {
		name string
		read func() ([]meta.OwnerReference, meta.OwnerReference, bool)
		want []meta.OwnerReference
	}{
		{"an ObjectMeta", reading(&ownPod{meta.ObjectMeta{OwnerReferences: want}}), want},
		{"an ObjectMeta without owners", reading(&ownPod{}), nil},
		{"an Unstructured", reading(unstructured), want},
		{"a type like those of k8s.io/api", reading(foreign), want},
		{"a type like those of k8s.io/api without owners", reading(&foreignPod{}), nil},
		{"a nil pointer of such a type", reading((*foreignPod)(nil)), nil},
		{"an OwnerMeta beside an Identity", reading(lean), want},
		{
			"a smaller owner", reading(&shortPod{owners: []shortOwner{{"b", "u2", true}}}),
			[]meta.OwnerReference{{Name: "b", UID: "u2", Controller: &yes}},
		},
		{"a map", reading(mapPod(unstructured.Object)), want},
		{"a nil map", reading(mapPod(nil)), nil},
		{"a Raw", reading(&meta.Raw{ObjectMeta: meta.ObjectMeta{OwnerReferences: want}}), want},
		{"a Partial", reading(&meta.Partial{ObjectMeta: meta.ObjectMeta{OwnerReferences: want}}), want},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 { // the second time from the kept plan
				got, controller, found := test.read()
				if len(got) != len(test.want) || len(got) > 0 && !reflect.DeepEqual(got, test.want) {
					t.Fatalf("Owners = %v, want %v", got, test.want)
				}
				if found != (len(test.want) > 0) || found && controller.UID != "u2" {
					t.Errorf("ControllerOf = %v, %v", controller, found)
				}
			}
		})
	}
}

// IsDeleting was false for ever for a struct whose metadata has no deletionTimestamp. Such a struct does not compile now
// (TestAProgramThatAsksATypeForWhatItLacksDoesNotCompile in informer/controller).
func TestIsDeleting(t *testing.T) {
	when := meta.Time{Time: time.Unix(1, 0)}
	unstructured := &meta.Unstructured{}
	if err := meta.SetNested(unstructured, when, "metadata", "deletionTimestamp"); err != nil {
		t.Fatal(err)
	}
	odd := &meta.Unstructured{Object: map[string]any{"metadata": map[string]any{"deletionTimestamp": "soon"}}}
	lean := &leanPod{}
	lean.DeletionTimestamp = &when
	for _, test := range []struct {
		name      string
		got, want bool
	}{
		{"an ObjectMeta", meta.IsDeleting(&ownPod{meta.ObjectMeta{DeletionTimestamp: &when}}), true},
		{"an ObjectMeta without it", meta.IsDeleting(&ownPod{}), false},
		{
			"an ObjectMeta with the zero time, which the wire knows as null",
			meta.IsDeleting(&ownPod{meta.ObjectMeta{DeletionTimestamp: &meta.Time{}}}), false,
		},
		{"an Unstructured", meta.IsDeleting(unstructured), true},
		{"an Unstructured whose time is none", meta.IsDeleting(odd), true},
		{"an Unstructured without it", meta.IsDeleting(&meta.Unstructured{}), false},
		{
			"a type like those of k8s.io/api",
			meta.IsDeleting(&foreignPod{ForeignMeta: ForeignMeta{DeletionTimestamp: &foreignTime{time.Unix(1, 0)}}}), true,
		},
		{
			"a type like those of k8s.io/api with the zero time",
			meta.IsDeleting(&foreignPod{ForeignMeta: ForeignMeta{DeletionTimestamp: &foreignTime{}}}), false,
		},
		{"a type like those of k8s.io/api without it", meta.IsDeleting(&foreignPod{}), false},
		{"a nil pointer of such a type", meta.IsDeleting((*foreignPod)(nil)), false},
		{"a DeletionMeta beside an Identity", meta.IsDeleting(lean), true},
		{"a DeletionMeta without it", meta.IsDeleting(&leanPod{}), false},
		{"a time by value", meta.IsDeleting(&valueTime{when: when}), true},
		{"the zero time by value", meta.IsDeleting(&valueTime{}), false},
		{"a map", meta.IsDeleting(mapPod(unstructured.Object)), true},
		{"a nil map", meta.IsDeleting(mapPod(nil)), false},
		{"a Raw", meta.IsDeleting(&meta.Raw{ObjectMeta: meta.ObjectMeta{DeletionTimestamp: &when}}), true},
		{"a Partial", meta.IsDeleting(&meta.Partial{ObjectMeta: meta.ObjectMeta{DeletionTimestamp: &when}}), true},
	} {
		if test.got != test.want {
			t.Errorf("%s: IsDeleting = %v, want %v", test.name, test.got, test.want)
		}
	}
}

func TestTheLeanPartsHaveTheMethodsOfObjectMeta(t *testing.T) {
	type parts interface {
		meta.Labelled
		GetFinalizers() []string
		GetDeletionTimestamp() *meta.Time
		GetOwnerReferences() []meta.OwnerReference
		SetOwnerReferences(owners []meta.OwnerReference)
	}
	lean, own := &leanPod{}, &ownPod{}
	lean.Labels, lean.Finalizers = map[string]string{"a": "1"}, []string{"f"}
	own.Labels, own.Finalizers = lean.Labels, lean.Finalizers
	for _, obj := range []parts{lean, own} {
		obj.SetOwnerReferences([]meta.OwnerReference{{UID: "u"}})
		if obj.GetLabels()["a"] != "1" || obj.GetFinalizers()[0] != "f" || obj.GetOwnerReferences()[0].UID != "u" {
			t.Errorf("%T is %+v", obj, obj)
		}
	}
	key := meta.Key{Namespace: "web", Name: "a"}
	if got := (&ownPod{ObjectMeta: key.ObjectMeta()}); meta.KeyOf(got) != key {
		t.Errorf("an object made of a key is %+v", got)
	}
}

func TestUIDOfAnyType(t *testing.T) {
	if got := meta.UID(&foreignPod{ForeignMeta: ForeignMeta{UID: "u"}}); got != "u" {
		t.Errorf("uid %q of a foreign type", got)
	}
	if got := meta.UID(&ownPod{meta.ObjectMeta{UID: "u"}}); got != "u" {
		t.Errorf("uid %q of an ObjectMeta", got)
	}
	if got := meta.UID(smallPod{meta.Identity{UID: "u"}}); got != "u" {
		t.Errorf("uid %q of an Identity", got)
	}
	if got := meta.UID(&anyTime{smallPod{meta.Identity{UID: "u"}}}); got != "u" {
		t.Errorf("uid %q of an embedded Identity", got)
	}
}

func BenchmarkOwners(b *testing.B) {
	yes := true
	own := &ownPod{}
	own.OwnerReferences = []meta.OwnerReference{{Kind: "ReplicaSet", Name: "a", UID: "u", Controller: &yes}}
	foreign := &foreignPod{}
	foreign.OwnerReferences = []foreignOwner{{"apps/v1", "ReplicaSet", "a", "u", &yes, &yes}}
	b.Run("own", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			meta.Owners(own)
		}
	})
	b.Run("foreign", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			meta.Owners(foreign)
		}
	})
}

func BenchmarkIsDeleting(b *testing.B) {
	own, foreign := &ownPod{}, &foreignPod{ForeignMeta: ForeignMeta{DeletionTimestamp: &foreignTime{time.Unix(1, 0)}}}
	b.Run("own", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			meta.IsDeleting(own)
		}
	})
	b.Run("foreign", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			meta.IsDeleting(foreign)
		}
	})
}
