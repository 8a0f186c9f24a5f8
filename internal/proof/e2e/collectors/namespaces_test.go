package collectors

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// namespace has what the controller of namespaces writes.
type namespace struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Finalizers []string `json:"finalizers,omitempty"`
	} `json:"spec"`
	Status struct {
		Phase      string           `json:"phase"`
		Conditions []meta.Condition `json:"conditions,omitempty"`
	} `json:"status"`
}

var (
	namespaces = client.Type[*namespace]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}
	pods       = client.Type[object]{Version: "v1", Kind: "Pod", Resource: "pods"}
)

// contents are what the namespaces have, by their names: the kinds of objects. A "+" is an object with a finalizer.
func contents() map[string][]string {
	return map[string][]string{
		"empty":      nil,
		"some":       {"ConfigMap", "Secret", "ReplicationController"},
		"held":       {"ConfigMap+", "Secret", "ReplicationController+"},
		"pods":       {"Pod", "ConfigMap"},
		"held-pods":  {"Pod+", "ConfigMap", "Secret+"},
		"itself":     {"Namespace+", "ConfigMap"},
		"everything": {"Namespace+", "ConfigMap+", "Secret"},
	}
}

// endNamespaces deletes namespaces, and then removes the finalizers. It returns what there is after each step. A step takes
// the time in which a kube-controller-manager comes back.
func endNamespaces(t *testing.T, config client.Config) (states []string) {
	t.Helper()
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	names := []string{}
	for name := range contents() {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fill(t, c, name, contents()[name])
	}
	for _, name := range names {
		if err := client.For(c, namespaces).Delete(t.Context(), meta.Key{Name: name}, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(12 * time.Second)
	for _, name := range names {
		states = append(states, stateOf(t, c, name))
	}
	for _, name := range names {
		release(t, c, name, contents()[name])
	}
	time.Sleep(20 * time.Second)
	for _, name := range names {
		states = append(states, stateOf(t, c, name))
	}
	return states
}

func typeOf(kind string) client.Type[object] {
	switch kind {
	case "Pod":
		return pods
	case "Namespace":
		return client.Type[object]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}
	}
	return kindOf(kind)
}

// fill creates a namespace with its contents.
func fill(t *testing.T, c *client.Client, name string, kinds []string) {
	t.Helper()
	if _, err := client.For(c, namespaces).Create(t.Context(), &namespace{ObjectMeta: meta.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		kind, held := strings.CutSuffix(kind, "+")
		key := meta.Key{Namespace: name, Name: "one"}
		if kind == "Namespace" {
			key = meta.Key{Name: name}
		} else if _, err := client.For(c, typeOf(kind)).Create(t.Context(), newObject(kind, key)); err != nil {
			t.Fatal(err)
		}
		if held {
			if _, err := client.For(c, typeOf(kind)).AddFinalizer(t.Context(), key, hold, meta.FinalizerOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// release removes the finalizers of a namespace and its contents.
func release(t *testing.T, c *client.Client, name string, kinds []string) {
	t.Helper()
	for _, kind := range kinds {
		kind, held := strings.CutSuffix(kind, "+")
		key := meta.Key{Namespace: name, Name: "one"}
		if kind == "Namespace" {
			key = meta.Key{Name: name}
		}
		if held {
			if _, err := client.For(c, typeOf(kind)).RemoveFinalizer(t.Context(), key, hold, meta.FinalizerOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// stateOf describes a namespace and its contents.
func stateOf(t *testing.T, c *client.Client, name string) string {
	t.Helper()
	n, err := client.For(c, namespaces).Get(t.Context(), meta.Key{Name: name})
	if errors.Is(err, apierrors.NotFound) {
		return name + " has gone"
	} else if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%s %s deleting %t finalizers %q %q\n", name, n.Status.Phase, meta.IsDeleting(n), n.Finalizers, n.Spec.Finalizers)
	for _, c := range n.Status.Conditions {
		text += fmt.Sprintln(" ", c.Type, c.Status, c.Reason, c.Message)
	}
	for _, kind := range []string{"ConfigMap", "Secret", "ReplicationController", "Pod"} {
		all, err := client.For(c, typeOf(kind)).In(name).List(t.Context(), client.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all.Items {
			text += fmt.Sprintln(" ", kind, o.GetName(), meta.IsDeleting(o), o.GetFinalizers())
		}
	}
	return text
}
