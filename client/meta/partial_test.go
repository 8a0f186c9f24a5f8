package meta_test

import (
	"encoding/json"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

func TestPartialIsAnObjectWithNothingButMetadata(t *testing.T) {
	var p meta.Partial
	if err := json.Unmarshal([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"web","name":"a","uid":"u","resourceVersion":"7",
		"deletionTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"web"},
		"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"o","controller":true}]},"spec":{"a":1}}`), &p); err != nil {
		t.Fatal(err)
	}
	if meta.KeyOf(&p) != (meta.Key{Namespace: "web", Name: "a"}) || meta.UID(&p) != "u" || !meta.IsDeleting(&p) || p.GVK().Kind != "Pod" {
		t.Errorf("got %+v", p)
	}
	if owner, ok := meta.ControllerOf(&p); !ok || owner.UID != "o" {
		t.Errorf("it is controlled by %+v", owner)
	}
	c := meta.Clone(&p)
	c.Labels["app"], *c.OwnerReferences[0].Controller = "db", false
	if p.Labels["app"] != "web" || !*p.OwnerReferences[0].Controller {
		t.Error("a copy shares what can be changed")
	}
	out, err := json.Marshal(&p)
	if want := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"web","uid":"u","resourceVersion":"7",` +
		`"deletionTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"web"},` +
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"o","controller":true}]}}`; err != nil || string(out) != want {
		t.Errorf("got  %s, %v\nwant %s", out, err, want)
	}
}
