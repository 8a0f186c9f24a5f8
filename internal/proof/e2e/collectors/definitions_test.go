package collectors

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// deleteDefinitions deletes the definitions of custom resources whose objects have dependents, and returns which of the
// dependents there are after a time in which a collector has looked for new resources.
func deleteDefinitions(t *testing.T, config client.Config) (left []string) {
	t.Helper()
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	defined, children := client.For(c, definitions), client.For(c, kindOf("ConfigMap"))
	for n := range 8 {
		plural, kind := fmt.Sprintf("thing%ds", n), fmt.Sprintf("Thing%d", n)
		o := pageDefinition()
		o.SetName(plural + ".example.com")
		if err := meta.SetNested(o, any(map[string]any{"plural": plural, "kind": kind}), "spec", "names"); err != nil {
			t.Fatal(err)
		}
		if _, err := defined.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if _, err := client.WaitFor(t.Context(), defined, meta.KeyOf(o), client.UntilTrue("Established")); err != nil {
			t.Fatal(err)
		}
		owner := &meta.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": kind}}
		owner.SetName("owner")
		owner.SetNamespace("default")
		owner, err := client.For(c, client.Type[object]{Group: "example.com", Version: "v1", Kind: kind, Resource: plural}).Create(t.Context(), owner)
		if err != nil {
			t.Fatal(err)
		}
		child := newObject("ConfigMap", meta.Key{Namespace: "default", Name: "child-of-" + plural})
		child.SetOwnerReferences([]meta.OwnerReference{{APIVersion: "example.com/v1", Kind: kind, Name: "owner", UID: owner.GetUID()}})
		if _, err := children.Create(t.Context(), child); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(40 * time.Second) // the collector finds the resources
	for n := range 8 {
		if err := defined.Delete(t.Context(), meta.Key{Name: fmt.Sprintf("thing%ds.example.com", n)}, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(n) * 700 * time.Millisecond)
	}
	for _, wait := range []time.Duration{5 * time.Second, 40 * time.Second} {
		time.Sleep(wait)
		for n := range 8 {
			name := fmt.Sprintf("child-of-thing%ds", n)
			switch _, err := children.Get(t.Context(), meta.Key{Namespace: "default", Name: name}); {
			case err == nil:
				left = append(left, fmt.Sprintf("%s after %v", name, wait))
			case !errors.Is(err, apierrors.NotFound):
				t.Fatal(err)
			}
		}
	}
	return left
}
