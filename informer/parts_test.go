package informer_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// labelledThings creates n objects with equal labels, whose names begin with prefix.
func (r *rig) labelledThings(prefix string, n int) {
	r.Helper()
	for i := range n {
		o := &Thing{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: fmt.Sprint(prefix, i)}}
		o.Labels = map[string]string{"app.kubernetes.io/name": "web", "app.kubernetes.io/part-of": "shop"}
		if _, err := r.things.Create(r.Context(), o); err != nil {
			r.Fatal(err)
		}
	}
}

// labelMaps is how many maps the labels of the objects take.
func labelMaps(objects []*Thing) int {
	maps := map[uintptr]bool{}
	for _, o := range objects {
		maps[reflect.ValueOf(o.Labels).Pointer()] = true
	}
	return len(maps)
}

// wrappedHandle is a source of a user that may change the objects.
type wrappedHandle struct{ client.Resource[*Thing] }

func TestObjectsOfACacheShareEqualParts(t *testing.T) {
	same := func(o *Thing) *Thing { return o }
	all := func(*Thing) bool { return true }
	for _, test := range []struct {
		name   string
		source func(*rig) informer.Source[*Thing]
		shared bool
	}{
		{"of a handle", func(r *rig) informer.Source[*Thing] { return r.things }, true},
		{"of a filter", func(r *rig) informer.Source[*Thing] { return informer.Filter[*Thing](r.things, all) }, true},
		{"of a transform, which may change its argument", func(r *rig) informer.Source[*Thing] {
			return informer.Transform[*Thing](r.things, same)
		}, false},
		{"of a filter of a transform", func(r *rig) informer.Source[*Thing] {
			return informer.Filter(informer.Transform[*Thing](r.things, same), all)
		}, false},
		{"of a transform of a filter", func(r *rig) informer.Source[*Thing] {
			return informer.Transform(informer.Filter[*Thing](r.things, all), same)
		}, false},
		{"of a source that wraps a handle", func(r *rig) informer.Source[*Thing] { return wrappedHandle{r.things} }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.labelledThings("listed", 20)
				i := r.from(test.source(r), informer.Options{}).started()
				r.labelledThings("watched", 20)
				synctest.Wait()
				objects := slices.Collect(i.Reader().All())
				got := labelMaps(objects)
				if want := len(objects); len(objects) != 40 || !test.shared && got != want || test.shared && got > 10 {
					t.Errorf("%d objects have %d maps of labels", len(objects), got)
				}
			})
		})
	}
}

// The objects that a client returns belong to the caller.
func TestTheObjectsOfAClientShareNothing(t *testing.T) {
	bubble(t, func(r *rig) {
		r.labelledThings("a", 20)
		r.from(r.things, informer.Options{}).started()
		list, err := r.things.List(r.Context(), client.ListOptions{Namespace: "default"})
		if err != nil {
			t.Fatal(err)
		}
		if n := labelMaps(list.Items); n != 20 {
			t.Errorf("20 listed objects have %d maps of labels", n)
		}
	})
}

// A clone shares nothing with the cache.
func TestACloneSharesNothing(t *testing.T) {
	bubble(t, func(r *rig) {
		r.labelledThings("a", 20)
		i := r.from(r.things, informer.Options{}).started()
		objects := slices.Collect(i.Reader().All())
		for n := range objects {
			objects[n] = meta.Clone(objects[n])
		}
		if n := labelMaps(objects); n != 20 {
			t.Errorf("20 clones have %d maps of labels", n)
		}
	})
}

// Code that changes a shared part is found once, with the objects that have the part.
func TestAChangeOfASharedPartIsReportedOnce(t *testing.T) {
	bubble(t, func(r *rig) {
		r.labelledThings("a", 20)
		i := r.from(r.things, informer.Options{CheckMutations: 1})
		i.run()
		if err := i.WaitSynced(r.Context()); err != nil {
			r.Fatal(err)
		}
		synctest.Wait()
		obj, _ := i.Reader().Get(meta.Key{Namespace: "default", Name: "a19"})
		obj.Labels["app.kubernetes.io/name"] = "changed"
		i.stop() // the check compares the objects once more at the end
		var found []*cache.MutationError
		for _, err := range i.reported() {
			var m *cache.MutationError
			if errors.As(err, &m) {
				found = append(found, m)
			}
		}
		if len(found) != 1 || len(found[0].Others) < 10 || found[0].Field != `metadata.labels["app.kubernetes.io/name"]` {
			t.Errorf("got %v", found)
		}
	})
}
