package store_test

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// deep is an object with something of every kind in it.
type deep struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Ports []struct {
			Name   string
			Number *int32 `json:"number,omitempty"`
		}
		Any     any            `json:"any"`
		Free    map[string]any `json:"free"`
		ByCode  map[int]string
		Pair    [2]float64 `json:"pair"`
		When    *time.Time `json:"-"`
		Next    *deep
		Flag    bool
		Bytes   []byte
		Count   uint8
		Complex complex128
	} `json:"spec"`
	hidden []string
}

func newDeep(version string) *deep {
	o := &deep{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "a", UID: "u", ResourceVersion: version}}
	o.Labels = map[string]string{"a": "1", "b": "2"}
	number := int32(80)
	o.Spec.Ports = append(o.Spec.Ports, struct {
		Name   string
		Number *int32 `json:"number,omitempty"`
	}{"http", &number})
	o.Spec.Any = []any{1, "x", nil}
	o.Spec.Free = map[string]any{"x": map[string]any{"y": int64(1)}}
	o.Spec.ByCode = map[int]string{7: "x"}
	o.Spec.Pair = [2]float64{1, math.NaN()}
	when := time.Now()
	o.Spec.When = &when
	o.Spec.Next = o
	o.Spec.Bytes = []byte("x")
	o.hidden = []string{"x"}
	return o
}

// behaviour 260
func TestCheckMutations(t *testing.T) {
	for _, test := range []struct {
		field  string
		mutate func(*deep)
	}{
		{`metadata.labels["a"]`, func(o *deep) { o.Labels["a"] = "changed" }},
		{`metadata.labels["a"]`, func(o *deep) { delete(o.Labels, "b"); delete(o.Labels, "a") }},
		{`metadata.labels["c"]`, func(o *deep) { o.Labels["c"] = "new" }},
		{`metadata.labels["a"]`, func(o *deep) { o.Labels = nil }},
		{`metadata.annotations["x"]`, func(o *deep) { o.Annotations = map[string]string{"x": ""} }},
		{`metadata.name`, func(o *deep) { o.Name = "b" }},
		{`spec.Ports[0].Name`, func(o *deep) { o.Spec.Ports[0].Name = "changed" }},
		{`spec.Ports[0].number`, func(o *deep) { *o.Spec.Ports[0].Number = 81 }},
		{`spec.Ports[0].number`, func(o *deep) { o.Spec.Ports[0].Number = nil }},
		{`spec.Ports[1]`, func(o *deep) { o.Spec.Ports = append(o.Spec.Ports, o.Spec.Ports[0]) }},
		{`spec.any[1]`, func(o *deep) { o.Spec.Any.([]any)[1] = 2 }},
		{`spec.any`, func(o *deep) { o.Spec.Any = nil }},
		{`spec.free["x"]["y"]`, func(o *deep) { o.Spec.Free["x"].(map[string]any)["y"] = int64(2) }},
		{`spec.ByCode[7]`, func(o *deep) { o.Spec.ByCode[7] = "" }},
		{`spec.pair[0]`, func(o *deep) { o.Spec.Pair[0] = 2 }},
		{`spec.When`, func(o *deep) { o.Spec.When = nil }},
		{`spec.Next`, func(o *deep) { o.Spec.Next = nil }},
		{`spec.Flag`, func(o *deep) { o.Spec.Flag = true }},
		{`spec.Bytes[0]`, func(o *deep) { o.Spec.Bytes[0] = 'y' }},
		{`spec.Count`, func(o *deep) { o.Spec.Count++ }},
		{`spec.Complex`, func(o *deep) { o.Spec.Complex++ }},
		{``, func(o *deep) { o.Annotations = map[string]string{} }},
		{``, func(*deep) {}},
	} {
		for name, end := range map[string]func(storetest.Cache[*deep]){
			"swept":    storetest.Cache[*deep].Sweep,
			"replaced": func(s storetest.Cache[*deep]) { s.Set(newDeep("2").identity(), newDeep("2")) },
			"deleted":  func(s storetest.Cache[*deep]) { s.Delete(newDeep("2").identity(), nil) },
			"relisted": func(s storetest.Cache[*deep]) { s.Relist().Commit("2") },
			"dropped":  func(s storetest.Cache[*deep]) { s.Writer("").Drop() },
		} {
			t.Run(name+" "+test.field, func(t *testing.T) {
				s := storetest.New[*deep]()
				var found []*cache.MutationError
				s.CheckMutations(1, math.MaxInt, func(err *cache.MutationError) {
					s.Reader().Len()
					s.Bookmark("9") // nothing is locked
					found = append(found, err)
				})
				o := newDeep("1")
				s.Set(o.identity(), o)
				s.Sweep()
				if len(found) > 0 {
					t.Fatalf("%v before anything was changed", found[0])
				}
				test.mutate(o)
				end(s)
				s.Sweep()
				switch {
				case test.field == "" && len(found) > 0:
					t.Errorf("reported %v, want nothing", found[0])
				case test.field == "":
				case len(found) != 1:
					t.Errorf("%d reports, want one", len(found))
				case found[0].Field != test.field || found[0].Key != o.identity().Key() || found[0].ResourceVersion != "1":
					t.Errorf("reported %+v, want %s", found[0], test.field)
				}
			})
		}
	}
}

