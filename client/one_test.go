package client_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestAHandleOfOneObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		r := client.For(dial(t, server.Config()), configMaps)
		names := []string{"a", "b", "a-1"}
		for _, name := range names {
			for _, ns := range []string{"default", "kube-public"} {
				must[*ConfigMap](t)(r.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"x": "y"}}}))
			}
		}
		key := meta.Key{Namespace: "default", Name: "a"}
		one := r.One(key)
		for _, o := range []client.ListOptions{{}, {PageSize: 1}, {LabelSelector: "x=y"}, {FieldSelector: "metadata.namespace=default"}} {
			list, err := one.List(t.Context(), o)
			if err != nil || len(list.Items) != 1 || list.Items[0].Key() != key {
				t.Errorf("a list with %+v is %v, %v", o, list.Items, err)
			}
		}
		if list, err := one.List(t.Context(), client.ListOptions{FieldSelector: "metadata.name=b"}); err != nil || len(list.Items) != 0 {
			t.Errorf("a list of another one is %v, %v", list.Items, err)
		}
		table, err := one.Table(t.Context(), client.ListOptions{}, client.TableOptions{})
		if err != nil || len(table.Rows) != 1 {
			t.Errorf("the table is %v, %v", table, err)
		}
		must[*meta.Partial](t)(client.Metadata(one).Get(t.Context(), key))
		if list, err := client.Metadata(one).List(t.Context(), client.ListOptions{}); err != nil || len(list.Items) != 1 {
			t.Errorf("the list of metadata is %v, %v", list.Items, err)
		}
		var seen string
		for event, err := range one.Watch(t.Context(), client.WatchOptions{InitialEvents: true}) {
			if err != nil {
				t.Fatal(err)
			}
			seen += fmt.Sprint(event.Type, " ", event.Identity.Name, ", ")
			if event.InitialEventsEnd {
				for _, name := range names {
					if err := r.Delete(t.Context(), meta.Key{Namespace: "default", Name: name}, client.DeleteOptions{}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if event.Type == client.Deleted {
				break
			}
		}
		if seen != "ADDED a, BOOKMARK , DELETED a, " {
			t.Errorf("the watch saw %s", seen)
		}
		all := r.One(meta.Key{Namespace: "kube-public", Name: "b"})
		if err := all.DeleteCollection(t.Context(), client.Selection{Everything: true}, client.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		if list := must[meta.List[*ConfigMap]](t)(r.In("kube-public").List(t.Context(), client.ListOptions{})); len(list.Items) != 2 {
			t.Errorf("DeleteCollection has left %v", list.Items)
		}
		made := must[*ConfigMap](t)(all.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "b"}}))
		if made.Namespace != "kube-public" {
			t.Errorf("it was made in %q", made.Namespace)
		}
	})
}

func TestAHandleOfOneObjectRefusesOthers(t *testing.T) {
	s := says(object("a", "1"))
	r := client.For(connect(t, s), configMaps)
	one := r.One(web)
	for name, call := range map[string]func() error{
		"another":             func() error { _, err := one.Get(t.Context(), meta.Key{Namespace: "web", Name: "b"}); return err },
		"another namespace":   func() error { _, err := one.Get(t.Context(), meta.Key{Namespace: "db", Name: "a"}); return err },
		"a list elsewhere":    func() error { _, err := one.List(t.Context(), client.ListOptions{Namespace: "db"}); return err },
		"no name":             func() error { _, err := one.Get(t.Context(), meta.Key{}); return err },
		"a status of another": func() error { _, err := one.Status().Get(t.Context(), meta.Key{Name: "b"}); return err },
		"a scale of another":  func() error { _, err := client.ScaleOf(one).Get(t.Context(), meta.Key{Name: "b"}); return err },
		"a deletion":          func() error { return one.Delete(t.Context(), meta.Key{Name: "b"}, client.DeleteOptions{}) },
		"a new one of another name": func() error {
			_, err := one.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "b"}})
			return err
		},
		"a new one without a name": func() error {
			_, err := one.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{GenerateName: "a"}})
			return err
		},
		"metadata":            func() error { _, err := client.Metadata(one).Get(t.Context(), meta.Key{Name: "b"}); return err },
		"a handle of another": func() error { _, err := one.One(meta.Key{Name: "b"}).Get(t.Context(), meta.Key{Name: "b"}); return err },
		"a handle in another": func() error { _, err := one.In("db").Get(t.Context(), meta.Key{Name: "a"}); return err },
		"a handle without a name": func() error {
			_, err := r.One(meta.Key{Namespace: "web"}).List(t.Context(), client.ListOptions{})
			return err
		},
		"a handle without a place": func() error { _, err := r.One(meta.Key{Name: "a"}).List(t.Context(), client.ListOptions{}); return err },
		"a place of a node": func() error {
			_, err := client.For(connect(t, s), nodes).One(web).Get(t.Context(), meta.Key{Name: "a"})
			return err
		},
	} {
		if usage := (*client.UsageError)(nil); !errors.As(call(), &usage) {
			t.Errorf("%s: %v", name, call())
		}
	}
	if calls := s.all(); len(calls) != 0 {
		t.Errorf("was sent: %v", calls)
	}
	must[*ConfigMap](t)(one.One(web).Get(t.Context(), meta.Key{Name: "a"}))
	must[*ConfigMap](t)(r.In("web").One(meta.Key{Name: "a"}).Get(t.Context(), web))
	if r.One(web) != one {
		t.Error("two handles of one object differ")
	}
}

// A Role can name the object in resourceNames; the server finds the name in the field selector.
func TestAWatchOfOneObjectNeedsNoOtherPermission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) {
			return a.FieldSelector == "metadata.name=a" || a.Key.Name == "a" || a.Verb == "create", ""
		}})
		r := client.For(dial(t, server.Config()), configMaps).In("default")
		must[*ConfigMap](t)(r.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "a"}}))
		if _, err := r.List(t.Context(), client.ListOptions{}); !errors.Is(err, apierrors.Forbidden) {
			t.Errorf("a list of all: %v", err)
		}
		for event, err := range r.One(meta.Key{Name: "a"}).Watch(t.Context(), client.WatchOptions{}) {
			if err != nil || event.Identity.Name != "a" {
				t.Errorf("the watch brings %v, %v", event, err)
			}
			break
		}
	})
}
