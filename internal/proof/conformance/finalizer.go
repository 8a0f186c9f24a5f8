package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func testFinalizerCalls(t *testing.T, s suite) {
	ns := s.namespace(t)
	c := newCounter(t, s)
	configMaps := client.For(c.Client, ConfigMaps)
	made := s.configMap(t, ns, "a", nil)
	key := meta.KeyOf(made)
	step := func(call func() (*ConfigMap, error), finalizers string, writes int64) {
		t.Helper()
		before := c.writes.Load()
		got := must[*ConfigMap](t)(call())
		if sent := c.writes.Load() - before; strings.Join(got.Finalizers, " ") != finalizers || sent != writes {
			t.Errorf("finalizers are %q by %d writes, want %q by %d", got.Finalizers, sent, finalizers, writes)
		}
	}
	add := func(name string) func() (*ConfigMap, error) {
		return func() (*ConfigMap, error) {
			return configMaps.AddFinalizer(t.Context(), key, name, meta.FinalizerOptions{})
		}
	}
	remove := func(name string) func() (*ConfigMap, error) {
		return func() (*ConfigMap, error) {
			return configMaps.RemoveFinalizer(t.Context(), key, name, meta.FinalizerOptions{})
		}
	}
	step(add("bowline.dev/a"), "bowline.dev/a", 1)
	step(add("bowline.dev/a"), "bowline.dev/a", 0)
	step(add("bowline.dev/b"), "bowline.dev/a bowline.dev/b", 1)
	step(remove("bowline.dev/absent"), "bowline.dev/a bowline.dev/b", 0)
	step(remove("bowline.dev/a"), "bowline.dev/b", 1)
	step(remove("bowline.dev/b"), "", 1)
	step(remove("bowline.dev/b"), "", 0)
	step(add("orphan"), "orphan", 1)
	step(remove("orphan"), "", 1)
	step(add("bowline.dev/a"), "bowline.dev/a", 1)

	partial := client.Metadata(configMaps)
	if got := must[*meta.Partial](t)(partial.AddFinalizer(t.Context(), key, "bowline.dev/partial", meta.FinalizerOptions{})); len(got.Finalizers) != 2 || got.Kind != "ConfigMap" {
		t.Errorf("through the metadata it is %+v", got)
	}
	must[*meta.Partial](t)(partial.RemoveFinalizer(t.Context(), key, "bowline.dev/partial", meta.FinalizerOptions{}))

	if err := s.configMaps.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	step(add("bowline.dev/a"), "bowline.dev/a", 0) // the object already has the finalizer
	_, err := add("bowline.dev/late")()
	var deleting *client.DeletingError
	if !errors.As(err, &deleting) || !errors.Is(err, apierrors.Conflict) || fmt.Sprint(deleting.Finalizers) != "[bowline.dev/a]" {
		t.Errorf("error is %v, want that it is being deleted", err)
	}
	step(remove("bowline.dev/a"), "", 1)
	_, err = configMaps.Get(t.Context(), key)
	wantReason(t, err, apierrors.NotFound, 404)
	if got, err := remove("bowline.dev/a")(); got != nil || err != nil {
		t.Errorf("of an object that is gone: %v, %v", got, err)
	}
	_, err = add("bowline.dev/a")()
	wantReason(t, err, apierrors.NotFound, 404)

	// A NotFound for an unknown resource does not mean that the object is gone.
	missing := client.For(c.Client, client.Type[*ConfigMap]{Group: "conformance.invalid", Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	if _, err := missing.RemoveFinalizer(t.Context(), key, "bowline.dev/a", meta.FinalizerOptions{}); !errors.Is(err, apierrors.NotFound) {
		t.Errorf("error is %v, want that there is no such resource", err)
	}
}

// Many programs each have a finalizer on one object, while another one writes something else.
func testFinalizersTogether(t *testing.T, s suite) {
	const many = 32
	ns := s.namespace(t)
	made := newConfigMap(ns, "a", nil)
	names := numbered("bowline.dev/f", many)
	for i := 1; i < many; i += 2 {
		made.Finalizers = append(made.Finalizers, names[i])
	}
	made.Finalizers = append(made.Finalizers, "bowline.dev/other")
	key := meta.KeyOf(must[*ConfigMap](t)(s.configMaps.Create(t.Context(), made)))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { // the present finalizers are removed, and the others are added
			call := s.configMaps.AddFinalizer
			if i%2 == 1 {
				call = s.configMaps.RemoveFinalizer
			}
			if _, err := call(t.Context(), key, name, meta.FinalizerOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Go(func() {
		for i := range 10 {
			must[*ConfigMap](t)(s.configMaps.Modify(t.Context(), key, func(m *ConfigMap) error {
				m.Data[fmt.Sprint(i)] = "x"
				return nil
			}))
		}
	})
	all.Wait()
	got := must[*ConfigMap](t)(s.configMaps.Get(t.Context(), key))
	want := []string{"bowline.dev/other"}
	for i := 0; i < many; i += 2 {
		want = append(want, names[i])
	}
	slices.Sort(want)
	slices.Sort(got.Finalizers)
	if !slices.Equal(got.Finalizers, want) {
		t.Errorf("finalizers are %q, want %q", got.Finalizers, want)
	}
	if len(got.Data) != 11 {
		t.Errorf("data is %v, want 11 members", got.Data)
	}
}

// An owner is in the namespace of its dependents, and an object has only one controller.
func testOwners(t *testing.T, s suite) {
	ns := s.namespace(t)
	owner := s.configMap(t, ns, "owner", nil)
	other := s.configMap(t, ns, "other", nil)
	child := newConfigMap(ns, "child", nil)
	if err := client.SetController(child, client.OwnerOf(ConfigMaps, owner)); err != nil {
		t.Fatal(err)
	}
	made := must[*ConfigMap](t)(s.configMaps.Create(t.Context(), child))
	got, found := meta.ControllerOf(made)
	if !found || got.UID != owner.UID || got.APIVersion != "v1" || got.Kind != "ConfigMap" || got.BlockOwnerDeletion == nil || !*got.BlockOwnerDeletion {
		t.Errorf("the owner is %+v", got)
	}
	shared := client.OwnerOf(ConfigMaps, other)
	shared.MayGoFirst = true
	changed := must[*ConfigMap](t)(s.configMaps.Modify(t.Context(), meta.KeyOf(made), func(m *ConfigMap) error {
		var taken *client.ControllerError
		if err := client.SetController(m, client.OwnerOf(ConfigMaps, other)); !errors.As(err, &taken) || taken.Present.UID != owner.UID {
			t.Errorf("error is %v, want that the first owner controls it", err)
		}
		return client.AddOwner(m, shared)
	}))
	equal(t, "owners", len(changed.OwnerReferences), 2)
	left := must[*ConfigMap](t)(s.configMaps.Modify(t.Context(), meta.KeyOf(made), func(m *ConfigMap) error {
		return client.RemoveOwner(m, client.OwnerOf(ConfigMaps, owner))
	}))
	if len(left.OwnerReferences) != 1 || left.OwnerReferences[0].UID != other.UID {
		t.Errorf("owners are %+v", left.OwnerReferences)
	}

	// The server refuses two controllers, too.
	two := newConfigMap(ns, "two", nil)
	for _, o := range []*ConfigMap{owner, other} {
		one := newConfigMap(ns, "one", nil)
		if err := client.SetController(one, client.OwnerOf(ConfigMaps, o)); err != nil {
			t.Fatal(err)
		}
		two.OwnerReferences = append(two.OwnerReferences, one.OwnerReferences...)
	}
	_, err := s.configMaps.Create(t.Context(), two)
	wantReason(t, err, apierrors.Invalid, 422)
}
