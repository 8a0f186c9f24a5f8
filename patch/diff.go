package patch

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/bowline-go/bowline/internal/patch/govalue"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// Diff returns the JSON merge patch that changes old to new. It contains the members that new adds or changes, with
// lists whole, and null for those that new no longer has. It is empty ([Patch.IsEmpty]) if nothing differs. Diff
// encodes old and new once each, as a write does; it uses a json.RawMessage as it is. Both must encode to JSON
// objects.
//
// A merge patch cannot set null. If a member is null in new, the patch removes it. To the Kubernetes API the two are
// the same, unless a custom resource declares the member nullable; use [DiffJSON] for that. Nulls in lists are set.
//
// The error is [ErrNull] if new has an object that old lacks and a member of that object is null, because a null entry
// of a map would be lost. Two nulls have no meaning and are allowed there: the nil of a field of a Go struct, and the
// null of a creationTimestamp.
//
// It is an error if the name, the namespace or the uid in old's metadata is missing or different in new's metadata,
// because no patch can change these.
func Diff(old, new any) Patch {
	return diff("patch.Diff", MergeType, old, new, func(from, to *tree.Node) ([]byte, bool, error) {
		if err := checkNulls(from, to, govalue.Tags(new, to), ""); err != nil {
			return nil, false, err
		}
		var d mergeDiffer
		body, changes := d.append(nil, from.Open(), to.Open())
		return body, changes, nil
	})
}

// diff encodes both objects and calls compute.
func diff(caller, mediaType string, old, new any, compute func(from, to *tree.Node) (body []byte, changes bool, err error)) Patch {
	var body []byte
	var changes bool
	from, to, err := readObjects(old, new)
	if err == nil {
		body, changes, err = compute(from, to)
	}
	if err != nil {
		return Patch{mediaType: mediaType, err: fmt.Errorf("%s: %w", caller, err)}
	}
	return Patch{mediaType: mediaType, body: body, idle: !changes}
}

// checkNulls returns an error if an object that only new has contains a member that is null; [Diff] says which nulls
// are allowed.
func checkNulls(from, to *tree.Node, hints map[uint32]govalue.Tag, path string) error {
	if to.Kind() != '{' || !bytes.Contains(to.Text(), []byte("null")) {
		return nil
	}
	object := to.Open()
	for i := range object.Members {
		m := &object.Members[i]
		if m.Gone {
			continue
		}
		at := path + Pointer(string(m.Name))
		var was *tree.Node
		if from != nil && from.Kind() == '{' {
			if j := from.Open().FindFrom(i, string(m.Name)); j >= 0 {
				was = &from.Open().Members[j].Value
			}
		} else if m.Value.Kind() == 'n' && !hints[m.Value.At].Null && string(m.Name) != "creationTimestamp" {
			return tree.Errorf(ErrNull, "new has null at %s, in an object that old does not have; leave the member out, or use DiffJSON", tree.Quote(at))
		}
		if err := checkNulls(was, &m.Value, hints, at); err != nil {
			return err
		}
	}
	return nil
}

// readObjects encodes and reads the two versions of one object.
func readObjects(old, new any) (from, to *tree.Node, err error) {
	if err = gotype.Unnamed(reflect.TypeOf(new)); err != nil {
		return nil, nil, err
	}
	if from, err = govalue.Read("old", old); err == nil {
		if to, err = govalue.Read("new", new); err == nil {
			err = sameIdentity(from, to)
		}
	}
	return from, to, err
}

// mergeDiffer computes a merge patch.
type mergeDiffer struct {
	run tree.TextRun
}

// append appends the merge patch from one object to another, and reports whether the patch has any members.
func (d *mergeDiffer) append(dst []byte, a, b *tree.Branch) (_ []byte, changes bool) {
	start := len(dst)
	dst = append(dst, '{')
	begin := func(m *tree.Member) {
		if len(dst) > start+1 {
			dst = append(dst, ',')
		}
		dst = append(m.AppendName(dst), ':')
	}
	for i := range a.Members {
		if m := &a.Members[i]; !m.Gone && b.FindFrom(i, string(m.Name)) < 0 {
			begin(m)
			dst = append(dst, "null"...)
		}
	}
	for i := range b.Members {
		m := &b.Members[i]
		if m.Gone {
			continue
		}
		j := a.FindFrom(i, string(m.Name))
		before := len(dst)
		switch {
		case j < 0:
			if m.Value.Kind() == 'n' {
				continue
			}
		case d.run.Unchanged(&a.Members[j].Value, &m.Value):
			continue
		case a.Members[j].Value.Kind() == '{' && m.Value.Kind() == '{':
			begin(m)
			was := &a.Members[j].Value
			if dst, changes = d.append(dst, was.Open(), m.Value.Open()); !changes {
				dst = dst[:before]
			}
			continue
		case tree.Same(&a.Members[j].Value, &m.Value):
			continue
		}
		begin(m)
		dst = append(dst, m.Value.Text()...)
	}
	return append(dst, '}'), len(dst) > start+1
}