func (o *deep) identity() meta.Identity {
	return meta.Identity{Namespace: "ns", Name: "a", UID: "u", ResourceVersion: o.ResourceVersion}
}

// A sample finds its share, what is there already is sampled, and a check that has ended finds nothing.
func TestCheckMutationsSamples(t *testing.T) {
	type hiding struct {
		meta.Identity
		tags []string
	}
	s := storetest.New[*hiding]()
	var all []*hiding
	for i := range 100 {
		o := &hiding{id("ns/" + string(rune('A'+i)) + " u@1"), []string{"x"}}
		s.Set(o.Identity, o)
		all = append(all, o)
	}
	found := map[meta.Key]bool{}
	s.CheckMutations(4, math.MaxInt, func(err *cache.MutationError) { found[err.Key] = true })
	for _, o := range all {
		o.tags[0] = "changed" // an unexported field, whose contents a clone shares
	}
	s.Sweep()
	if len(found) != 0 {
		t.Errorf("%d reports of what a clone shares", len(found))
	}
	for _, o := range all {
		o.UID = "changed"
	}
	s.Sweep()
	s.Sweep()
	if len(found) != 25 {
		t.Errorf("%d of 100 objects found, want a quarter", len(found))
	}
	s.CheckMutations(1, math.MaxInt, func(*cache.MutationError) { t.Error("reported after the end") })
	all[0].UID = "again"
	s.CheckMutations(0, math.MaxInt, nil)
	s.Sweep()
	s.Relist().Commit("2")
}

// unfaithful copies itself wrongly.
type unfaithful struct {
	meta.Identity
	Value int
}

func (u *unfaithful) DeepCopy() *unfaithful { return &unfaithful{} }

func TestCheckMutationsIgnoresUnfaithfulCopies(t *testing.T) {
	s := storetest.New[*unfaithful]()
	s.CheckMutations(1, math.MaxInt, func(err *cache.MutationError) { t.Error(err) })
	s.Set(id("ns/a u@1"), &unfaithful{Value: 1})
	s.Sweep()
}

// An object may hold itself, in any way that a value can.
func TestCheckMutationsFollowsCycles(t *testing.T) {
	for name, cycle := range map[string]func() any{
		"a list": func() any {
			list := []any{"x", nil}
			list[1] = list
			return list
		},
		"a map": func() any {
			m := map[string]any{"x": "y"}
			m["m"] = m
			return m
		},
	} {
		s := storetest.New[*deep]()
		var found []string
		s.CheckMutations(1, math.MaxInt, func(err *cache.MutationError) { found = append(found, err.Field) })
		o := newDeep("1")
		o.Spec.Any = cycle()
		s.Set(meta.Identity{Namespace: "ns", Name: "a", UID: "u", ResourceVersion: "1"}, o)
		s.Sweep()
		expect(t, name+": fields", found)
		o.Spec.Count++
		s.Sweep()
		expect(t, name+": fields", found, "spec.Count")
	}
}

