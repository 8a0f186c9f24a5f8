package patch

import (
	"maps"
	"slices"
)

// merger applies a strategic merge patch to a document, which it changes in place. With join it applies it to another patch
// instead, and the result is a patch that does what both do: then directives and nulls are kept. It leaves the patch alone.
type merger struct {
	join bool
}

const (
	thePatch    = "the patch"
	theDocument = "the document"
)

func (m merger) object(doc, patch map[string]any, s *shape, at *place) (map[string]any, error) {
	switch patch[directivePatch] {
	case "delete":
		return map[string]any{}, nil
	case "replace":
		out := maps.Clone(patch)
		delete(out, directivePatch)
		return out, refuseDirectives(thePatch, out, "the object around it replaces the whole one", at)
	}
	if err := m.retain(doc, patch, at); err != nil {
		return nil, err
	}
	members := names(patch)
	var ordered map[string]bool
	for _, name := range members {
		if kind, of, _ := directive(name); kind == directiveOrder {
			if ordered == nil {
				ordered = make(map[string]bool)
			}
			ordered[of] = true
			if err := m.ordered(doc, patch, of, s.member(of), at); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range members {
		if _, _, ok := directive(name); ok || ordered[name] {
			continue
		}
		if err := m.member(doc, name, patch[name], s.member(name), at.member(name)); err != nil {
			return nil, err
		}
	}
	for _, name := range members {
		kind, of, _ := directive(name)
		if kind != directiveDelete {
			continue
		}
		if m.join {
			doc[name] = patch[name]
		} else if err := remove(doc, of, patch[name].([]any), at.member(name)); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// retain obeys $retainKeys: the members that it does not list go.
func (m merger) retain(doc, patch map[string]any, at *place) error {
	list, ok := patch[directiveRetain].([]any)
	if !ok {
		return nil
	}
	if m.join {
		doc[directiveRetain] = list
		return nil
	}
	retained := make(map[string]bool, len(list))
	for _, name := range list {
		retained[name.(string)] = true
	}
	for _, name := range names(patch) {
		if _, _, ok := directive(name); !ok && patch[name] != nil && !retained[name] {
			return at.member(name).fault(thePatch, ErrRetainKeys, "the patch sets it, and $retainKeys beside it does not list it")
		}
	}
	for name := range doc {
		if !retained[name] {
			delete(doc, name)
		}
	}
	return nil
}

// member changes one member of a document.
func (m merger) member(doc map[string]any, name string, value any, f field, at *place) error {
	if value == nil {
		delete(doc, name)
		if m.join {
			doc[name] = nil
		}
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		if old, ok := doc[name].(map[string]any); ok {
			if f.replace && value[directivePatch] != "replace" {
				doc[name] = value
				return refuseDirectives(thePatch, value, "the object is replaced whole", at)
			}
			merged, err := m.object(old, value, f.shape, at)
			doc[name] = merged
			return err
		}
	case []any:
		if m.join && replaces(value) {
			delete(doc, directiveOrder+"/"+name) // it was for a list that is not replaced
		}
		if old, ok := doc[name].([]any); ok {
			merged, err := m.list(old, value, f, at)
			doc[name] = merged
			return err
		}
	}
	if m.join {
		doc[name] = value
		return nil
	}
	added, ok := stripDirectives(value)
	if !ok {
		delete(doc, name)
		return nil
	}
	dropNulls(added)
	doc[name] = added
	return nil
}

// list returns what a list becomes.
func (m merger) list(old, add []any, f field, at *place) ([]any, error) {
	if !f.merge {
		if m.join {
			return add, nil
		}
		return add, refuseDirectives(thePatch, add, "the list is replaced whole", at)
	}
	if len(old) == 0 && len(add) == 0 {
		return old, nil
	}
	if m.join && (replaces(old) || replaces(add)) {
		if replaces(add) {
			return add, nil
		}
		return old, nil
	}
	k, err := sameType(theDocument, at, old)
	if err != nil {
		return nil, err
	}
	if len(add) > 0 {
		k2, err := sameType(thePatch, at, add)
		if err != nil {
			return nil, err
		}
		if k != kindNone && k2 != k {
			return nil, at.fault(thePatch, ErrMergedList, "its items are not of the type of the list's in the document")
		}
		k = k2
	}
	if k == kindObject && f.mergeKey == "" {
		return nil, at.fault(thePatch, ErrMergedList, "the schema has no merge key for this list of objects")
	}
	live, err := elements(theDocument, old, f.mergeKey, at)
	if err != nil {
		return nil, err
	}
	change, err := elements(thePatch, add, f.mergeKey, at)
	if err != nil {
		return nil, err
	}
	if k != kindObject {
		known := make(map[string]bool, len(live)+len(change))
		var union []element
		for _, e := range slices.Concat(live, change) {
			if !known[e.key] {
				known[e.key] = true
				union = append(union, e)
			}
		}
		return values(arrange(union, change, live)), nil
	}
	return m.items(live, change, f.shape.item(), at)
}

// items merges lists of objects.
func (m merger) items(live, change []element, s *shape, at *place) ([]any, error) {
	var plain []element
	gone := make(map[string]bool)
	replaced := false
	for _, e := range change {
		switch e.marked() {
		case "delete":
			gone[e.key] = true
		case "replace":
			replaced = true
		default:
			plain = append(plain, e)
		}
	}
	if replaced {
		for _, e := range plain {
			if err := refuseDirectives(thePatch, e.value, "the list around it replaces the whole one", at.item(e.from)); err != nil {
				return nil, err
			}
		}
		return values(arrange(plain, nil, plain)), nil
	}
	live = slices.DeleteFunc(live, func(e element) bool { return gone[e.key] })
	merged := slices.Clone(live)
	where := places(merged)
	for _, e := range plain {
		i, ok := where[e.key]
		if !ok {
			added, err := m.newItem(e, at)
			if err != nil {
				return nil, err
			}
			where[e.key] = len(merged)
			merged = append(merged, added)
			continue
		}
		object, err := m.object(merged[i].value.(map[string]any), e.value.(map[string]any), s, at.item(e.from))
		if err != nil {
			return nil, err
		}
		merged[i].value = object
	}
	return values(arrange(merged, plain, live)), nil
}

// newItem returns an item that the list in the document does not have. A server takes it as it stands: what a $patch in it
// should delete it would add.
func (m merger) newItem(e element, at *place) (element, error) {
	if m.join {
		e.value = maps.Clone(e.value.(map[string]any))
		return e, nil
	}
	if directs(e.value) {
		if err := refusePatch(e.value, at.item(e.from)); err != nil {
			return e, err
		}
		e.value, _ = stripDirectives(e.value)
	}
	return e, nil
}

// refusePatch refuses $patch in an item that is new.
func refusePatch(v any, at *place) error {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if err := refusePatch(item, at.item(i)); err != nil {
				return err
			}
		}
	case map[string]any:
		if _, ok := v[directivePatch]; ok {
			return at.member(directivePatch).fault(thePatch, ErrDirective, "no directive may stand here: the item around it is not in the document's list")
		}
		for _, name := range names(v) {
			if err := refusePatch(v[name], at.member(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaces tells whether a list has the item {"$patch": "replace"}.
func replaces(list []any) bool {
	return slices.ContainsFunc(list, func(v any) bool { return element{value: v}.marked() == "replace" })
}

// ordered obeys $setElementOrder of the list named of, together with what the patch has for that list.
func (m merger) ordered(doc, patch map[string]any, of string, f field, at *place) error {
	directive := directiveOrder + "/" + of
	orderAt, at := at.member(directive), at.member(of)
	words := patch[directive].([]any)
	if m.join {
		doc[directive] = words
	}
	old, err := listOrNone(theDocument, doc[of], at)
	if err != nil {
		return err
	}
	add, err := listOrNone(thePatch, patch[of], at)
	if err != nil {
		return err
	}
	if _, ok := patch[of]; ok && add == nil {
		return at.fault(thePatch, ErrDirective, "it must be a list, as %s is beside it, not null", directive)
	}
	if m.join && (replaces(old) || replaces(add)) {
		delete(doc, directive)
	}
	order, err := elements(thePatch, words, f.mergeKey, orderAt)
	if err != nil {
		return err
	}
	change, err := elements(thePatch, add, f.mergeKey, at)
	if err != nil {
		return err
	}
	if err := matches(change, order, f.mergeKey, orderAt); err != nil {
		return err
	}
	var merged []any
	switch {
	case old == nil && add == nil:
		return nil
	case add == nil:
		merged = old
	case old == nil && m.join:
		merged = add
	case old == nil:
		added, _ := stripDirectives(add)
		merged = added.([]any)
	default:
		if merged, err = m.list(old, add, f, at); err != nil {
			return err
		}
	}
	if m.join && replaces(merged) {
		doc[of] = merged
		return nil
	}
	if len(old) == 0 && len(add) == 0 && !m.join {
		return orderAt.fault(thePatch, ErrElementOrder, "a server refuses it where the list has no items, neither in the document nor in the patch")
	}
	if _, err := sameType(theDocument, at, merged); err != nil {
		return err
	}
	list, err := elements(theDocument, merged, f.mergeKey, at)
	if err != nil {
		return err
	}
	live, err := elements(theDocument, old, f.mergeKey, at)
	if err != nil {
		return err
	}
	doc[of] = values(arrange(list, order, takePlaces(live, change)))
	return nil
}

// takePlaces returns the live order that $setElementOrder goes by. On a server a merge happens in the live list itself, so
// that new items take the places that deleted ones leave, and count as items of the live list; only those past its end do not.
func takePlaces(live, change []element) []element {
	if slices.ContainsFunc(change, func(e element) bool { return e.marked() == "replace" }) {
		return live
	}
	gone, known := make(map[string]bool), places(live)
	for _, e := range change {
		if e.marked() == "delete" {
			gone[e.key] = true
			delete(known, e.key)
		}
	}
	out := slices.DeleteFunc(slices.Clone(live), func(e element) bool { return gone[e.key] })
	for _, e := range change {
		if _, ok := known[e.key]; !ok && e.marked() == "" && len(out) < len(live) {
			known[e.key] = len(out)
			out = append(out, e)
		}
	}
	return out
}

// listOrNone returns a list, which is nil only if there is nothing or null.
func listOrNone(what string, v any, at *place) ([]any, error) {
	list, ok := v.([]any)
	if v != nil && !ok {
		return nil, at.fault(what, ErrDirective, "it must be a list, as the patch has %s for it, not %s", directiveOrder, typeName(v))
	}
	if ok && list == nil {
		list = []any{}
	}
	return list, nil
}

// matches tells whether the items that a patch has for a list stand in its $setElementOrder, in the same order. An empty one
// of either says nothing. As on a server, a $patch item needs an item of the order list before it or after it.
func matches(change, order []element, mergeKey string, at *place) error {
	if len(change) == 0 || len(order) == 0 {
		return nil
	}
	left := change
	if mergeKey != "" {
		left = slices.DeleteFunc(slices.Clone(change), func(e element) bool { return e.marked() == "delete" })
	}
	i, j := 0, 0
	for i < len(left) && j < len(order) {
		if left[i].marked() != "" {
			i++
			continue
		}
		if left[i].key == order[j].key {
			i++
		}
		j++
	}
	if i < len(left) && j >= len(order) {
		return at.fault(thePatch, ErrElementOrder, "it must have the items that the patch has for that list, in the same order; item %d of the patch's list is not where it should be", left[i].from)
	}
	return nil
}

// remove obeys $deleteFromPrimitiveList. Where the document has no list there is nothing to remove.
func remove(doc map[string]any, of string, gone []any, at *place) error {
	list, ok := doc[of].([]any)
	if !ok || len(list) == 0 || len(gone) == 0 {
		return nil
	}
	if k, err := sameType(theDocument, at, list); err != nil {
		return err
	} else if _, err := sameType(thePatch, at, list, gone); err != nil || !k.scalar() {
		return at.fault(thePatch, ErrDirective, "it must have the type of the items of the list %q, which are scalars", of)
	}
	out := make([]any, 0, len(list))
	dead := make(map[string]bool, len(gone))
	for _, v := range gone {
		key, _ := scalarKey(v)
		dead[key] = true
	}
	for _, v := range list {
		if key, _ := scalarKey(v); !dead[key] {
			out = append(out, v)
		}
	}
	doc[of] = out
	return nil
}
