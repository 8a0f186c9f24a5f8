package cache_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// behaviours 255, 268, 269: a selector finds the same with any indexes and with none, and odd objects trip nobody up.
func TestSelect(t *testing.T) {
	s := storetest.New[*labelled]()
	r := s.Reader()
	indexes := []*cache.Index[string, *labelled]{
		cache.NewLabelIndex(r, "app"), cache.NewLabelIndex(r, "tier"), cache.NewLabelIndex(r, "app"),
	}
	putLabelled(s, "a", "1", "app=web,tier=front")
	putLabelled(s, "b", "2", "app=web,tier=back")
	putLabelled(s, "c", "3", "app=db,tier=back")
	putLabelled(s, "d", "4", "app=")
	putLabelled(s, "e", "5", "")
	putLabelled(s, "f", "6", "app=web,n=7")
	putLabelled(s, "f", "7", "app=mail,n=8")
	for _, test := range []struct{ selector, want string }{
		{"", "abcdef"},
		{"app=web", "ab"},
		{"app in (web,db)", "abc"},
		{"app in (web,db),tier=back", "bc"},
		{"app=web,tier=back", "b"},
		{"app=web,app=db", ""},
		{"app=", "d"},
		{"app=none", ""},
		{"app", "abcdf"},
		{"!app", "e"},
		{"app!=web", "cdef"},
		{"app notin (web,db)", "def"},
		{"n>7", "f"},
		{"n=8,app=mail", "f"},
		{"other=1", ""},
		{"bowline.dev/nothing,!bowline.dev/nothing", ""},
	} {
		t.Run(test.selector, func(t *testing.T) {
			sel, err := meta.ParseSelector(test.selector)
			if err != nil {
				t.Fatal(err)
			}
			if got := selected(r, sel); got != test.want {
				t.Errorf("with indexes %q, want %q", got, test.want)
			}
			bare := storetest.New[*labelled]()
			for o := range r.All() {
				bare.Set(meta.Identity{Namespace: "ns", Name: o.Name}, o)
			}
			if got := selected(bare.Reader(), sel); got != test.want {
				t.Errorf("without an index %q, want %q", got, test.want)
			}
		})
	}
	web, err := meta.ParseSelector("app=web")
	if err != nil {
		t.Fatal(err)
	}
	seq := cache.Select(r, web)
	for range seq {
		break
	}
	for range seq { // nothing happens to a loop whose index is closed, and a loop that comes later scans
		for _, ix := range indexes {
			ix.Close()
		}
	}
	if got := selected(r, web); got != "ab" {
		t.Errorf("after the indexes were closed %q, want ab", got)
	}
	var none cache.Reader[*labelled]
	if got := selected(none, web) + selected(none, meta.Selector{}); got != "" {
		t.Errorf("the zero Reader has %q", got)
	}
	if n := cache.NewLabelIndex(none, "app").Len("web"); n != 0 {
		t.Errorf("an index of the zero Reader has %d", n)
	}
}

func selected(r cache.Reader[*labelled], sel meta.Selector) string {
	var found []string
	for o := range cache.Select(r, sel) {
		found = append(found, o.Name)
	}
	slices.Sort(found)
	return strings.Join(found, "")
}

// A selector that wants no label matches objects that have none.
func TestASelectorMayMatchObjectsWithoutLabels(t *testing.T) {
	s := storetest.New[*thing]()
	set(s, "ns/a u@1")
	none, _ := meta.ParseSelector("!app")
	some, _ := meta.ParseSelector("app=web")
	expect(t, "!app", states(cache.Select(s.Reader(), none)), "ns/a u@1")
	expect(t, "app=web", states(cache.Select(s.Reader(), some)))
	if ix := cache.NewLabelIndex(s.Reader(), "app"); slices.Collect(ix.Keys()) != nil {
		t.Error("the index has values")
	}
}

func TestSorted(t *testing.T) {
	s := storetest.New[*thing]()
	r := s.Reader()
	relist(s, "9", "b/x u@1", "a/y u@2", "node u@3", "a/x u@4", "ab/a u@5", "b/a u@6")
	remove(s, "b/x u@7")
	var got []string
	for o := range r.Sorted() {
		relist(s, "8") // the loop is over one moment, and holds no lock
		got = append(got, o.ID.Key().String())
	}
	expect(t, "keys", got, "node", "a/x", "a/y", "ab/a", "b/a")
	for range r.Sorted() {
		t.Error("an empty cache has an object")
	}
	relist(s, "10", "a/y u@2", "a/x u@4")
	for o := range r.Sorted() {
		if o.ID.Name != "x" {
			t.Errorf("%v comes first", o)
		}
		break
	}
	var none cache.Reader[*thing]
	expect(t, "the zero Reader", states(none.Sorted()))
}

// behaviour 252: an index is made and closed while the cache is in use.
func TestIndexClose(t *testing.T) {
	s := storetest.New[*thing]()
	r := s.Reader()
	calls := 0
	ix := cache.NewIndex(r, func(o *thing) []string { calls++; return o.Tags })
	other := cache.NewIndex(r, byTag)
	set(s, "ns/a u@1", "x")
	set(s, "ns/b u@2", "x", "y")
	var got []string
	for o := range ix.Get("x") {
		ix.Close()
		set(s, "ns/a u@3", "z")
		got = append(got, o.String())
	}
	expect(t, "the loop that ran", sorted(got), "ns/a u@1", "ns/b u@2")
	expect(t, "the closed index", contents(ix))
	expect(t, "Get of the closed index", states(ix.Get("x")))
	if ix.Len("x") != 0 || calls != 2 {
		t.Errorf("Len %d, %d calls, want 0 and 2", ix.Len("x"), calls)
	}
	ix.Close()
	expect(t, "another index", contents(other), "x: [ns/b u@2]", "y: [ns/b u@2]", "z: [ns/a u@3]")
	again := cache.NewIndex(r, byTag)
	expect(t, "a new index", contents(again), contents(other)...)
	(&cache.Index[string, *thing]{}).Close()
}

// An index goes by the values that an object had when it came, whatever the function says of it later.
func TestIndexRemembersTheValuesOfEachObject(t *testing.T) {
	s := storetest.New[*thing]()
	ix := cache.NewIndex(s.Reader(), byTag)
	set(s, "ns/a u@1", "x")
	set(s, "ns/b u@2", "x", "y")
	for o := range s.Reader().All() {
		o.Tags[0] = "changed"
	}
	set(s, "ns/a u@3", "z")
	remove(s, "ns/b u@4")
	expect(t, "contents", contents(ix), "z: [ns/a u@3]")
}
