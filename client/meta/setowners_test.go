package meta_test

import (
	"reflect"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

type (
	richOwner struct {
		Name, Kind, UID string
		Extra           string
		APIVersion      string        `json:"apiVersion"`
		KindTag         string        `json:"kind"`
		NameTag         string        `json:"name"`
		UIDTag          foreignUID    `json:"uid"`
		Controller      bool          `json:"controller"`
		Block           *optionalBool `json:"blockOwnerDeletion"`
	}
	optionalBool bool
	richPod      struct {
		meta.Identity `json:"-"`
		Metadata      *struct {
			Owners []richOwner `json:"ownerReferences"`
		} `json:"metadata"`
	}
)

func TestSetOwners(t *testing.T) {
	yes, no := true, false
	owners := []meta.OwnerReference{
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "a", UID: "u1", Controller: &yes, BlockOwnerDeletion: &no},
		{APIVersion: "v1", Kind: "Pod", Name: "b", UID: "u2", BlockOwnerDeletion: &yes},
	}
	emptyMap := mapPod(nil)
	for _, test := range []struct {
		name string
		obj  meta.Object
	}{
		{"an ObjectMeta", &ownPod{}},
		{"an Unstructured", &meta.Unstructured{}},
		{"a type like those of k8s.io/api", &foreignPod{}},
		{"a field beside an Identity", &besidePod{}},
		{"a field in an embedded struct without a tag", &untagged{}},
		{"a map", mapPod{}},
		{"a pointer to a nil map", &emptyMap},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 {
				if err := meta.SetOwners(test.obj, owners); err != nil {
					t.Fatal(err)
				}
				got := meta.Owners(test.obj)
				if !reflect.DeepEqual(got, owners) {
					t.Errorf("owners are %+v, want %+v", got, owners)
				}
				if len(got) > 0 && got[0].Controller == owners[0].Controller {
					t.Error("a flag is shared with what was set")
				}
			}
			if err := meta.SetOwners(test.obj, nil); err != nil || len(meta.Owners(test.obj)) != 0 {
				t.Errorf("without any it has %+v, %v", meta.Owners(test.obj), err)
			}
		})
	}
}

// What a foreign reference has beside the API's fields goes with its uid.
func TestSetOwnersKeepsWhatItDoesNotKnow(t *testing.T) {
	yes, no := true, false
	block := optionalBool(true)
	pod := &richPod{}
	if err := meta.SetOwners(pod, []meta.OwnerReference{{UID: "u1", Name: "a"}, {UID: "u2", Name: "b", Controller: &yes}}); err != nil {
		t.Fatal(err)
	}
	pod.Metadata.Owners[1].Extra, pod.Metadata.Owners[1].Block = "x", &block
	before := pod.Metadata.Owners
	if err := meta.SetOwners(pod, []meta.OwnerReference{{UID: "u2", Name: "c", Kind: "K", BlockOwnerDeletion: &no}}); err != nil {
		t.Fatal(err)
	}
	got := pod.Metadata.Owners
	if len(got) != 1 || got[0].Extra != "x" || got[0].NameTag != "c" || got[0].KindTag != "K" || got[0].Controller || bool(*got[0].Block) {
		t.Errorf("got %+v", got)
	}
	if before[1].NameTag != "b" || !block || len(before) != 2 {
		t.Errorf("what it had became %+v", before)
	}
}

func TestWhatSetOwnersRefuses(t *testing.T) {
	yes := true
	short := &named{}
	for _, test := range []struct {
		name string
		obj  meta.Object
		want string
	}{
		{"nil", nil, "set the owners of an object that is nil"},
		{"a nil pointer", (*foreignPod)(nil), "set the owners of an object that is nil"},
		{"a nil map", mapPod(nil), "set the owners of an object that is nil"},
		{"no such field", &smallPod{}, "set the owners of *meta_test.smallPod: it has no field metadata.ownerReferences"},
		{"a field of another kind", &wrongKind{}, "set the owners of *meta_test.wrongKind: it has no field metadata.ownerReferences"},
		{"a value", besidePod{}, "set the owners of meta_test.besidePod: it has no field metadata.ownerReferences"},
		{"references that lack a field", short, "set the owners of *meta_test.named: its references have no field apiVersion"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := meta.SetOwners(test.obj, []meta.OwnerReference{{APIVersion: "v1", UID: "u", Controller: &yes}})
			if err == nil || err.Error() != test.want {
				t.Errorf("error is %v, want %s", err, test.want)
			}
			if test.obj != nil && len(meta.Owners(test.obj)) != 0 {
				t.Errorf("owners are %v", meta.Owners(test.obj))
			}
		})
	}
}
