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

func (t *foreignTime) IsZero() bool                           { return t == nil || t.Time.IsZero() }
func (m *ForeignMeta) GetNamespace() string                   { return "" }
func (m *ForeignMeta) GetName() string                        { return m.Name }
func (m *ForeignMeta) GetUID() foreignUID                     { return m.UID }
func (m *ForeignMeta) GetResourceVersion() string             { return "" }
func (m *ForeignMeta) GetOwnerReferences() []foreignOwner     { return m.OwnerReferences }
func (m *ForeignMeta) GetDeletionTimestamp() *foreignTime     { return m.DeletionTimestamp }
func (m *ForeignMeta) SetDeletionTimestamp(when *foreignTime) { m.DeletionTimestamp = when }

// The shapes of a user's own objects.
type (
	ownPod struct {
		meta.ObjectMeta `json:"metadata"`
	}
	smallPod struct {
		meta.Identity `json:"metadata"`
	}
	beside struct {
		meta.Identity
		Labels            map[string]string     `json:"labels"`
		OwnerReferences   []meta.OwnerReference `json:"ownerReferences"`
		DeletionTimestamp *meta.Time            `json:"deletionTimestamp"`
	}
	besidePod struct {
		beside `json:"metadata"`
	}
	named struct {
		meta.Identity `json:"-"`
		Metadata      *struct {
			Deleted string `json:"deletionTimestamp"`
			Owners  []struct {
				Name       string `json:"name"`
				UID        string `json:"uid"`
				Controller bool   `json:"controller"`
			} `json:"ownerReferences"`
		} `json:"metadata"`
	}
	valueTime struct {
		meta.Identity `json:"-"`
		Metadata      struct {
			Deleted time.Time `json:"deletionTimestamp"`
		} `json:"metadata"`
	}
	mapPod    map[string]any
	anyTime   struct{ smallPod }
	untagged  struct{ inner }
	inner     struct{ besidePod }
	wrongKind struct {
		meta.Identity `json:"-"`
		Metadata      struct {
			Owners  string `json:"ownerReferences"`
			Deleted any    `json:"deletionTimestamp"`
		} `json:"metadata"`
	}
)

func (m mapPod) GetNamespace() string       { return "" }
func (m mapPod) GetName() string            { return "map" }
func (m mapPod) GetResourceVersion() string { return "" }

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
	var short named
	short.Metadata = new(struct {
		Deleted string `json:"deletionTimestamp"`
		Owners  []struct {
			Name       string `json:"name"`
			UID        string `json:"uid"`
			Controller bool   `json:"controller"`
		} `json:"ownerReferences"`
	})
	short.Metadata.Owners = append(short.Metadata.Owners, struct {
		Name       string `json:"name"`
		UID        string `json:"uid"`
		Controller bool   `json:"controller"`
	}{"b", "u2", true})
	unstructured := &meta.Unstructured{}
	unstructured.SetOwnerReferences(want)

	tests := []struct {
		name string
		obj  meta.Object
		want []meta.OwnerReference
	}{
		{"no object", nil, nil},
		{"an ObjectMeta", &ownPod{meta.ObjectMeta{OwnerReferences: want}}, want},
		{"an Unstructured", unstructured, want},
		{"a type like those of k8s.io/api", foreign, want},
		{"a type like those of k8s.io/api without owners", &foreignPod{}, nil},
		{"a nil pointer of such a type", (*foreignPod)(nil), nil},
		{"a field beside an Identity", &besidePod{beside{OwnerReferences: want}}, want},
		{"a field beside an Identity, as a value", besidePod{beside{OwnerReferences: want}}, want},
		{"a field in an embedded struct without a tag", &untagged{inner{besidePod{beside{OwnerReferences: want}}}}, want},
		{"a named field with a smaller owner", &short, []meta.OwnerReference{{Name: "b", UID: "u2", Controller: &yes}}},
		{"a nil pointer on the way", &named{}, nil},
		{"a map", mapPod(unstructured.Object), want},
		{"a pointer to a map", &mapPod{"metadata": unstructured.Object["metadata"]}, want},
		{"a nil map", mapPod(nil), nil},
		{"a struct without such a field", &smallPod{}, nil},
		{"a struct whose field is something else", &wrongKind{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 { // the second time from the kept plan
				got := meta.Owners(tt.obj)
				if len(got) != len(tt.want) || len(got) > 0 && !reflect.DeepEqual(got, tt.want) {
					t.Fatalf("Owners = %v, want %v", got, tt.want)
				}
				controller, found := meta.ControllerOf(tt.obj)
				if found != (len(tt.want) > 0) || found && controller.UID != "u2" {
					t.Errorf("ControllerOf = %v, %v", controller, found)
				}
			}
		})
	}
}

