package object

import (
	"reflect"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

func TestMetadataAsAValueIsItsJSON(t *testing.T) {
	yes, grace, now := true, int64(30), meta.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))}
	full := meta.ObjectMeta{
		Name: "a", GenerateName: "a-", Namespace: "default", SelfLink: "/a", UID: "u", ResourceVersion: "7", Generation: 3,
		CreationTimestamp: now, DeletionTimestamp: &now, DeletionGracePeriodSeconds: &grace,
		Labels: map[string]string{"l": "<1>"}, Annotations: map[string]string{"n": ""}, Finalizers: []string{"example.com/f"},
		OwnerReferences: []meta.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u", Controller: &yes, BlockOwnerDeletion: &yes}},
	}
	for i := range reflect.TypeFor[meta.ObjectMeta]().NumField() {
		field := reflect.TypeFor[meta.ObjectMeta]().Field(i)
		if field.Name != "ManagedFields" && reflect.ValueOf(full).Field(i).IsZero() {
			t.Errorf("the test has no value for %s", field.Name)
		}
	}
	for _, m := range []meta.ObjectMeta{{}, full} {
		if got, want := valueOf(&m), jsontree.Of(m); !reflect.DeepEqual(any(got), want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
}
