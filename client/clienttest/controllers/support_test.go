package controllers_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/controllers"
	"github.com/bowline-go/bowline/client/meta"
)

// cluster is a server with controllers, for a test in virtual time.
type cluster struct {
	t      *testing.T
	server *clienttest.Server
	c      *client.Client
}

type object = *meta.Unstructured

// The resources of the tests.
func resource(name string) client.Type[object] {
	for _, t := range []client.Type[object]{
		{Version: "v1", Kind: "Pod", Resource: "pods"},
		{Version: "v1", Kind: "Service", Resource: "services"},
		{Version: "v1", Kind: "ResourceQuota", Resource: "resourcequotas"},
		{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"},
		{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster},
		{Version: "v1", Kind: "Node", Resource: "nodes", Scope: meta.Cluster},
		{Group: "apps", Version: "v1", Kind: "ReplicaSet", Resource: "replicasets"},
		{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"},
		{Group: "batch", Version: "v1", Kind: "Job", Resource: "jobs"},
		{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice", Resource: "endpointslices"},
	} {
		if t.Resource == name {
			return t
		}
	}
	panic("no resource " + name)
}

// live runs a test in virtual time with a server and controllers.
func live(t *testing.T, test func(w *cluster), all ...controllers.Controller) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		controllers.Start(t, server.Config(), all...)
		test(&cluster{t: t, server: server, c: c})
	})
}

func (w *cluster) of(name string) client.Resource[object] { return client.For(w.c, resource(name)) }

// create creates an object in the namespace "default" and waits until the controllers have nothing left to do.
func (w *cluster) create(name, text string) object {
	w.t.Helper()
	obj := new(meta.Unstructured)
	if err := json.Unmarshal([]byte(text), obj); err != nil {
		w.t.Fatalf("%v in %s", err, text)
	}
	if resource(name).Scope == meta.Namespaced && obj.GetNamespace() == "" {
		obj.SetNamespace("default")
	}
	made, err := w.of(name).Create(w.t.Context(), obj)
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return made
}

func key(name string) meta.Key { return meta.Key{Namespace: "default", Name: name} }

// list returns the objects of a resource that have not been deleted, sorted by name.
func (w *cluster) list(name string) []object {
	w.t.Helper()
	synctest.Wait()
	l, err := w.of(name).List(w.t.Context(), client.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.SortFunc(l.Items, func(a, b object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return l.Items
}

// get returns an object of the namespace "default".
func (w *cluster) get(name, object string) *meta.Unstructured {
	w.t.Helper()
	synctest.Wait()
	k := key(object)
	if resource(name).Scope == meta.Cluster {
		k.Namespace = ""
	}
	obj, err := w.of(name).Get(w.t.Context(), k)
	if err != nil {
		w.t.Fatal(err)
	}
	return obj
}

// modify changes an object of the namespace "default".
func (w *cluster) modify(name, object string, value any, path ...string) {
	w.t.Helper()
	k := key(object)
	if resource(name).Scope == meta.Cluster {
		k.Namespace = ""
	}
	_, err := w.of(name).Modify(w.t.Context(), k, func(obj *meta.Unstructured) error { return meta.SetNested(obj, value, path...) })
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// at returns what an object has at a path, as JSON; it is empty if there is nothing.
func at(obj object, path string) string {
	v, found, err := meta.Nested[any](obj, strings.Split(path, ".")...)
	if err != nil || !found {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// want checks what an object has at paths, as JSON.
func (w *cluster) want(obj object, fields map[string]string) {
	w.t.Helper()
	for path, want := range fields {
		if got := at(obj, path); got != want {
			w.t.Errorf("%s has %s %s, want %s", obj.GetName(), path, got, want)
		}
	}
}

// conditions returns the types, statuses and reasons of the conditions of an object, sorted.
func conditions(obj object) string {
	list, err := decode[[]struct{ Type, Status, Reason string }](obj, "status.conditions")
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, c := range list {
		all = append(all, strings.TrimSuffix(fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason), "/"))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// decode reads what an object has at a path; it is the zero value if there is nothing.
func decode[V any](obj object, path string) (v V, err error) {
	if text := at(obj, path); text != "" {
		err = json.Unmarshal([]byte(text), &v)
	}
	return v, err
}