func TestIsDeleting(t *testing.T) {
	when := meta.Time{Time: time.Unix(1, 0)}
	full := &named{}
	full.Metadata = new(struct {
		Deleted string `json:"deletionTimestamp"`
		Owners  []struct {
			Name       string `json:"name"`
			UID        string `json:"uid"`
			Controller bool   `json:"controller"`
		} `json:"ownerReferences"`
	})
	full.Metadata.Deleted = "2024-05-06T07:08:09Z"
	timed := &valueTime{}
	timed.Metadata.Deleted = time.Unix(1, 0)
	anyDeleted, anyZero := &wrongKind{}, &wrongKind{}
	anyDeleted.Metadata.Deleted, anyZero.Metadata.Deleted = &when, ""
	unstructured := &meta.Unstructured{}
	unstructured.SetDeletionTimestamp(&when)

	tests := []struct {
		name string
		obj  meta.Object
		want bool
	}{
		{"no object", nil, false},
		{"an ObjectMeta", &ownPod{meta.ObjectMeta{DeletionTimestamp: &when}}, true},
		{"an ObjectMeta without it", &ownPod{}, false},
		{
			"an ObjectMeta with the zero time, which the wire knows as null",
			&ownPod{meta.ObjectMeta{DeletionTimestamp: &meta.Time{}}}, false,
		},
		{"an Unstructured", unstructured, true},
		{"an Unstructured without it", &meta.Unstructured{}, false},
		{
			"a type like those of k8s.io/api",
			&foreignPod{ForeignMeta: ForeignMeta{DeletionTimestamp: &foreignTime{time.Unix(1, 0)}}}, true,
		},
		{
			"a type like those of k8s.io/api with the zero time",
			&foreignPod{ForeignMeta: ForeignMeta{DeletionTimestamp: &foreignTime{}}}, false,
		},
		{"a type like those of k8s.io/api without it", &foreignPod{}, false},
		{"a nil pointer of such a type", (*foreignPod)(nil), false},
		{"a field beside an Identity", &besidePod{beside{DeletionTimestamp: &when}}, true},
		{"a field beside an Identity, as a value", besidePod{beside{DeletionTimestamp: &when}}, true},
		{"a field beside an Identity without it", &besidePod{}, false},
		{"a string", full, true},
		{"a nil pointer on the way", &named{}, false},
		{"a time by value", timed, true},
		{"a time by value in a value", *timed, true},
		{"the zero time by value", &valueTime{}, false},
		{"a pointer in an interface", anyDeleted, true},
		{"nothing in an interface", &wrongKind{}, false},
		{"the empty string in an interface", anyZero, false},
		{"a map", mapPod(unstructured.Object), true},
		{"a nil map", mapPod(nil), false},
		{"a struct without such a field", &smallPod{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				if got := meta.IsDeleting(tt.obj); got != tt.want {
					t.Errorf("IsDeleting = %v, want %v", got, tt.want)
				}
			}
		})
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
	for name, obj := range map[string]meta.Object{"own": own, "foreign": foreign} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				meta.Owners(obj)
			}
		})
	}
}

func BenchmarkIsDeleting(b *testing.B) {
	for name, obj := range map[string]meta.Object{
		"own":     &ownPod{},
		"foreign": &foreignPod{ForeignMeta: ForeignMeta{DeletionTimestamp: &foreignTime{time.Unix(1, 0)}}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				meta.IsDeleting(obj)
			}
		})
	}
}
