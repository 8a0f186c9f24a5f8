package patch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/proof/histories"
	"github.com/bowline-go/bowline/patch"
)

// model is a JSON patch as simple as it can be, on decoded documents that it copies each time.
type model struct{ doc any }

var errModel = errors.New("it does not fit")

// at calls fn with the object or list that a pointer leads into, and the name there, and puts what fn returns in its place.
func (m *model) at(pointer string, fn func(parent any, name string) (any, error)) error {
	names, err := patch.ParsePointer(pointer)
	if err != nil {
		return err
	}
	var walk func(v any, names []string) (any, error)
	walk = func(v any, names []string) (any, error) {
		if len(names) == 1 {
			return fn(v, names[0])
		}
		child, err := child(v, names[0])
		if err != nil {
			return nil, err
		}
		if child, err = walk(child, names[1:]); err != nil {
			return nil, err
		}
		return put(v, names[0], child)
	}
	m.doc, err = walk(m.doc, names)
	return err
}

func child(v any, name string) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if w, ok := v[name]; ok {
			return w, nil
		}
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) && strconv.Itoa(i) == name {
			return v[i], nil
		}
	}
	return nil, errModel
}

// put replaces what is there.
func put(v any, name string, value any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		v[name] = value
	case []any:
		i, _ := strconv.Atoi(name)
		v[i] = value
	}
	return v, nil
}

func (m *model) get(pointer string) (any, error) {
	names, err := patch.ParsePointer(pointer)
	v := m.doc
	for _, name := range names {
		if err == nil {
			v, err = child(v, name)
		}
	}
	return v, err
}

func (m *model) add(pointer string, value any) error {
	if pointer == "" {
		m.doc = value
		return nil
	}
	return m.at(pointer, func(parent any, name string) (any, error) {
		switch parent := parent.(type) {
		case map[string]any:
			parent[name] = value
			return parent, nil
		case []any:
			if name == "-" {
				return append(parent, value), nil
			}
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i <= len(parent) && strconv.Itoa(i) == name {
				return slices.Insert(parent, i, value), nil
			}
		}
		return nil, errModel
	})
}

func (m *model) remove(pointer string) error {
	if _, err := m.get(pointer); err != nil {
		return err
	}
	return m.at(pointer, func(parent any, name string) (any, error) {
		if list, ok := parent.([]any); ok {
			i, _ := strconv.Atoi(name)
			return slices.Delete(list, i, i+1), nil
		}
		delete(parent.(map[string]any), name)
		return parent, nil
	})
}

// operation is an operation for the model.
type operation struct {
	op, path, from string
	value          any
}

func (o operation) patch() patch.Op {
	switch o.op {
	case "add":
		return patch.Add(o.path, o.value)
	case "remove":
		return patch.Remove(o.path)
	case "replace":
		return patch.Replace(o.path, o.value)
	case "move":
		return patch.Move(o.from, o.path)
	case "copy":
		return patch.Copy(o.from, o.path)
	}
	return patch.Test(o.path, o.value)
}

func (m *model) apply(t *testing.T, o operation) error {
	t.Helper()
	cloned := func(v any) any { return decode(t, marshal(t, v)) }
	switch o.op {
	case "add":
		return m.add(o.path, cloned(o.value))
	case "remove":
		return m.remove(o.path)
	case "replace":
		if _, err := m.get(o.path); err != nil || o.path == "" {
			m.doc = cloned(o.value)
			return err
		}
		return m.at(o.path, func(parent any, name string) (any, error) { return put(parent, name, cloned(o.value)) })
	}
	v, err := m.get(o.from)
	if err != nil || o.op == "move" && o.from == o.path {
		return err
	}
	v = cloned(v)
	if o.op == "move" {
		if err := m.remove(o.from); err != nil {
			return err
		}
	}
	return m.add(o.path, v)
}

