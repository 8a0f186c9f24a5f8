package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/cel"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/controlplane/build"
	"github.com/bowline-go/bowline/patch"
)

// A write of the status changes labels, annotations, finalizers and owners of some kinds and not of others. clienttest does as
// the server does, for every kind that both serve.
func TestTheStatusOfEveryKindLetsTheSameMetadataThrough(t *testing.T) {
	t.Parallel()
	real, ns := admin(t)
	inside := open(t, clienttest.Start(t, clienttest.Options{Rules: cel.Rules()}).Config())
	must(client.For(inside, client.Type[object]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}).
		Create(t.Context(), parse(t, `{"metadata":{"name":"`+ns+`"}}`)))(t)
	statuses := func(c *client.Client) map[string]bool {
		served := map[string]bool{}
		for _, r := range despiteOthers(discovery.New(c, discovery.Options{}).Resources(t.Context()))(t) {
			for _, sub := range r.Subresources {
				served[fmt.Sprint(r.GVK(), "/", sub.Name)] = true
			}
		}
		return served
	}
	served, there := statuses(inside), statuses(real)
	newest := plane.Kubernetes == build.Minors()[0]
	compared := 0
	for _, m := range slices.Concat(manifests, moreManifests, rareKinds()) {
		if status := fmt.Sprint(m.gvk, "/status"); !served[status] || !newest && !there[status] {
			continue // an older server lacks kinds that clienttest has
		}
		compared++
		t.Run(m.gvk.Kind, func(t *testing.T) {
			want, got := throughStatus(t, real, m, ns), throughStatus(t, inside, m, ns)
			equal(t, "what the status lets through", got, want)
		})
	}
	if newest && compared < 30 {
		t.Errorf("%d kinds were compared, want more", compared)
	}
}

// object returns the object of one of the manifest's texts, and its key. Its name begins with prefix.
func (m manifest) object(t *testing.T, text, prefix, ns string) (object, meta.Key) {
	t.Helper()
	name := prefix + sum(m.gvk.String()) + "-" + ns
	made := parse(t, strings.NewReplacer("NAME", name, "NSPACE", ns).Replace(text))
	if named := namesOf[m.gvk.Kind]; named != nil {
		name = named(name)
	}
	key := meta.Key{Name: name}
	if m.scope != meta.Cluster {
		key.Namespace = ns
	}
	for what, value := range map[string]string{"name": key.Name, "namespace": key.Namespace} {
		if err := meta.SetNested(made, value, "metadata", what); value != "" && err != nil {
			t.Fatal(err)
		}
	}
	return made, key
}

// throughStatus makes an object, patches its metadata by its status, and returns what of that was done.
func throughStatus(t *testing.T, c *client.Client, m manifest, ns string) string {
	t.Helper()
	made, key := m.object(t, m.minimal, "t", ns) // a custom resource definition takes the name of an APIService
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
	// Other tests must not meet the object: the server itself uses some kinds.
	must(objects.Patch(t.Context(), key, patch.Merge(json.RawMessage(`{"metadata":{"finalizers":null}}`))))(t)
	if err := objects.Delete(t.Context(), key, client.DeleteOptions{GracePeriod: client.NoGracePeriod}); err != nil {
		t.Error(err)
	}
	return strings.Join(changed, " ")
}
