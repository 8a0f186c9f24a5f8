package patch

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/bowline-go/bowline/internal/jsonlex"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// Op is one operation of a JSON patch (RFC 6902). Add, Remove, Replace, Move, Copy and Test make one; the zero Op is
// invalid. Paths are JSON pointers (RFC 6901); [Pointer] builds them. Values are encoded by encoding/json when the
// patch is built.
type Op struct {
	op         string
	path, from string
	value      any
}

// Add returns the operation that adds value at path. In an object it adds a member, or replaces the one that is there.
// In a list it inserts an element before the one at that index; "-" stands for the end. The object or list must exist.
// The path "" replaces the whole document.
func Add(path string, value any) Op { return Op{op: "add", path: path, value: value} }

// Remove returns the operation that removes the member or element at path, which must exist. The path cannot be "",
// the whole document.
func Remove(path string) Op { return Op{op: "remove", path: path} }

// Replace returns the operation that replaces the value at path, which must exist.
func Replace(path string, value any) Op { return Op{op: "replace", path: path, value: value} }

// Move returns the operation that removes the value at from and adds it at path, as [Add] does. A value cannot be
// moved into itself.
func Move(from, path string) Op { return Op{op: "move", from: from, path: path} }

// Copy returns the operation that copies the value at from, and adds the copy at path, as [Add] does.
func Copy(from, path string) Op { return Op{op: "copy", from: from, path: path} }

// Test returns the operation that makes the whole patch fail unless the value at path exists and equals value. Numbers
// are equal however they are written, and objects whatever the order of their members. An API server closes the
// connection if either value has a list with null in it.
func Test(path string, value any) Op { return Op{op: "test", path: path, value: value} }

// String returns the operation without its value, such as `replace "/spec/replicas"`.
func (o Op) String() string {
	if o.hasFrom() {
		return fmt.Sprintf("%s %q to %q", o.op, o.from, o.path)
	}
	return fmt.Sprintf("%s %q", o.op, o.path)
}

// GoString returns the same as String, so that %#v shows no value either.
func (o Op) GoString() string { return o.String() }

func (o Op) hasFrom() bool { return o.op == "move" || o.op == "copy" }

func (o Op) hasValue() bool { return o.op == "add" || o.op == "replace" || o.op == "test" }

// check returns an *opError if the operation is wrong whatever the document is.
func (o Op) check(i int) error {
	if !o.hasFrom() && !o.hasValue() && o.op != "remove" {
		return &opError{Index: i, Err: malformed("op must be add, remove, replace, move, copy or test, got %s", tree.Quote(o.op))}
	}
	if err := checkPointer(o.path); err != nil {
		return &opError{i, o.op, o.path, err}
	}
	if o.hasFrom() {
		if err := checkPointer(o.from); err != nil {
			return &opError{i, o.op, o.from, err}
		}
	}
	switch {
	case o.op == "remove" && o.path == "":
		return &opError{i, o.op, o.path, malformed("the whole document cannot be removed")}
	case o.hasValue() && gotype.Unnamed(reflect.TypeOf(o.value)) != nil:
		return &opError{i, o.op, o.path, gotype.Unnamed(reflect.TypeOf(o.value))}
	case o.op == "move" && leadsInto(o.path, o.from):
		return &opError{i, o.op, o.path, malformed("the value at %s cannot be moved into itself", tree.Quote(o.from))}
	}
	return nil
}

// appendTo appends the operation's JSON.
func (o Op) appendTo(dst []byte, i int) ([]byte, error) {
	dst = append(append(append(dst, `{"op":"`...), o.op...), '"')
	if o.hasFrom() {
		dst = jsonlex.AppendQuoted(append(dst, `,"from":`...), o.from)
	}
	dst = jsonlex.AppendQuoted(append(dst, `,"path":`...), o.path)
	if o.hasValue() {
		value, err := json.Marshal(o.value)
		if err != nil {
			return nil, &opError{i, o.op, o.path, fmt.Errorf("encode the value: %w", err)}
		}
		dst = append(dst, `,"value":`...)
		if o.op == "test" {
			dst = tree.AppendSpelled(dst, value)
		} else {
			dst = append(dst, value...)
		}
	}
	return append(dst, '}'), nil
}

// ParseOps returns the operations of a JSON patch that is given as JSON, so that JSON(ops...) can send it. The error
// names the operation if one is wrong: a member that it needs is missing or of the wrong type, a member that RFC 6902
// defines occurs twice, or [JSON] refuses the operation. Members that RFC 6902 does not define for the operation are
// ignored.
func ParseOps(jsonPatch []byte) ([]Op, error) {
	s, err := tree.Read("the JSON patch", jsonPatch)
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	steps, err := parseSteps(s)
	if err != nil {
		return nil, err
	}
	ops := make([]Op, len(steps))
	for i, step := range steps {
		ops[i] = step.Op
		if step.hasValue() {
			ops[i].value = json.RawMessage(append([]byte(nil), step.raw.Text()...))
		}
	}
	return ops, nil
}