// pointers returns the pointers of all values in v.
func pointers(v any, names ...string) []string {
	all := []string{patch.Pointer(names...)}
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			all = append(all, pointers(value, append(slices.Clone(names), name)...)...)
		}
	case []any:
		for i, value := range v {
			all = append(all, pointers(value, append(slices.Clone(names), strconv.Itoa(i))...)...)
		}
	}
	slices.Sort(all)
	return all
}

// operation makes one that mostly fits.
func (r chance) operation(doc any) operation {
	all := pointers(doc)
	o := operation{
		op:   []string{"add", "add", "remove", "replace", "move", "copy"}[r.IntN(6)],
		path: all[r.IntN(len(all))], from: all[r.IntN(len(all))], value: r.Value(2),
	}
	if r.IntN(3) == 0 && o.op != "remove" && o.op != "replace" || r.IntN(40) == 0 {
		o.path += patch.Pointer([]string{r.Name(), "-", "0", "1", "2", "01", "new"}[r.IntN(7)])
	}
	if o.path == "" && r.IntN(4) > 0 {
		o.path = "/" + "new"
	}
	return o
}

// write writes a document in one of the ways in which it can be written: with white space, with escapes, with members twice.
func (r chance) write(t *testing.T, v any) string {
	space := func() string { return []string{"", "", "", " ", "\n\t"}[r.IntN(5)] }
	switch v := v.(type) {
	case map[string]any:
		var members []string
		for _, name := range slices.Sorted(maps.Keys(v)) { // or a seed would not say all
			if r.IntN(10) == 0 {
				members = append(members, r.write(t, name)+":"+r.write(t, r.Value(1)))
			}
			members = append(members, r.write(t, name)+space()+":"+r.write(t, v[name]))
		}
		return space() + "{" + strings.Join(members, space()+",") + "}" + space()
	case []any:
		var items []string
		for _, value := range v {
			items = append(items, r.write(t, value))
		}
		return space() + "[" + strings.Join(items, space()+",") + "]" + space()
	case string:
		if r.IntN(4) == 0 {
			var b strings.Builder
			for _, c := range v {
				fmt.Fprintf(&b, `\u%04x`, c) // no name of chance is beyond the basic plane
			}
			return `"` + b.String() + `"`
		}
	}
	return space() + string(marshal(t, v)) + space()
}

// behaviour 307, behaviour 311, behaviour 313: random operations do what a simple program does, and fail where it fails.
func TestOperationsDoWhatTheModelDoes(t *testing.T) {
	played, failed := 0, 0
	for seed := range histories.Seeds(600) {
		played++
		r := newChance(seed)
		start := r.Object(3)
		if seed%10 == 0 { // one that is not searched from end to end
			for i := range 40 {
				start[fmt.Sprint("m", i)] = r.Value(1)
			}
		}
		doc := r.write(t, start)
		m := model{decode(t, []byte(doc))}
		var ops []patch.Op
		var wrong error
		for range 1 + r.IntN(12) {
			o := r.operation(m.doc)
			if o.op == "remove" && o.path == "" || o.op == "move" && o.path != o.from && strings.HasPrefix(o.path+"/", o.from+"/") {
				continue // refused before anything is applied
			}
			ops = append(ops, o.patch())
			if wrong = m.apply(t, o); wrong != nil {
				break
			}
		}
		got, err := applyOps(t, doc, ops...)
		if wrong != nil {
			failed++
			if !errors.Is(err, patch.ErrNotFound) || got != "" {
				t.Fatalf("seed %d: %v of %s makes %s, %v", seed, ops, doc, got, err)
			}
			continue
		}
		if err != nil || !json.Valid([]byte(got)) || !sameDecoded(decode(t, []byte(got)), m.doc) {
			t.Fatalf("seed %d: %v of %s makes %s, %v; want %s", seed, ops, doc, got, err, marshal(t, m.doc))
		}
		if _, err := applyOps(t, got, patch.Test("", m.doc)); err != nil {
			t.Fatalf("seed %d: %s is not %s: %v", seed, got, marshal(t, m.doc), err)
		}
	}
	if failed < played/15 || failed > played*2/3 {
		t.Errorf("%d of %d fail, so that this says little", failed, played)
	}
}

