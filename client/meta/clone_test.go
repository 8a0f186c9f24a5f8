package meta_test

import (
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

type (
	strMap   map[string]string
	nameList []string
	base     struct{ Labels map[string]string }
	Shown    struct{ Args []string }
	pointer  *leaf
	leaf     struct{ Values []int }
	hidden   struct {
		secret map[string]string
		Open   map[string]string
	}
	everything struct {
		base
		Shown
		*leaf
		String    string
		Pointer   *int
		Deep      **leaf
		Named     pointer
		Strings   []string
		Names     nameList
		Bytes     []byte
		Structs   []leaf
		Pointers  []*leaf
		Matrix    [][]int
		Map       map[string]string
		NamedMap  strMap
		Maps      map[string]map[string][]int
		Keyed     map[[2]int]*leaf
		Array     [2]*leaf
		Plain     [3]int
		Any       any
		JSON      map[string]any
		List      []any
		Interface fmt.Stringer
		Time      time.Time
		TimePtr   *meta.Time
		Func      func()
		Chan      chan int
		Hidden    hidden
		HiddenPtr *hidden
		Empty     []string
		Nil       []string
		NilMap    map[string]string
	}
)

func (l *leaf) String() string { return fmt.Sprint(l.Values) }

func newEverything() *everything {
	one := 1
	l := func(n int) *leaf { return &leaf{Values: []int{n}} }
	deep := l(2)
	return &everything{
		base:      base{map[string]string{"a": "1"}},
		Shown:     Shown{[]string{"a"}},
		leaf:      l(0),
		String:    "s",
		Pointer:   &one,
		Deep:      &deep,
		Named:     l(3),
		Strings:   []string{"a"},
		Names:     nameList{"a"},
		Bytes:     []byte{1},
		Structs:   []leaf{{[]int{1}}},
		Pointers:  []*leaf{l(4), nil},
		Matrix:    [][]int{{1}, nil},
		Map:       map[string]string{"a": "1"},
		NamedMap:  strMap{"a": "1"},
		Maps:      map[string]map[string][]int{"a": {"b": {1}}},
		Keyed:     map[[2]int]*leaf{{1, 2}: l(5)},
		Array:     [2]*leaf{l(6), nil},
		Any:       []leaf{{[]int{7}}},
		JSON:      map[string]any{"a": []any{map[string]any{"b": int64(1)}}, "odd": strMap{"a": "1"}},
		List:      []any{map[string]any{"b": int64(1)}, l(8)},
		Interface: l(9),
		Time:      time.Unix(1, 0),
		TimePtr:   &meta.Time{Time: time.Unix(2, 0)},
		Chan:      make(chan int),
		Hidden:    hidden{map[string]string{"s": "1"}, map[string]string{"o": "1"}},
		HiddenPtr: &hidden{map[string]string{"s": "1"}, map[string]string{"o": "1"}},
		Empty:     []string{},
	}
}

func TestCloneCopiesEverythingThatCanBeReached(t *testing.T) {
	obj := newEverything()
	want := newEverything()
	want.Chan = obj.Chan
	c := meta.Clone(obj)
	if !reflect.DeepEqual(c, want) {
		t.Fatalf("the copy is %+v, want %+v", c, want)
	}
	if c.Empty == nil || c.Nil != nil || c.NilMap != nil {
		t.Error("what is nil must stay nil, and what is empty empty")
	}

	for name, change := range map[string]func(){
		"field of an embedded struct with a hidden name": func() { c.Labels["a"] = "changed" },
		"field of an embedded struct":                    func() { c.Args[0] = "changed" },
		"pointer":                                        func() { *c.Pointer = 99 },
		"pointer to a pointer":                           func() { (*c.Deep).Values[0] = 99 },
		"pointer of a named type":                        func() { c.Named.Values[0] = 99 },
		"strings":                                        func() { c.Strings[0] = "changed" },
		"strings of a named type":                        func() { c.Names[0] = "changed" },
		"bytes":                                          func() { c.Bytes[0] = 99 },
		"slice of structs":                               func() { c.Structs[0].Values[0] = 99 },
		"slice of pointers":                              func() { c.Pointers[0].Values[0] = 99 },
		"slice of slices":                                func() { c.Matrix[0][0] = 99 },
		"map":                                            func() { c.Map["b"] = "changed" },
		"map of a named type":                            func() { c.NamedMap["b"] = "changed" },
		"maps in a map":                                  func() { c.Maps["a"]["b"][0] = 99 },
		"pointers in a map":                              func() { c.Keyed[[2]int{1, 2}].Values[0] = 99 },
		"array":                                          func() { c.Array[0].Values[0] = 99 },
		"interface":                                      func() { c.Any.([]leaf)[0].Values[0] = 99 },
		"pointer in an interface":                        func() { c.Interface.(*leaf).Values[0] = 99 },
		"JSON object":                                    func() { c.JSON["a"].([]any)[0].(map[string]any)["b"] = 99 },
		"Go map in a JSON object":                        func() { c.JSON["odd"].(strMap)["a"] = "changed" },
		"JSON array":                                     func() { c.List[0].(map[string]any)["b"] = 99 },
		"Go pointer in a JSON array":                     func() { c.List[1].(*leaf).Values[0] = 99 },
		"time behind a pointer":                          func() { c.TimePtr.Time = time.Unix(99, 0) },
		"exported field beside a hidden one":             func() { c.Hidden.Open["o"] = "changed" },
		"exported field behind a pointer":                func() { c.HiddenPtr.Open["o"] = "changed" },
	} {
		change()
		if !reflect.DeepEqual(obj, want) {
			t.Errorf("%s: changing the copy changed the original", name)
			obj = newEverything()
			obj.Chan = want.Chan
			c = meta.Clone(obj)
		}
	}
}

func TestCloneSharesWhatIsDocumentedAsShared(t *testing.T) {
	obj := newEverything()
	c := meta.Clone(obj)
	c.Hidden.secret["s"] = "changed"
	c.Values[0] = 99 // through the embedded pointer, whose own name is hidden
	if obj.Hidden.secret["s"] != "changed" || obj.Values[0] != 99 {
		t.Error("the doc says that what unexported fields refer to stays shared")
	}
	if c.Chan != obj.Chan {
		t.Error("a channel must be shared")
	}
}

type copier struct {
	N    int
	note string
}

func (c *copier) DeepCopy() *copier { return &copier{c.N, "copied by its method"} }

func TestClonePrefersADeepCopyMethodOfT(t *testing.T) {
	if c := meta.Clone(&copier{N: 1}); c.N != 1 || c.note == "" {
		t.Errorf("copy %+v, want one by DeepCopy", c)
	}
	if c := meta.Clone(struct{ P *copier }{&copier{N: 1}}); c.P.N != 1 || c.P.note != "" {
		t.Errorf("copy %+v, want one by plan", c.P)
	}
	type embedding struct{ *copier } // its DeepCopy is that of another type
	if c := meta.Clone(embedding{&copier{N: 1}}); c.note != "" {
		t.Errorf("copy %+v, want one by plan", c)
	}
}

func TestCloneOfPlainValues(t *testing.T) {
	if meta.Clone(5) != 5 || meta.Clone("s") != "s" || meta.Clone[any](nil) != nil || meta.Clone[*leaf](nil) != nil ||
		meta.Clone[error](nil) != nil || meta.Clone[map[string]string](nil) != nil {
		t.Error("a plain value must be its own copy")
	}
	var o meta.Object = &meta.Identity{Name: "a"}
	c := meta.Clone(o)
	if c == o || c.GetName() != "a" {
		t.Errorf("copy %v of an interface value must be another pointer to the same", c)
	}
	n := big.NewInt(5)
	if m := meta.Clone(n); m == n || m.Cmp(n) != 0 {
		t.Errorf("copy %v of a type with hidden fields must be another value", m)
	}
}

type node struct {
	Name     string
	Parent   *node
	Next     *node
	Children []*node
	ByName   map[string]*node
	Any      any
}

// Cyclic graphs end, and keep their shape.
func TestCloneOfCyclicGraphs(t *testing.T) {
	root := &node{Name: "root", ByName: map[string]*node{}}
	for i := range 50 {
		child := &node{Name: fmt.Sprint(i), Parent: root, Any: root}
		if i > 0 {
			child.Next = root.Children[i-1]
			root.Children[i-1].Any = child
		}
		root.Children = append(root.Children, child)
		root.ByName[child.Name] = child
	}
	c := meta.Clone(root)
	for i, child := range c.Children {
		if child == root.Children[i] || child.Name != fmt.Sprint(i) || child.Parent != c || c.ByName[child.Name] != child {
			t.Fatalf("child %d of the copy does not hang in the copy", i)
		}
		if i > 0 && child.Next != c.Children[i-1] {
			t.Fatalf("child %d of the copy does not lead to its neighbour", i)
		}
	}

	shared := map[string]*node{}
	ring := &node{ByName: shared, Children: []*node{{ByName: shared}}, Any: []any{1}}
	ring.Next, shared["ring"] = ring, ring
	ring.Children[0].Any = ring.Any
	cr := meta.Clone(ring)
	cr.ByName["new"] = cr
	cr.Any.([]any)[0] = 2
	if cr.Children[0].ByName["new"] != cr || cr.Children[0].Any.([]any)[0] != 2 || cr.ByName["ring"] != cr {
		t.Error("what a cyclic graph shares, its copy must share")
	}
	if shared["new"] != nil || ring.Any.([]any)[0] != 1 {
		t.Error("changing the copy changed the original")
	}

	self := &node{}
	self.Next = self
	if c := meta.Clone(self); c == self || c.Next != c {
		t.Error("a pointer to itself must be copied as one")
	}
	m := map[string]any{"a": 1}
	m["self"], m["again"] = m, m
	cm := meta.Clone(m)
	cm["new"] = true
	if cm["self"].(map[string]any)["new"] != true || cm["again"].(map[string]any)["new"] != true || m["new"] != nil {
		t.Error("a map that holds itself must be copied as one")
	}
	s := []any{1, nil}
	s[1] = s
	cs := meta.Clone(s)
	cs[0] = 2
	if cs[1].([]any)[0] != 2 || s[0] != 1 {
		t.Error("a slice that holds itself must be copied as one")
	}
	type list []list
	l := list{nil, nil}
	l[0], l[1] = l, l
	if c := meta.Clone(l); &c[0] == &l[0] || &c[0][0] != &c[0] {
		t.Error("a slice of its own type must be copied as one")
	}
}

func TestCloneOfDeepChains(t *testing.T) {
	var chain *node
	for i := range 100_000 {
		chain = &node{Name: fmt.Sprint(i), Next: chain}
	}
	c := meta.Clone(chain)
	for a, b := chain, c; a != nil; a, b = a.Next, b.Next {
		if a == b || a.Name != b.Name {
			t.Fatalf("node %q is copied as %q", a.Name, b.Name)
		}
	}
	var tree any = "leaf"
	for range 1000 {
		tree = map[string]any{"a": []any{tree}}
	}
	if !reflect.DeepEqual(meta.Clone(tree), tree) {
		t.Error("a deep JSON value is not copied whole")
	}
}

func TestCloneRunsBesideReaders(t *testing.T) {
	type fresh struct{ A, B *node } // a type whose plan nobody has made yet
	obj := &fresh{A: &node{Name: "a", Children: []*node{{Name: "b"}}}}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if c := meta.Clone(obj); !reflect.DeepEqual(c, obj) {
				t.Errorf("copy %v", c)
			}
		})
	}
	wg.Wait()
}

func FuzzCloneJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}]}`))
	f.Add([]byte(strings.Repeat(`{"a":[`, 90) + strings.Repeat(`]}`, 90)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var u meta.Unstructured
		if u.UnmarshalJSON(raw) != nil {
			return
		}
		if c := meta.Clone(u); !reflect.DeepEqual(c, u) {
			t.Fatalf("the copy of %v is %v", u, c)
		}
	})
}

type benchPod struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		NodeName   string
		Containers []struct {
			Name, Image string
			Args        []string
			Limits      map[string]string
		}
	}
}

func newBenchPod() *benchPod {
	yes := true
	p := &benchPod{ObjectMeta: meta.ObjectMeta{
		Name: "a", Namespace: "b", Labels: map[string]string{"app": "web", "tier": "front"},
		OwnerReferences: []meta.OwnerReference{{Kind: "ReplicaSet", Name: "rs", UID: "u", Controller: &yes}},
	}}
	p.Spec.Containers = append(p.Spec.Containers, struct {
		Name, Image string
		Args        []string
		Limits      map[string]string
	}{"c", "i", []string{"-v", "-x"}, map[string]string{"cpu": "1"}})
	return p
}

func BenchmarkClone(b *testing.B) {
	p := newBenchPod()
	b.ReportAllocs()
	for b.Loop() {
		meta.Clone(p)
	}
}

func BenchmarkCloneOfASmallStruct(b *testing.B) {
	p := &struct {
		meta.Identity
		Phase string
	}{meta.Identity{Name: "a"}, "Running"}
	b.ReportAllocs()
	for b.Loop() {
		meta.Clone(p)
	}
}
