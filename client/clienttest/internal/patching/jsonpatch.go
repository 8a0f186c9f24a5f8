package patching

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// The bounds of a real server for one JSON patch.
const (
	maxOperations = 10_000
	maxCopied     = 3 << 20 // bytes that its copies add
)

// errDoesNotApply is the error for a JSON patch that is invalid or does not fit the document. A real server's error
// says no more.
var errDoesNotApply = errors.New("the patch does not apply")

// node is a JSON value as a real server's patches see it: null is a nil node, and scalars are compared by their text.
type node struct {
	text    string // of a scalar
	members map[string]*node
	items   []*node
	list    bool
}

// operation is one operation of a JSON patch. To the server, a null value equals an absent one.
type operation struct {
	Op    *string         `json:"op"`
	Path  *string         `json:"path"`
	From  *string         `json:"from"`
	Value json.RawMessage `json:"value"`
}

// applyOperations applies a JSON patch as a real server does. It accepts more than RFC 6902 and package patch: it
// replaces a member that is not there, counts a negative index from the end, and copies null from a location that does
// not exist. It also accepts less: a test compares the texts of numbers and strings.
func applyOperations(doc []byte, operations []*operation) ([]byte, error) {
	root := parseNode(doc)
	copied := 0
	for i, o := range operations {
		if o == nil || o.Op == nil || o.Path == nil {
			return nil, fmt.Errorf("operation %d has no op or no path: %w", i, errDoesNotApply)
		}
		if err := root.do(o, &copied); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", *o.Op, *o.Path, err)
		}
	}
	return root.append(nil), nil
}

// do applies one operation to the document n.
func (n *node) do(o *operation, copied *int) error {
	moved := func(take bool) (*node, error) {
		if o.From == nil {
			return nil, errDoesNotApply
		}
		in, key, err := n.find(*o.From)
		if err != nil {
			return nil, err
		}
		v, err := in.get(key)
		if err == nil && take {
			err = in.remove(key)
		}
		return v, err
	}
	value := parseNode(o.Value)
	var err error
	switch *o.Op {
	case "move":
		value, err = moved(true)
	case "copy":
		if value, err = moved(false); err == nil && value != nil {
			text := value.append(nil)
			if *copied += len(text); *copied > maxCopied {
				return errDoesNotApply
			}
			value = parseNode(text)
		}
	}
	if err != nil {
		return err
	}
	if *o.Path == "" {
		switch {
		case *o.Op == "replace" && value != nil && value.text == "":
			*n = *value
			return nil
		case *o.Op == "test" && n.equal(value):
			return nil
		}
		return errDoesNotApply
	}
	in, key, err := n.find(*o.Path)
	if err != nil {
		return err
	}
	switch *o.Op {
	case "add", "move", "copy":
		return in.add(key, value)
	case "remove":
		return in.remove(key)
	case "replace":
		return in.set(key, value)
	case "test":
		v, err := in.get(key)
		if err == nil && !v.equal(value) {
			err = errDoesNotApply
		}
		return err
	}
	return errDoesNotApply
}

// find returns the node that contains the value of a pointer, and the value's name in it. It ignores the text before
// the first slash.
func (n *node) find(pointer string) (*node, string, error) {
	names := strings.Split(pointer, "/")
	for i, name := range names {
		names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	if len(names) < 2 {
		return nil, "", errDoesNotApply
	}
	last := len(names) - 1
	for _, name := range names[1:last] {
		v, err := n.get(name)
		if err != nil || v == nil || v.text != "" {
			return nil, "", errDoesNotApply
		}
		n = v
	}
	return n, names[last], nil
}

// index returns the index of an item. A negative one counts from the end.
func (n *node) index(key string, length int) (int, error) {
	i, err := strconv.Atoi(key)
	if i < 0 {
		i += length
	}
	if err != nil || i < 0 || i >= length {
		return 0, errDoesNotApply
	}
	return i, nil
}

func (n *node) get(key string) (*node, error) {
	if !n.list {
		return n.members[key], nil
	}
	i, err := n.index(key, len(n.items))
	if err != nil {
		return nil, err
	}
	return n.items[i], nil
}

func (n *node) set(key string, v *node) error {
	if !n.list {
		n.members[key] = v
		return nil
	}
	i, err := n.index(key, len(n.items))
	if err == nil {
		n.items[i] = v
	}
	return err
}

func (n *node) add(key string, v *node) error {
	switch {
	case !n.list:
		n.members[key] = v
		return nil
	case key == "-":
		n.items = append(n.items, v)
		return nil
	}
	i, err := n.index(key, len(n.items)+1)
	if err == nil {
		n.items = slices.Insert(n.items, i, v)
	}
	return err
}

func (n *node) remove(key string) error {
	if !n.list {
		if _, found := n.members[key]; !found {
			return errDoesNotApply
		}
		delete(n.members, key)
		return nil
	}
	i, err := n.index(key, len(n.items))
	if err == nil {
		n.items = slices.Delete(n.items, i, i+1)
	}
	return err
}

func (n *node) equal(o *node) bool {
	if n == nil || o == nil {
		return n == o
	}
	return n.text == o.text && n.list == o.list && maps.EqualFunc(n.members, o.members, (*node).equal) &&
		slices.EqualFunc(n.items, o.items, (*node).equal)
}

// parseNode reads a document that is known to be JSON. An empty document is null.
func parseNode(doc []byte) *node {
	if len(doc) == 0 {
		return nil
	}
	r := nodeReader{json.NewDecoder(bytes.NewReader(doc)), doc}
	r.UseNumber()
	return r.value()
}

// nodeReader reads each byte once, however deep the document is.
type nodeReader struct {
	*json.Decoder
	doc []byte
}

func (r nodeReader) value() *node {
	start := r.InputOffset()
	token, err := r.Token()
	if err != nil {
		panic(fmt.Sprintf("clienttest: decode what is known to be JSON: %v", err))
	}
	n := &node{}
	switch token {
	case nil:
		return nil
	case json.Delim('{'):
		n.members = make(map[string]*node)
		for r.More() {
			name, _ := r.Token()
			n.members[name.(string)] = r.value()
		}
		_, _ = r.Token()
	case json.Delim('['):
		n.list = true
		for r.More() {
			n.items = append(n.items, r.value())
		}
		_, _ = r.Token()
	default:
		n.text = string(bytes.TrimLeft(r.doc[start:r.InputOffset()], " \t\r\n,:")) // as written
	}
	return n
}

func (n *node) append(b []byte) []byte {
	switch {
	case n == nil:
		return append(b, "null"...)
	case n.text != "":
		return append(b, n.text...)
	case n.list:
		b = append(b, '[')
		for i, v := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.append(b)
		}
		return append(b, ']')
	}
	b = append(b, '{')
	for i, k := range slices.Sorted(maps.Keys(n.members)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsontree.AppendString(b, k), ':')
		b = n.members[k].append(b)
	}
	return append(b, '}')
}
