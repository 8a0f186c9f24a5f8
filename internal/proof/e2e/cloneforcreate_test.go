package e2e

import (
	"reflect"
	"slices"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// A server creates copies of an object of every built-in kind: under another name, under one that it makes, in another
// namespace, and as another cluster would. What it puts into a copy is what a copy of that leaves out again.
func TestACopyOfAnObjectOfEveryKindIsCreated(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	_, elsewhere := admin(t)
	for _, m := range slices.Concat(manifests, moreManifests) {
		t.Run(m.resource+" of "+m.gvk.Group+" "+m.gvk.Version, func(t *testing.T) {
			objects := client.For(c, client.Type[object]{Group: m.gvk.Group, Version: m.gvk.Version, Kind: m.gvk.Kind, Resource: m.resource, Scope: m.scope})
			made, key := m.object(t, m.full, "original", ns)
			original := must(objects.Create(t.Context(), made))(t)
			targets := []meta.CloneTarget{{}, {Name: key.Name + "-named"}, {Name: key.Name + "-cluster", OtherCluster: true}}
			if m.scope != meta.Cluster {
				targets = append(targets, meta.CloneTarget{Namespace: elsewhere}, meta.CloneTarget{Namespace: elsewhere, OtherCluster: true, Name: key.Name + "-both"})
			}
			if namesOf[m.gvk.Kind] != nil { // the name is part of the object
				targets = []meta.CloneTarget{{OtherCluster: true}}
				if err := objects.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				if _, err := client.WaitFor(t.Context(), objects, key, client.UntilDeleted("")); err != nil {
					t.Fatal(err)
				}
			}
			for _, to := range targets {
				copied := must(meta.CloneForCreate(original, m.gvk, to))(t)
				created, err := objects.Create(t.Context(), copied)
				if err != nil {
					t.Errorf("%+v: %v", to, err)
					continue
				}
				if meta.UID(created) == meta.UID(original) {
					t.Errorf("%+v: the copy is the original", to)
				}
				same := meta.CloneTarget{Namespace: copied.GetNamespace(), Name: "same", OtherCluster: to.OtherCluster}
				again, first := must(meta.CloneForCreate(created, m.gvk, same))(t), must(meta.CloneForCreate(original, m.gvk, same))(t)
				if !reflect.DeepEqual(again, first) {
					t.Errorf("%+v: a copy of the copy is\n%v\nand one of the original\n%v", to, again, first)
				}
			}
		})
	}
}
