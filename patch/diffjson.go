package patch

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/internal/jsonlex"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// DiffJSON returns the JSON patch that changes old to new exactly, including nulls. It is empty ([Patch.IsEmpty]) if
// nothing differs. [Diff] says what old and new may be, and which differences are errors.
//
// The patch changes objects member by member. In lists, two elements are the same if they are equal or have the same
// name (a member "name", or else "key", or else "type"). The patch replaces a list whole if that makes the patch
// shorter, and an object whole if it has thousands of changes. The cost is bounded: if more than half a million pairs
// of elements would have to be compared in a list, its elements are matched by their index, and a list whose path is
// longer than 4 KiB is replaced.
//
// The patch names elements by their index, without regard to what is at that index when the patch arrives.
// [DiffGuarded] tests first.
func DiffJSON(old, new any) Patch {
	return diff("patch.DiffJSON", JSONType, old, new, diffJSON(false))
}

// DiffGuarded is [DiffJSON] with a test before each operation, so that the patch fails if another client has changed
// the same value in the meantime. A test compares a value that the patch replaces or removes with the value in old. If
// elements of a list are added, removed or moved, the test compares the whole list. There is no test for a new member,
// and none for a value that has a list with null in it, because an API server closes the connection at such a test.
// [Patch.WithResourceVersion] guards these too.
func DiffGuarded(old, new any) Patch {
	return diff("patch.DiffGuarded", JSONType, old, new, diffJSON(true))
}

func diffJSON(guarded bool) func(from, to *tree.Node) ([]byte, bool, error) {
	return func(from, to *tree.Node) ([]byte, bool, error) {
		d := scripter{out: []byte{'['}, guarded: guarded}
		d.members(from.Open(), to.Open())
		if d.ops > maxOps {
			d = scripter{out: d.out[:1], guarded: guarded}
			d.replace(from, to)
		}
		return append(d.out, ']'), d.ops > 0, nil
	}
}

const (
	// manyOps is how many operations may change one object below the root. It is far below maxOps, so that a patch can
	// have a few such objects.
	manyOps = 2000
	// manyPairs is how many pairs of elements may be compared in one list.
	manyPairs = 1 << 19
	// longPath is how long the path of a list may be, in bytes, before the list is replaced instead of compared: each
	// operation repeats the path.
	longPath = 4 << 10
)

// scripter writes the operations of a JSON patch.
type scripter struct {
	out     []byte
	ops     int
	path    []byte // the path of the values that are compared
	guarded bool
	run     tree.TextRun
	written int // the bytes written, including those taken back; for a test
}

// op writes an operation for the path. value is nil if the operation has none.
func (d *scripter) op(name string, value *tree.Node) {
	if d.ops > 0 {
		d.out = append(d.out, ',')
	}
	d.ops++
	start := len(d.out)
	defer func() { d.written += len(d.out) - start }()
	d.out = append(append(append(d.out, `{"op":"`...), name...), `","path":`...)
	d.out = jsonlex.AppendQuoted(d.out, d.path)
	if value != nil {
		d.out = append(d.out, `,"value":`...)
		if name == "test" {
			d.out = tree.AppendSpelled(d.out, value.Text())
		} else {
			d.out = append(d.out, value.Text()...)
		}
	}
	d.out = append(d.out, '}')
}

func (d *scripter) guard(was *tree.Node) {
	if d.guarded && !hasNullItem(was) {
		d.op("test", was)
	}
}

func (d *scripter) replace(was, is *tree.Node) {
	d.guard(was)
	d.op("replace", is)
}

// sizeOfReplace returns how many bytes replace writes, without the escapes in the path.
func (d *scripter) sizeOfReplace(was, is *tree.Node) int {
	size := len(`,{"op":"replace","path":"","value":}`) + len(d.path) + len(is.Text())
	if d.guarded && !hasNullItem(was) {
		size += len(`,{"op":"test","path":"","value":}`) + len(d.path) + len(was.Text())
	}
	return size
}

func (d *scripter) remove(was *tree.Node) {
	d.guard(was)
	d.op("remove", nil)
}

// mark is a state of a scripter to return to.
type mark struct{ out, ops int }

