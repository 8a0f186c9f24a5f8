package patch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// ApplyJSON applies a JSON patch to doc, exactly as RFC 6902 says, and returns the new document. It applies all
// operations or none: it never changes doc, and returns no document with an error.
//
// A test compares values, not text: 1, 1.0 and 1e0 are one number, and 2^53 and 2^53+1 are two. Everything that the
// patch does not change is written as it was, numbers digit by digit, without white space. Members of objects stay in
// their place, and new ones follow them. If an object has several members with one name, the last counts.
//
// The error names the operation if one is wrong (see [ParseOps]) or does not fit the document: it is [ErrNotFound] if
// a location does not exist, [ErrTestFailed] if a test fails. It is [ErrTooLarge] beyond the bounds of this package;
// one bound is that the copies of a patch add at most 3 MiB. The cost of an operation on a list is proportional to the
// list's length.
func ApplyJSON(doc, jsonPatch []byte) ([]byte, error) {
	target, change, err := readBoth(doc, "the JSON patch", jsonPatch)
	if err != nil {
		return nil, err
	}
	steps, err := parseSteps(change)
	if err != nil {
		return nil, err
	}
	a := applier{root: target.Root()}
	for i := range steps {
		if err := a.step(&steps[i]); err != nil {
			return nil, &opError{i, steps[i].op, a.at, err}
		}
	}
	out, err := a.root.AppendTo(make([]byte, 0, len(doc)+len(jsonPatch)), 0)
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	return out, nil
}

// step is an operation whose value is still JSON.
type step struct {
	Op
	raw tree.Node
}

