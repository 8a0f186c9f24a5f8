package cache_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// A view had subscribers and no reads. So a program that followed a view read the whole cache, and an object that had left the view was
// still there.
func TestAViewReadsLikeAReader(t *testing.T) {
	s := storetest.New[*thing]()
	set(s, "ns/in u1@1", "in")
	set(s, "ns/out u2@2")
	set(s, "other/in u3@3", "in", "both")
	set(s, "other/both u4@4", "both")
	both := func(o *thing) bool { return slices.Contains(o.Tags, "both") }
	for name, test := range map[string]struct {
		view cache.Reader[*thing]
		want []string
	}{
		"a condition":              {s.Reader().Where(tagged), []string{"ns/in", "other/in"}},
		"no condition":             {s.Reader().Where(nil), []string{"ns/in", "ns/out", "other/both", "other/in"}},
		"the reader itself":        {s.Reader(), []string{"ns/in", "ns/out", "other/both", "other/in"}},
		"two conditions":           {s.Reader().Where(tagged).Where(both), []string{"other/in"}},
		"one and then none":        {s.Reader().Where(tagged).Where(nil), []string{"ns/in", "other/in"}},
		"none and then one":        {s.Reader().Where(nil).Where(tagged), []string{"ns/in", "other/in"}},
		"one that nobody meets":    {s.Reader().Where(func(*thing) bool { return false }), nil},
		"the zero view":            {cache.Reader[*thing]{}, nil},
		"a view of the zero value": {cache.Reader[*thing]{}.Where(tagged), nil},
	} {
		t.Run(name, func(t *testing.T) {
			keys := func(all []*thing) (keys []string) {
				for _, o := range all {
					keys = append(keys, meta.KeyOf(o).String())
				}
				return keys
			}
			all := keys(slices.Collect(test.view.All()))
			slices.Sort(all)
			if !slices.Equal(all, test.want) {
				t.Errorf("All has %q, want %q", all, test.want)
			}
			if sorted := keys(slices.Collect(test.view.Sorted())); !slices.Equal(sorted, test.want) {
				t.Errorf("Sorted has %q, want %q", sorted, test.want)
			}
			if n := test.view.Len(); n != len(test.want) {
				t.Errorf("Len is %d, want %d", n, len(test.want))
			}
			var spaces []string
			for _, ns := range []string{"ns", "other"} {
				one := keys(slices.Collect(test.view.Namespace(ns)))
				slices.Sort(one)
				spaces = append(spaces, one...)
			}
			if !slices.Equal(spaces, test.want) {
				t.Errorf("the namespaces have %q, want %q", spaces, test.want)
			}
			for _, k := range []string{"ns/in", "ns/out", "other/in", "other/both", "ns/nothing"} {
				ns, n, _ := strings.Cut(k, "/")
				obj, found := test.view.Get(meta.Key{Namespace: ns, Name: n})
				if found != slices.Contains(test.want, k) || found != (obj != nil) {
					t.Errorf("Get of %s is %v, %v", k, obj, found)
				}
			}
			for range test.view.All() { // leaving a loop
				break
			}
		})
	}
}

// A read sees an object leave at once, whatever the subscriptions have been told.
func TestAViewIsAsCurrentAsItsCache(t *testing.T) {
	s := storetest.New[*thing]()
	view := s.Reader().Where(tagged)
	k := meta.Key{Namespace: "ns", Name: "a"}
	var got []string
	look := func() {
		_, found := view.Get(k)
		got = append(got, fmt.Sprintf("%v %d at %q", found, view.Len(), view.ResourceVersion()))
	}
	look()
	set(s, "ns/a u@1", "in")
	look()
	set(s, "ns/a u@2")
	look()
	set(s, "ns/a u@3", "in")
	look()
	remove(s, "ns/a u@4")
	look()
	if want := []string{`false 0 at ""`, `true 1 at "1"`, `false 0 at "2"`, `true 1 at "3"`, `false 0 at "4"`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An index of a view, and a selection from one, have what the view has, also when an object begins or ceases to match.
func TestIndexesAndSelectionsOfAViewHaveItsObjects(t *testing.T) {
	s := storetest.New[*labelled]()
	all := s.Reader()
	view := all.Where(func(o *labelled) bool { return o.Labels["in"] == "yes" })
	byApps := cache.NewIndex(view, func(o *labelled) []string { return []string{o.Labels["app"]} })
	byApp := cache.NewValueIndex(view, func(o *labelled) string { return o.Labels["app"] })
	byLabel := cache.NewLabelIndex(view, "app")
	cache.NewLabelIndex(all, "app") // which Select uses, for views too
	web, err := meta.ParseSelector("app=web")
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, got iter.Seq[*labelled], want ...string) {
		t.Helper()
		var names []string
		for o := range got {
			names = append(names, o.Name)
		}
		slices.Sort(names)
		if !slices.Equal(names, want) {
			t.Errorf("%s: got %q, want %q", name, names, want)
		}
	}
	for _, step := range []struct{ a, b, want string }{
		{"app=web,in=yes", "app=web", "a"},
		{"app=web", "app=web,in=yes", "b"},
		{"app=web,in=yes", "app=db,in=yes", "a"},
	} {
		putLabelled(s, "a", "1"+step.a, step.a)
		putLabelled(s, "b", "1"+step.b, step.b)
		for name, got := range map[string]iter.Seq[*labelled]{
			"NewIndex": byApps.Get("web"), "NewValueIndex": byApp.Get("web"), "NewLabelIndex": byLabel.Get("web"),
			"Select": cache.Select(view, web),
		} {
			check(name, got, step.want)
		}
	}
	check("Select of all", cache.Select(all, web), "a")
}
