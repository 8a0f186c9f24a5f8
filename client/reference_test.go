package client_test

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

func TestAReferenceHasTheDefaultsOfTheObjectThatItStandsIn(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{})
	c := dial(t, server.Config())
	maps := client.For(c, slims)
	created, err := maps.Create(t.Context(), &Slim{Identity: meta.Identity{Namespace: "default", Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	from := client.ReferenceTo(slims, created)
	if from.Kind != "ConfigMap" || from.APIVersion != "v1" || from.Key() != created.Key() || from.UID != created.UID || from.ResourceVersion != created.ResourceVersion {
		t.Errorf("the reference to %v is %+v", created.Identity, from)
	}
	for _, ref := range []meta.ObjectReference{
		{Name: "a"}, {Name: "a", Namespace: "default"}, {Kind: "ConfigMap", Name: "a"}, {Kind: "ConfigMap", APIVersion: "v1", Name: "a"}, from,
	} {
		one, key, err := client.Resolve(maps, ref, from)
		if err != nil || key != created.Key() {
			t.Errorf("%+v: %v, %v", ref, key, err)
			continue
		}
		if got, err := one.Get(t.Context(), key); err != nil || got.UID != created.UID {
			t.Errorf("%+v: read %v, %v", ref, got, err)
		}
		if list, err := one.List(t.Context(), client.ListOptions{}); err != nil || len(list.Items) != 1 {
			t.Errorf("%+v: the handle covers %d objects, %v", ref, len(list.Items), err)
		}
	}
	if _, key, err := client.Resolve(client.For(c, nodes), meta.ObjectReference{Name: "n"}, from); err != nil || key != (meta.Key{Name: "n"}) {
		t.Errorf("a node: %v, %v", key, err)
	}
}

func TestAReferenceThatNamesSomethingElseIsRefused(t *testing.T) {
	c := connect(t, answers())
	from := meta.ObjectReference{APIVersion: "example.com/v1", Kind: "Page", Namespace: "web", Name: "p"}
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"no name", resolve(client.For(c, slims), meta.ObjectReference{}, from), "name must not be empty"},
		{"a path", resolve(client.For(c, slims), meta.ObjectReference{Name: "a/b"}, from), "name must be one path segment"},
		{"a path", resolve(client.For(c, slims), meta.ObjectReference{Name: "a", Namespace: ".."}, from), "namespace must not be"},
		{"kind", resolve(client.For(c, slims), meta.ObjectReference{Kind: "Secret", Name: "a"}, from), `kind must be "ConfigMap", got "Secret"`},
		{"group", resolve(client.For(c, slims), meta.ObjectReference{APIVersion: "apps/v1", Name: "a"}, from), `apiVersion must be of the group "", got "apps/v1"`},
		{"scope", resolve(client.For(c, nodes), meta.ObjectReference{Namespace: "web", Name: "a"}, from), "namespace must be empty, since Node is cluster-wide"},
		{"no namespace", resolve(client.For(c, slims), meta.ObjectReference{Name: "a"}, meta.ObjectReference{}), "namespace must not be empty"},
		{"another namespace", resolve(client.For(c, slims).In("shop"), meta.ObjectReference{Name: "a"}, from), `namespace must be "shop"`},
		{"another name", resolve(client.For(c, slims).One(web), meta.ObjectReference{Name: "b"}, from), `name must be "a"`},
		{"no client", resolve(client.Resource[*Slim]{}, meta.ObjectReference{Name: "b"}, from), "no client"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) || !strings.HasPrefix(test.err.Error(), "resolve the reference to ") {
			t.Errorf("%s: %v; want an error with %s", test.name, test.err, test.want)
		}
	}
}

func resolve[T meta.Object](r client.Resource[T], ref, from meta.ObjectReference) error {
	_, _, err := client.Resolve(r, ref, from)
	return err
}