// checkModel compares what a JSON patch made of a document, or why it made nothing, with what the model does.
func checkModel(t *testing.T, doc []byte, ops []patch.Op, got []byte, err error) {
	t.Helper()
	if errors.Is(err, patch.ErrTooLarge) {
		return
	}
	body, buildErr := patch.JSON(ops...).Body()
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	m := model{decode(t, doc)}
	for i, v := range decode(t, body).([]any) {
		member := func(name string) string {
			text, _ := v.(map[string]any)[name].(string)
			return text
		}
		o := operation{member("op"), member("path"), member("from"), v.(map[string]any)["value"]}
		kind := patch.ErrNotFound
		var wrong error
		if o.op == "test" {
			var is any
			if is, wrong = m.get(o.path); wrong == nil {
				same, sure := isSameValue(is, o.value)
				var at *patch.OpError
				failed := errors.As(err, &at) && at.Index == i
				if sure && failed == same {
					t.Fatalf("operation %d of %s and %s: %v", i, doc, body, err)
				}
				if kind = patch.ErrTestFailed; failed {
					wrong = errModel
				}
			}
		} else {
			wrong = m.apply(t, o)
		}
		if wrong != nil {
			var at *patch.OpError
			if !errors.As(err, &at) || at.Index != i || !errors.Is(err, kind) {
				t.Fatalf("%s and %s make %s, %v; want that operation %d is %v", doc, body, got, err, i, kind)
			}
			return
		}
	}
	if err != nil || !sameDecoded(decode(t, got), m.doc) {
		t.Fatalf("%s and %s make %s, %v; want %s", doc, body, got, err, marshal(t, m.doc))
	}
}

// isSameValue compares decoded documents. It is not sure of numbers that are not written alike and are one float64.
func isSameValue(a, b any) (same, sure bool) {
	sure = true
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		if !ok || a == b {
			return ok, true
		}
		x, err := a.Float64()
		y, err2 := b.Float64()
		return false, err == nil && err2 == nil && x != y
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false, true
		}
		same = true
		for name, v := range a {
			w, ok := b[name]
			if !ok {
				return false, true
			}
			one, certain := isSameValue(v, w)
			if !one && certain {
				return false, true
			}
			same, sure = same && one, sure && certain
		}
		return same, sure
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false, true
		}
		same = true
		for i := range a {
			one, certain := isSameValue(a[i], b[i])
			if !one && certain {
				return false, true
			}
			same, sure = same && one, sure && certain
		}
		return same, sure
	}
	return reflect.DeepEqual(a, b), true
}

// sameDecoded compares decoded documents, numbers by their spelling.
func sameDecoded(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}

// behaviour 312: a document is itself, however it is written, and is not what it was changed to.
func TestDocumentsAreEqualHoweverTheyAreWritten(t *testing.T) {
	for seed := range histories.Seeds(400) {
		r := newChance(seed)
		v := r.Object(4)
		a, b := r.write(t, v), r.write(t, v)
		if !isSame(t, []byte(a), []byte(b)) {
			t.Fatalf("seed %d: %s is not %s", seed, a, b)
		}
		checkDiffs(t, []byte(a), []byte(r.write(t, r.ChangeObject(v, 4))))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// behaviour 315: what a merge patch makes is what it makes of decoded documents.
func TestMergingDoesWhatTheRFCSays(t *testing.T) {
	for seed := range uint64(2000) {
		r := newChance(seed)
		doc, change := r.Value(4), r.Value(4)
		if seed%3 == 0 {
			change = r.Change(doc, 4)
		}
		text, changeText := r.write(t, doc), r.write(t, change)
		got, err := patch.ApplyMerge([]byte(text), []byte(changeText))
		want := mergeDecoded(decode(t, []byte(text)), decode(t, []byte(changeText)))
		if err != nil || !sameDecoded(decode(t, got), want) {
			t.Fatalf("seed %d: %s and %s make %s, %v; want %s", seed, text, changeText, got, err, marshal(t, want))
		}
	}
}
