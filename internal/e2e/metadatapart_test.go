package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// A write of the status changes labels, annotations, finalizers and owners of some kinds and not of others. clienttest does as
// the server does, for every kind that it serves.
func TestTheStatusOfEveryKindLetsTheSameMetadataThrough(t *testing.T) {
	t.Parallel()
	real, ns := admin(t)
	inside := open(t, clienttest.Start(t, clienttest.Options{}).Config())
	must(client.For(inside, client.Type[object]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}).
		Create(t.Context(), parse(t, `{"metadata":{"name":"`+ns+`"}}`)))(t)
	served := map[string]bool{}
	for _, r := range must(discovery.New(inside, discovery.Options{}).Resources(t.Context()))(t) {
		for _, sub := range r.Subresources {
			served[fmt.Sprint(r.GVK(), "/", sub.Name)] = true
		}
	}
	compared := 0
	for _, m := range manifests {
		if !served[fmt.Sprint(m.gvk, "/status")] {
			continue
		}
		compared++
		t.Run(m.gvk.Kind, func(t *testing.T) {
			want, got := throughStatus(t, real, m, ns), throughStatus(t, inside, m, ns)
			equal(t, "what the status lets through", got, want)
		})
	}
	if compared < 15 {
		t.Errorf("%d kinds were compared, want more", compared)
	}
}

// throughStatus makes an object, patches its metadata by its status, and returns what of that was done.
func throughStatus(t *testing.T, c *client.Client, m manifest, ns string) string {
	t.Helper()
	name := "through-" + ns
	text := strings.NewReplacer("NAME", name, "NSPACE", ns).Replace(m.minimal)
	if named := namesOf[m.gvk.Kind]; named != nil {
		name = named(name)
	}
	key := meta.Key{Name: name}
	if m.scope != meta.Cluster {
		key.Namespace = ns
	}
	made := parse(t, text)
	for what, value := range map[string]string{"name": key.Name, "namespace": key.Namespace} {
		if err := made.SetNested(value, "metadata", what); value != "" && err != nil {
			t.Fatal(err)
		}
	}
	objects := client.For(c, client.Type[object]{Group: m.gvk.Group, Version: m.gvk.Version, Kind: m.gvk.Kind, Resource: m.resource, Scope: m.scope})
	must(objects.Create(t.Context(), made))(t)
	const through = `{"metadata":{"labels":{"through":"yes"},"annotations":{"through":"yes"},"finalizers":["example.com/through"],
		"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"a"}]}}`
	must(objects.Status().Patch(t.Context(), key, patch.Merge(json.RawMessage(through))))(t)
	got := must(objects.Get(t.Context(), key))(t)
	var changed []string
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		value, _, err := meta.Nested[any](got.Object, "metadata", name)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(must(json.Marshal(value))(t)); strings.Contains(text, "through") || name == "ownerReferences" && value != nil {
			changed = append(changed, name)
		}
	}
	// Without the finalizer, so that the kinds that the server itself uses, such as namespaces, can go.
	must(objects.Patch(t.Context(), key, patch.Merge(json.RawMessage(`{"metadata":{"finalizers":null}}`))))(t)
	return strings.Join(changed, " ")
}
