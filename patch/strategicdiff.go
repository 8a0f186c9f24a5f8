package patch

import (
	"slices"
	"strconv"
	"strings"
)

// differ computes a strategic merge patch between two documents. It leaves both alone; the patch shares parts with new.
type differ struct {
	additions bool // what is new or has another value
	deletions bool // what is no longer there
	order     bool // $setElementOrder

	theOld, theNew string // what errors call the documents
}

const (
	theOld = "the old document"
	theNew = "the new document"
)

// object returns the patch from old to new, empty if there is none. With retain it says which members stay.
func (d differ) object(old, new map[string]any, s *shape, retain bool, at *place) (map[string]any, error) {
	patch := make(map[string]any)
	var kept []any
	for _, name := range names(new) {
		value := new[name]
		if retain && value != nil {
			kept = append(kept, name)
		}
		was, ok := old[name]
		if !ok {
			if d.additions {
				patch[name] = value
			}
			continue
		}
		if err := d.member(patch, name, was, value, s.member(name), at.member(name)); err != nil {
			return nil, err
		}
	}
	more := false
	for name, value := range old {
		if _, ok := new[name]; ok {
			continue
		}
		more = more || value != nil
		if d.deletions {
			patch[name] = nil
		}
	}
	if len(kept) > 0 && (len(patch) > 0 || more) {
		patch[directiveRetain] = kept
	}
	return patch, nil
}

func (d differ) member(patch map[string]any, name string, old, new any, f field, at *place) error {
	switch new := new.(type) {
	case map[string]any:
		if old, ok := old.(map[string]any); ok && !f.replace {
			change, err := d.object(old, new, f.shape, f.retain, at)
			if len(change) > 0 {
				patch[name] = change
			}
			return err
		}
	case []any:
		if old, ok := old.([]any); ok && f.merge {
			return d.list(patch, name, old, new, f, at)
		}
	}
	if d.additions && !equal(old, new) {
		patch[name] = new
	}
	return nil
}

// list puts into the patch what leads from old to new, which are merged lists.
func (d differ) list(patch map[string]any, name string, old, new []any, f field, at *place) error {
	if len(old) == 0 && (len(new) == 0 || !d.additions) {
		return nil
	}
	if equal(old, new) {
		return nil
	}
	k, err := sameType(d.theOld, at, old)
	if err != nil {
		return err
	}
	if len(new) > 0 {
		k2, err := sameType(d.theNew, at, new)
		if err != nil {
			return err
		}
		if k != kindNone && k2 != k {
			return at.fault(d.theNew, ErrMergedList, "its items are not of the type that they have in %s", d.theOld)
		}
		k = k2
	}
	if k == kindObject && f.mergeKey == "" {
		return at.fault(d.theNew, ErrMergedList, "the schema has no merge key for this list of objects")
	}
	before, err := elements(d.theOld, old, f.mergeKey, at)
	if err != nil {
		return err
	}
	after, err := elements(d.theNew, new, f.mergeKey, at)
	if err != nil {
		return err
	}
	if k == kindObject {
		return d.items(patch, name, before, after, f, at)
	}
	d.scalars(patch, name, before, after)
	return nil
}

func (d differ) scalars(patch map[string]any, name string, before, after []element) {
	count := make(map[string]int)
	for _, e := range before {
		count[e.key]++
	}
	var added, gone []element
	for _, e := range after {
		if count[e.key]--; count[e.key] < 0 && d.additions {
			added = append(added, e)
		}
	}
	left := places(after)
	for key, i := range places(before) {
		if _, ok := left[key]; !ok && d.deletions {
			gone = append(gone, before[i])
		}
	}
	if len(added) > 0 {
		patch[name] = values(arrangeBy(added, left))
	}
	if len(gone) > 0 {
		patch[directiveDelete+"/"+name] = values(byKey(gone))
	}
	moved := !slices.EqualFunc(before, after, func(a, b element) bool { return a.key == b.key })
	if d.order && len(before) > 0 && len(after) > 0 && (len(gone) > 0 || d.additions && moved) {
		patch[directiveOrder+"/"+name] = values(after)
	}
}

// byKey sorts items as a server's own patches have what they delete.
func byKey(list []element) []element {
	slices.SortFunc(list, func(a, b element) int { return strings.Compare(a.key[1:], b.key[1:]) })
	return list
}

func (d differ) items(patch map[string]any, name string, before, after []element, f field, at *place) error {
	// The items of one key are told apart by their order; a patch cannot do that, but the list may not need one.
	ambiguous := twice(before) || twice(after)
	if ambiguous {
		before, after = numbered(before), numbered(after)
	}
	were := places(before)
	var changes []any
	for _, e := range after {
		i, ok := were[e.key]
		if !ok {
			if d.additions {
				changes = append(changes, e.value)
			}
			continue
		}
		object := e.value.(map[string]any)
		change, err := d.object(before[i].value.(map[string]any), object, f.shape.item(), f.retain, at.item(e.from))
		if err != nil {
			return err
		}
		if len(change) > 0 {
			change[f.mergeKey] = object[f.mergeKey]
			changes = append(changes, change)
		}
	}
	if d.deletions {
		left := places(after)
		gone := slices.DeleteFunc(slices.Clone(before), func(e element) bool { _, ok := left[e.key]; return ok })
		for _, e := range byKey(gone) {
			id := e.value.(map[string]any)[f.mergeKey]
			changes = append(changes, map[string]any{f.mergeKey: id, directivePatch: "delete"})
		}
	}
	moved := !slices.EqualFunc(before, after, func(a, b element) bool { return a.key == b.key })
	if ambiguous && len(changes) > 0 {
		patch[name] = append(values(after), map[string]any{directivePatch: "replace"})
		return nil
	}
	if len(changes) > 0 {
		patch[name] = changes
	}
	if d.order && len(before) > 0 && len(after) > 0 && (len(changes) > 0 || d.additions && moved) {
		order := make([]any, len(after))
		for i, e := range after {
			order[i] = map[string]any{f.mergeKey: e.value.(map[string]any)[f.mergeKey]}
		}
		patch[directiveOrder+"/"+name] = order
	}
	return nil
}

// numbered tells the items of one key apart by how many were before them.
func numbered(list []element) []element {
	out := slices.Clone(list)
	count := make(map[string]int)
	for i, e := range out {
		out[i].key = strconv.Itoa(count[e.key]) + e.key // which starts with a letter
		count[e.key]++
	}
	return out
}
