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
		smallPod
		owners []richOwner
	}
)

func (p *richPod) GetOwnerReferences() []richOwner       { return p.owners }
func (p *richPod) SetOwnerReferences(owners []richOwner) { p.owners = owners }

func writing[T meta.Ownable[R], R any](obj T) func(owners []meta.OwnerReference) ([]meta.OwnerReference, error) {
	return func(owners []meta.OwnerReference) ([]meta.OwnerReference, error) {
		err := meta.SetOwners(obj, owners)
		return meta.Owners(obj), err
	}
}

func TestSetOwners(t *testing.T) {
	yes, no := true, false
	owners := []meta.OwnerReference{
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "a", UID: "u1", Controller: &yes, BlockOwnerDeletion: &no},
		{APIVersion: "v1", Kind: "Pod", Name: "b", UID: "u2", BlockOwnerDeletion: &yes},
	}
	for _, test := range []struct {
		name string
		set  func(owners []meta.OwnerReference) ([]meta.OwnerReference, error)
	}{
		{"an ObjectMeta", writing(&ownPod{})},
		{"an Unstructured", writing(&meta.Unstructured{})},
		{"a type like those of k8s.io/api", writing(&foreignPod{})},
		{"an OwnerMeta beside an Identity", writing(&leanPod{})},
		{"a map", writing(mapPod{})},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 {
				got, err := test.set(owners)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, owners) {
					t.Errorf("owners are %+v, want %+v", got, owners)
				}
				for i := range got {
					if got[i].Controller != nil && got[i].Controller == owners[i].Controller {
						t.Error("the object shares memory with the argument")
					}
				}
			}
			if got, err := test.set(nil); err != nil || len(got) != 0 {
				t.Errorf("without any it has %+v, %v", got, err)
			}
		})
	}
}

// Fields of a foreign reference that the API does not have stay with its uid.
func TestSetOwnersKeepsWhatItDoesNotKnow(t *testing.T) {
	yes, no := true, false
	block := optionalBool(true)
	pod := &richPod{}
	if err := meta.SetOwners(pod, []meta.OwnerReference{{UID: "u1", Name: "a"}, {UID: "u2", Name: "b", Controller: &yes}}); err != nil {
		t.Fatal(err)
	}
	pod.owners[1].Extra, pod.owners[1].Block = "x", &block
	before := pod.owners
	if err := meta.SetOwners(pod, []meta.OwnerReference{{UID: "u2", Name: "c", Kind: "K", BlockOwnerDeletion: &no}}); err != nil {
		t.Fatal(err)
	}
	got := pod.owners
	if len(got) != 1 || got[0].Extra != "x" || got[0].NameTag != "c" || got[0].KindTag != "K" || got[0].Controller || bool(*got[0].Block) {
		t.Errorf("got %+v", got)
	}
	if before[1].NameTag != "b" || !block || len(before) != 2 {
		t.Errorf("the references that it had became %+v", before)
	}
}

func TestSetOwnersRefusesUnsuitableObjects(t *testing.T) {
	yes := true
	for _, test := range []struct {
		name string
		set  func(owners []meta.OwnerReference) ([]meta.OwnerReference, error)
		want string
	}{
		{"a nil pointer", writing((*foreignPod)(nil)), "set the owners: the object must not be nil"},
		{"a nil map", writing(mapPod(nil)), "set the owners: the object must not be nil"},
		{"references that lack a field", writing(&shortPod{}), "set the owners of *meta_test.shortPod: its references have no field apiVersion"},
	} {
		t.Run(test.name, func(t *testing.T) {
			owners, err := test.set([]meta.OwnerReference{{APIVersion: "v1", UID: "u", Controller: &yes}})
			if err == nil || err.Error() != test.want {
				t.Errorf("error is %v, want %s", err, test.want)
			}
			if len(owners) != 0 {
				t.Errorf("owners are %v", owners)
			}
		})
	}
}