// A map object, and one that is a value.
func TestCheckMutationsChecksMapsAndValues(t *testing.T) {
	var fields []string
	report := func(err *cache.MutationError) { fields = append(fields, err.Field) }
	m := storetest.New[mapped]()
	m.CheckMutations(1, math.MaxInt, report)
	o := mapped{"name": "a"}
	m.Set(id("ns/a u@1"), o)
	o["x"] = "y"
	m.Sweep()
	p := storetest.New[plain]()
	p.CheckMutations(1, math.MaxInt, report)
	p.Set(id("ns/a u@1"), plain{id("ns/a u@1")})
	p.Sweep()
	expect(t, "fields", fields, `["x"]`)
}

// The sample of SampleMutations is bounded, and what leaves it makes room.
func TestSampleMutationsKeepsNoMoreThanItMay(t *testing.T) {
	s := storetest.New[*deep]()
	set := func(name string) *deep {
		o := newDeep("1")
		o.Name = name
		s.Set(meta.Identity{Namespace: "ns", Name: name, UID: name, ResourceVersion: "1"}, o)
		return o
	}
	var found []string
	s.CheckMutations(1, 2, func(err *cache.MutationError) { found = append(found, err.Key.Name) })
	objects := []*deep{set("a"), set("b"), set("c")}
	for _, o := range objects {
		o.Spec.Flag = true
	}
	s.Delete(meta.Identity{Namespace: "ns", Name: "a", UID: "a", ResourceVersion: "2"}, nil)
	set("d").Spec.Flag = true // in the place of a
	s.Sweep()
	slices.Sort(found)
	if !slices.Equal(found, []string{"a", "b", "d"}) {
		t.Errorf("found %q, want a, b and d", found)
	}
	s.CheckMutations(1, 0, func(err *cache.MutationError) { t.Errorf("%v, and the check is off", err) })
	set("e").Spec.Flag = true
	s.Sweep()
}

// A change of a part that several objects share is reported once, with the objects that have it.
func TestCheckMutationsReportsASharedPartOnce(t *testing.T) {
	for name, end := range map[string]func(s storetest.Cache[*deep], o *deep){
		"swept": func(s storetest.Cache[*deep], _ *deep) { s.Sweep() },
		"replaced": func(s storetest.Cache[*deep], o *deep) {
			s.Set(meta.Identity{Namespace: "ns", Name: "c", UID: "u", ResourceVersion: "9"}, o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.New[*deep]()
			var found []*cache.MutationError
			s.CheckMutations(1, math.MaxInt, func(err *cache.MutationError) { found = append(found, err) })
			labels := map[string]string{"a": "1"}
			ports := newDeep("1").Spec.Ports
			var all []*deep
			for _, name := range []string{"c", "a", "b", "alone"} {
				o := newDeep("1")
				o.Name = name
				if name != "alone" {
					o.Labels, o.Spec.Ports = labels, ports
				}
				id := o.identity()
				id.Name = name
				s.Set(id, o)
				all = append(all, o)
			}
			all[0].Labels["a"] = "2"
			end(s, all[0])
			all[1].Spec.Ports[0].Name = "changed" // of states that are no longer checked
			all[3].Labels["a"] = "2"
			s.Sweep()
			want := []*cache.MutationError{
				{Key: key("ns/a"), ResourceVersion: "1", Field: `metadata.labels["a"]`, Others: []meta.Key{key("ns/b"), key("ns/c")}},
				{Key: key("ns/alone"), ResourceVersion: "1", Field: `metadata.labels["a"]`},
			}
			if name == "replaced" { // the new state of c is checked, and is changed too
				want = append(want[:1:1], &cache.MutationError{Key: key("ns/alone"), ResourceVersion: "1", Field: `metadata.labels["a"]`},
					&cache.MutationError{Key: key("ns/c"), ResourceVersion: "9", Field: `spec.Ports[0].Name`})
			}
			if !reflect.DeepEqual(found, want) {
				t.Errorf("got %v, want %v", found, want)
			}
		})
	}
}
