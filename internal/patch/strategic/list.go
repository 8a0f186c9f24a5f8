package strategic

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/internal/jsonlex"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// typeName returns the name of a value's JSON type.
func typeName(v *tree.Node) string {
	switch v.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '0':
		return "a number"
	case '"':
		return "a string"
	case '[':
		return "a list"
	}
	return "an object"
}

func isScalar(kind byte) bool { return kind != 'n' && kind != '[' && kind != '{' }

// scalarKey returns a text that is equal for equal scalars: the content of a string after a quote, true or false, or a
// number. The numbers 1, 1.0 and 1e0 have the same text, and whole numbers within int64 keep every digit.
func scalarKey(v *tree.Node) (key []byte, ok bool) {
	switch v.Kind() {
	case '"':
		if raw := v.Text(); jsonlex.IsPlain(raw) {
			return raw[:len(raw)-1], true
		}
		return append([]byte{'"'}, v.Unquoted()...), true
	case '0':
		return numberKey(v.Text()), true
	case 't', 'f':
		return v.Text(), true
	}
	return nil, false
}

func numberKey(text []byte) []byte {
	whole := !bytes.ContainsAny(text, ".eE")
	if whole && len(text) < 19 && text[0] != '-' {
		return text
	}
	if i, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return strconv.AppendInt(nil, i, 10)
	}
	if f, err := strconv.ParseFloat(string(text), 64); err == nil && !whole {
		return strconv.AppendFloat(nil, f, 'g', -1, 64)
	}
	return text
}

// element is an item of a merged list, with the key that distinguishes it.
type element struct {
	key    []byte
	value  tree.Node
	from   int    // its index in the list
	marked string // its $patch directive, or ""
}

// text returns the key as it is sorted.
func (e *element) text() []byte { return bytes.TrimPrefix(e.key, []byte{'"'}) }

// elements returns the items of a list with their keys. The items are objects with the merge key, or scalars if the
// key is empty. Only {"$patch": "replace"} needs no key.
func elements(what string, list []tree.Node, mergeKey string, at *place) ([]element, error) {
	out := make([]element, len(list))
	for i := range list {
		e := element{value: list[i], from: i}
		id := e.value
		if mergeKey != "" {
			if id.Kind() != '{' {
				return nil, at.item(i).fault(what, ErrMergedList, "it must be an object with %q, not %s", mergeKey, typeName(&id))
			}
			if e.marked = id.Word(directivePatch); e.marked == "replace" {
				out[i] = e
				continue
			}
			var ok bool
			if id, ok = id.Lookup(mergeKey); !ok || id.Kind() == 'n' {
				return nil, at.item(i).fault(what, ErrMergeKey, "the item has no %q, which tells the items of this list apart", mergeKey)
			}
		}
		var ok bool
		if e.key, ok = scalarKey(&id); !ok {
			if mergeKey != "" {
				return nil, at.item(i).member([]byte(mergeKey)).fault(what, ErrMergeKey, "a merge key must be a scalar, not %s", typeName(&id))
			}
			return nil, at.item(i).fault(what, ErrMergedList, "it must be a scalar, not %s", typeName(&id))
		}
		out[i] = e
	}
	return out, nil
}

// values makes a list of elements.
func values(list []*element) tree.Node {
	out := make([]tree.Node, len(list))
	for i, e := range list {
		out[i] = e.value
	}
	return tree.ListOf(out)
}

// places is a list of elements that are found by their keys.
type places struct {
	list []element
	by   map[string]int // the first index of each key; nil while the list is short
}

// fewElements is the maximal length of a list that is searched for a key from end to end.
const fewElements = 16

func placesOf(list []element) places {
	p := places{list: list}
	p.locate(0)
	return p
}

// locate indexes the elements of a long list, from the position from to the end.
func (p *places) locate(from int) {
	if len(p.list) <= fewElements {
		return
	}
	if p.by == nil {
		p.by, from = make(map[string]int, len(p.list)), 0
	}
	for i := from; i < len(p.list); i++ {
		if _, ok := p.by[string(p.list[i].key)]; !ok {
			p.by[string(p.list[i].key)] = i
		}
	}
}

// find returns the first index of a key, or -1.
func (p *places) find(key []byte) int {
	if p.by != nil {
		if i, ok := p.by[string(key)]; ok {
			return i
		}
		return -1
	}
	for i := range p.list {
		if bytes.Equal(p.list[i].key, key) {
			return i
		}
	}
	return -1
}

func (p *places) has(key []byte) bool { return p.find(key) >= 0 }

func (p *places) add(e element) {
	p.list = append(p.list, e)
	p.locate(len(p.list) - 1)
}

// twice reports whether two items have the same key.
func twice(list []element) bool {
	p := placesOf(list)
	for i := range list {
		if p.find(list[i].key) != i {
			return true
		}
	}
	return false
}

// sameType returns the kind of all items of the lists, which must be scalars or objects. It returns the kind of true
// for booleans, and 0 if there are no items.
func sameType(what string, at *place, lists ...[]tree.Node) (kind byte, err error) {
	for _, list := range lists {
		for i := range list {
			k := list[i].Kind()
			if k == 'f' {
				k = 't'
			}
			if k == 'n' || k == '[' {
				return k, at.item(i).fault(what, ErrMergedList, "%s cannot be merged with other items", typeName(&list[i]))
			}
			if kind != 0 && k != kind {
				return k, at.item(i).fault(what, ErrMergedList, "the items of a merged list must all be of one type")
			}
			kind = k
		}
	}
	return kind, nil
}

// arrange puts a merged list into a server's order. The items that order names come in its order, and the others keep
// their order in the live list. Between an item that order names and one that it does not name, the order of the live
// list decides.
func arrange(list, order, live []element) tree.Node {
	ordered, lived := placesOf(order), placesOf(live)
	room := make([]*element, 2*len(list))
	named, rest := room[:0:len(list)], room[len(list):len(list)]
	for i := range list {
		if e := &list[i]; ordered.has(e.key) {
			named = append(named, e)
		} else {
			rest = append(rest, e)
		}
	}
	named, rest = arrangeBy(named, &ordered), arrangeBy(rest, &lived)
	out := make([]tree.Node, 0, len(list))
	for len(named) > 0 && len(rest) > 0 {
		a, b := lived.find(rest[0].key), lived.find(named[0].key)
		if a >= 0 && a < b {
			out, rest = append(out, rest[0].value), rest[1:]
		} else {
			out, named = append(out, named[0].value), named[1:]
		}
	}
	for _, e := range slices.Concat(named, rest) {
		out = append(out, e.value)
	}
	return tree.ListOf(out)
}

// arrangeBy sorts a list by the place of its keys. Items to delete go last. An item without a place goes before the
// item to its left: this is not a consistent order, but servers do the same.
func arrangeBy(list []*element, by *places) []*element {
	var last []*element
	list = slices.DeleteFunc(list, func(e *element) bool {
		if e.marked != "delete" {
			return false
		}
		last = append(last, e)
		return true
	})
	slices.SortStableFunc(list, func(x, y *element) int {
		a, b := by.find(x.key), by.find(y.key)
		if a >= 0 && b >= 0 {
			return a - b
		}
		return -1
	})
	return append(list, last...)
}