// parseSteps reads the operations of a JSON patch, and checks all that does not depend on a document.
func parseSteps(s *tree.Source) ([]step, error) {
	root := s.Root()
	if root.Kind() != '[' {
		return nil, malformed("patch: the JSON patch must be a list of operations")
	}
	items := root.Open().Items
	if len(items) > maxOps {
		return nil, fmt.Errorf("patch: %w", tooManyOps(len(items)))
	}
	steps := make([]step, len(items))
	for i, item := range items {
		if err := steps[i].parse(item); err != nil {
			return nil, &opError{Index: i, Op: steps[i].op, Path: steps[i].path, Err: err}
		}
		if err := steps[i].check(i); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// parse reads the members of an operation.
func (o *step) parse(item tree.Node) error {
	if item.Kind() != '{' {
		return malformed("it must be an object")
	}
	var room [4]tree.Member
	var found [4]bool // op, path, from, value
	for _, m := range tree.AppendMembers(room[:0], item) {
		k := slices.Index(opMembers[:], string(m.Name))
		if k < 0 {
			continue
		}
		if found[k] {
			return malformed("it has two members %q", m.Name)
		}
		found[k] = true
		if k == 3 {
			o.raw = m.Value
			continue
		}
		if m.Value.Kind() != '"' {
			if k == 2 {
				found[k] = false // an error only if the operation needs it
				continue
			}
			return malformed("its member %q must be a string", m.Name)
		}
		*[...]*string{&o.op, &o.path, &o.from}[k] = string(m.Value.Unquoted())
	}
	switch {
	case !found[0]:
		return malformed(`it must have a member "op"`)
	case !found[1]:
		return malformed(`it must have a member "path"`)
	case o.hasFrom() && !found[2]:
		return malformed(`it must have a member "from" that is a string`)
	case o.hasValue() && !found[3]:
		return malformed(`it must have a member "value"`)
	}
	return nil
}

var opMembers = [...]string{"op", "path", "from", "value"}

// applier applies operations to a document.
type applier struct {
	root   tree.Node
	at     string // the last pointer that was followed
	copied int
}

func (a *applier) step(o *step) error {
	switch o.op {
	case "add":
		return a.add(o.path, o.raw)
	case "remove":
		_, err := a.remove(o.path)
		return err
	case "replace":
		v, err := a.find(o.path)
		if err == nil {
			*v = o.raw
		}
		return err
	case "move":
		return a.move(o.from, o.path)
	case "copy":
		return a.copy(o.from, o.path)
	}
	v, err := a.find(o.path)
	if err == nil && !tree.Same(v, &o.raw) {
		err = errTest
	}
	return err
}

var errTest = tree.Errorf(ErrTestFailed, "the document has a different value there")

// find returns the value that a pointer leads to. It is valid until the document changes.
func (a *applier) find(pointer string) (*tree.Node, error) {
	a.at = pointer
	v := &a.root
	for rest := pointer; rest != ""; {
		walked := pointer[:len(pointer)-len(rest)]
		var name string
		name, rest = cutName(rest)
		b := v.Open()
		switch {
		case b == nil:
			return nil, errScalar(walked, *v)
		case b.List:
			i, err := elementIndex(b, name, walked, len(b.Items))
			if err != nil {
				return nil, err
			}
			v = &b.Items[i]
		default:
			i := b.Find(name)
			if i < 0 {
				return nil, notFound("the object at %s has no member %s", tree.Quote(walked), tree.Quote(name))
			}
			v = &b.Members[i].Value
		}
	}
	return v, nil
}

func errScalar(pointer string, v tree.Node) error {
	what := map[byte]string{'"': "a string", '0': "a number", 't': "a boolean", 'f': "a boolean", 'n': "null"}[v.Kind()]
	return notFound("the value at %s is %s, not an object or a list", tree.Quote(pointer), what)
}

// elementIndex returns the index that name stands for, which must be less than end, in the list b at pointer.
func elementIndex(b *tree.Branch, name, pointer string, end int) (int, error) {
	i, err := index(name)
	if err == nil && i >= end {
		err = notFound("index %s is out of range: the list has length %d", tree.Clip(name), len(b.Items))
	}
	if err != nil {
		return 0, fmt.Errorf("in the list at %s: %w", tree.Quote(pointer), err)
	}
	return i, nil
}

// parent returns the object or list that contains, or will contain, the value at a pointer, and the value's name in
// it.
func (a *applier) parent(pointer string) (b *tree.Branch, above, name string, err error) {
	i := strings.LastIndexByte(pointer, '/')
	above = pointer[:i]
	name, _ = cutName(pointer[i:])
	v, err := a.find(above)
	a.at = pointer
	if err != nil {
		return nil, "", "", err
	}
	if b = v.Open(); b == nil {
		return nil, "", "", errScalar(above, *v)
	}
	return b, above, name, nil
}

func (a *applier) add(pointer string, value tree.Node) error {
	if a.at = pointer; pointer == "" {
		a.root = value
		return nil
	}
	b, above, name, err := a.parent(pointer)
	if err != nil {
		return err
	}
	if !b.List {
		b.Set(name, value)
		return nil
	}
	i := len(b.Items)
	if name != "-" {
		if i, err = elementIndex(b, name, above, len(b.Items)+1); err != nil {
			return err
		}
	}
	b.Items = slices.Insert(b.Items, i, value)
	return nil
}

// remove removes the value at a pointer, and returns it. The pointer must not be that of the whole document.
func (a *applier) remove(pointer string) (tree.Node, error) {
	b, above, name, err := a.parent(pointer)
	if err != nil {
		return tree.Node{}, err
	}
	if b.List {
		i, err := elementIndex(b, name, above, len(b.Items))
		if err != nil {
			return tree.Node{}, err
		}
		v := b.Items[i]
		b.Items = slices.Delete(b.Items, i, i+1)
		return v, nil
	}
	i := b.Find(name)
	if i < 0 {
		return tree.Node{}, notFound("the object at %s has no member %s", tree.Quote(above), tree.Quote(name))
	}
	v := b.Members[i].Value
	b.Remove(i)
	return v, nil
}

func (a *applier) move(from, to string) error {
	if from == to {
		_, err := a.find(from)
		return err
	}
	v, err := a.remove(from)
	if err != nil {
		return err
	}
	return a.add(to, v)
}

func (a *applier) copy(from, to string) error {
	v, err := a.find(from)
	if err != nil {
		return err
	}
	size, err := v.Size(0)
	if err != nil {
		return err
	}
	if a.copied += size; a.copied > maxCopied {
		return tooLarge("the patch copies more than %d bytes, which is too large", maxCopied)
	}
	return a.add(to, v.Clone())
}