func (d *scripter) mark() mark { return mark{len(d.out), d.ops} }

func (d *scripter) back(m mark) { d.out, d.ops = d.out[:m.out], m.ops }

// down adds a name to the path, and returns the length that the path had before.
func (d *scripter) down(name []byte) int {
	n := len(d.path)
	d.path = append(d.path, '/')
	for _, c := range name {
		switch c {
		case '~':
			d.path = append(d.path, "~0"...)
		case '/':
			d.path = append(d.path, "~1"...)
		default:
			d.path = append(d.path, c)
		}
	}
	return n
}

// downTo adds an index to the path.
func (d *scripter) downTo(i int) int {
	n := len(d.path)
	d.path = strconv.AppendInt(append(d.path, '/'), int64(i), 10)
	return n
}

// value writes the operations that change a to b.
func (d *scripter) value(a, b *tree.Node) {
	if d.run.Unchanged(a, b) {
		return
	}
	kind := a.Kind()
	switch {
	case kind == '{' && b.Kind() == '{':
		before := d.mark()
		d.members(a.Open(), b.Open())
		if d.ops-before.ops > manyOps {
			d.back(before)
			d.replace(a, b)
		}
	case kind == '[' && b.Kind() == '[' && len(d.path) <= longPath:
		before := d.mark()
		d.items(a, b)
		if len(d.out)-before.out > d.sizeOfReplace(a, b) || d.ops-before.ops > manyOps {
			d.back(before)
			d.replace(a, b)
		}
	case !tree.Same(a, b):
		d.replace(a, b)
	}
}

func (d *scripter) members(a, b *tree.Branch) {
	for i := range a.Members {
		if m := &a.Members[i]; !m.Gone && b.FindFrom(i, string(m.Name)) < 0 {
			n := d.down(m.Name)
			d.remove(&m.Value)
			d.path = d.path[:n]
		}
	}
	for i := range b.Members {
		m := &b.Members[i]
		if m.Gone {
			continue
		}
		n := d.down(m.Name)
		if j := a.FindFrom(i, string(m.Name)); j < 0 {
			d.op("add", &m.Value)
		} else {
			d.value(&a.Members[j].Value, &m.Value)
		}
		d.path = d.path[:n]
	}
}

// items writes the operations that change one list to the other. The operations go through the list from its start, so
// everything before the index of an operation already equals b.
func (d *scripter) items(list, with *tree.Node) {
	a, b := list.Open().Items, with.Open().Items
	pairs := align(a, b, &d.run)
	if moves(pairs, len(a), len(b)) {
		d.guard(list)
		defer func(was bool) { d.guarded = was }(d.guarded)
		d.guarded = false
	}
	i, j := 0, 0
	for _, p := range append(pairs, [2]int{len(a), len(b)}) {
		for ; i < p[0] && j < p[1]; i, j = i+1, j+1 {
			n := d.downTo(j)
			d.replace(&a[i], &b[j])
			d.path = d.path[:n]
		}
		for ; i < p[0]; i++ {
			n := d.downTo(j)
			d.remove(&a[i])
			d.path = d.path[:n]
		}
		for ; j < p[1]; j++ {
			n := d.downTo(j)
			d.op("add", &b[j])
			d.path = d.path[:n]
		}
		if i < len(a) && j < len(b) {
			n := d.downTo(j)
			d.value(&a[i], &b[j])
			d.path = d.path[:n]
			i, j = i+1, j+1
		}
	}
}

// moves reports whether elements are added, removed or moved.
func moves(pairs [][2]int, a, b int) bool {
	return a != b || slices.ContainsFunc(pairs, func(p [2]int) bool { return p[0] != p[1] })
}

// hasNullItem reports whether a value contains a list with null in it.
func hasNullItem(n *tree.Node) bool {
	return bytes.Contains(n.Text(), []byte("null")) && isNullInList(n)
}

func isNullInList(n *tree.Node) bool {
	b := n.Open()
	if b == nil {
		return false
	}
	for i := range b.Items {
		if b.Items[i].Kind() == 'n' || isNullInList(&b.Items[i]) {
			return true
		}
	}
	for m := range b.Each {
		if isNullInList(&m.Value) {
			return true
		}
	}
	return false
}
