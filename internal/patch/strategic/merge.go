package strategic

import (
	"slices"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// merger applies a strategic merge patch to a document, which it changes in place. With join it applies the patch to
// another patch instead; the result does what both do, and keeps directives and nulls. It does not change the patch
// that it applies.
type merger struct {
	join bool
}

const (
	thePatch    = "the patch"
	theDocument = "the document"
)

// object changes one object as patch says.
func (m merger) object(object, patch *tree.Node, s *Shape, at *place) error {
	switch patch.Word(directivePatch) {
	case "delete":
		*object = tree.Node{Branch: &tree.Branch{}}
		return nil
	case "replace":
		out := patch.Open().Copied()
		out.Remove(out.Find(directivePatch))
		*object = tree.Node{Branch: out}
		return refuseDirectives(thePatch, object, "the enclosing object is replaced whole", at)
	}
	doc, changes := object.Open(), patch.Open()
	if err := m.retain(doc, changes, at); err != nil {
		return err
	}
	var ordered map[string]bool
	for change := range changes.Each {
		if kind, of, _ := directive(change.Name); kind == directiveOrder {
			if ordered == nil {
				ordered = make(map[string]bool)
			}
			ordered[of] = true
			if err := m.ordered(doc, changes, change, of, s.member([]byte(of)), at); err != nil {
				return err
			}
		}
	}
	for change := range changes.Each {
		if isDirective(change.Name) || ordered[string(change.Name)] {
			continue
		}
		if err := m.member(doc, change, s.member(change.Name), at.member(change.Name)); err != nil {
			return err
		}
	}
	for change := range changes.Each {
		kind, of, _ := directive(change.Name)
		if kind != directiveDelete {
			continue
		}
		if m.join {
			doc.Put(change, change.Value)
		} else if err := remove(doc, of, change.Value.Open().Items, at.member(change.Name)); err != nil {
			return err
		}
	}
	return nil
}

// retain obeys $retainKeys: it removes the members that are not listed.
func (m merger) retain(doc, changes *tree.Branch, at *place) error {
	i := changes.Find(directiveRetain)
	if i < 0 {
		return nil
	}
	list := &changes.Members[i]
	if m.join {
		doc.Put(list, list.Value)
		return nil
	}
	retained := make(map[string]bool)
	for _, name := range list.Value.Open().Items {
		retained[string(name.Unquoted())] = true
	}
	for change := range changes.Each {
		if !isDirective(change.Name) && change.Value.Kind() != 'n' && !retained[string(change.Name)] {
			return at.member(change.Name).fault(thePatch, ErrRetainKeys, "the patch sets it, and $retainKeys beside it does not list it")
		}
	}
	for i := range doc.Members {
		if b := &doc.Members[i]; !b.Gone && !retained[string(b.Name)] {
			doc.Remove(i)
		}
	}
	return nil
}

// member changes one member of a document.
func (m merger) member(doc *tree.Branch, change *tree.Member, f Field, at *place) error {
	value, i := &change.Value, doc.Find(string(change.Name))
	none := tree.Absent()
	old := &none
	if i >= 0 {
		old = &doc.Members[i].Value
	}
	switch kind := value.Kind(); {
	case kind == 'n' && m.join:
		doc.Put(change, *value)
		return nil
	case kind == 'n':
		if i >= 0 {
			doc.Remove(i)
		}
		return nil
	case kind == '{' && old.Kind() == '{':
		if f.Replace && value.Word(directivePatch) != "replace" {
			*old = value.Written()
			return refuseDirectives(thePatch, value, "the object is replaced whole", at)
		}
		return m.object(old, value, f.Shape, at)
	case kind == '[':
		if order := directiveOrder + "/" + string(change.Name); m.join && replaces(value) && doc.Find(order) >= 0 {
			doc.Remove(doc.Find(order)) // the order was for a list that is not replaced
		}
		if old.Kind() == '[' {
			return m.list(old, value, f, at)
		}
	}
	if m.join {
		doc.Put(change, *value)
		return nil
	}
	if added, ok := stripped(value, false); ok {
		doc.Put(change, added)
	} else if i >= 0 {
		doc.Remove(i)
	}
	return nil
}

// list changes a list.
func (m merger) list(list, change *tree.Node, f Field, at *place) error {
	if !f.Merge {
		*list = change.Written()
		if m.join {
			return nil
		}
		return refuseDirectives(thePatch, change, "the list is replaced whole", at)
	}
	old, add := list.Open().Items, change.Open().Items
	if len(old) == 0 && len(add) == 0 {
		return nil
	}
	if m.join && (replaces(list) || replaces(change)) {
		if replaces(change) {
			*list = *change
		}
		return nil
	}
	k, err := sameType(theDocument, at, old)
	if err != nil {
		return err
	}
	if len(add) > 0 {
		k2, err := sameType(thePatch, at, add)
		if err != nil {
			return err
		}
		if k != 0 && k2 != k {
			return at.fault(thePatch, ErrMergedList, "its items have another type than those in the document")
		}
		k = k2
	}
	if k == '{' && f.MergeKey == "" {
		return at.fault(thePatch, ErrMergedList, "the schema has no merge key for this list of objects")
	}
	live, err := elements(theDocument, old, f.MergeKey, at)
	if err != nil {
		return err
	}
	changes, err := elements(thePatch, add, f.MergeKey, at)
	if err != nil {
		return err
	}
	if k == '{' {
		*list, err = m.items(live, changes, f.Shape.item(), at)
		return err
	}
	union := placesOf(nil)
	for _, e := range slices.Concat(live, changes) {
		if !union.has(e.key) {
			union.add(e)
		}
	}
	*list = arrange(union.list, changes, live)
	return nil
}

// items merges lists of objects.
func (m merger) items(live, changes []element, s *Shape, at *place) (tree.Node, error) {
	plain, gone := make([]element, 0, len(changes)), placesOf(nil)
	replaced := false
	for _, e := range changes {
		switch e.marked {
		case "delete":
			gone.add(e)
		case "replace":
			replaced = true
		default:
			plain = append(plain, e)
		}
	}
	if replaced {
		for i := range plain {
			e := &plain[i]
			if err := refuseDirectives(thePatch, &e.value, "the enclosing list is replaced whole", at.item(e.from)); err != nil {
				return tree.Node{}, err
			}
			e.value = e.value.Written()
		}
		return arrange(plain, nil, plain), nil
	}
	live = slices.DeleteFunc(live, func(e element) bool { return gone.has(e.key) })
	merged := placesOf(slices.Clip(live)) // only the keys of live are used from here on
	for i := range plain {
		e := &plain[i]
		j := merged.find(e.key)
		if j < 0 {
			added, err := m.newItem(e, at)
			if err != nil {
				return tree.Node{}, err
			}
			merged.add(added)
			continue
		}
		item := &merged.list[j]
		if err := m.object(&item.value, &e.value, s, at.item(e.from)); err != nil {
			return tree.Node{}, err
		}
		item.marked = item.value.Word(directivePatch)
	}
	return arrange(merged.list, plain, live), nil
}

// newItem returns an item that the list in the document does not have. A server adds the item as it is, and would also
// add the members that a $patch in it should delete. So newItem refuses a $patch in it.
func (m merger) newItem(e *element, at *place) (element, error) {
	added := *e
	if m.join {
		added.value = tree.Node{Branch: e.value.Open().Copied()}
		return added, nil
	}
	if err := refusePatch(&e.value, at.item(e.from)); err != nil {
		return added, err
	}
	added.value, _ = stripped(&e.value, true)
	return added, nil
}

// refusePatch returns an error for a $patch in a new item.
func refusePatch(v *tree.Node, at *place) error {
	if v.Branch == nil && !mayDirect(v.Text()) {
		return nil
	}
	switch v.Kind() {
	case '[':
		items := v.Open().Items
		for i := range items {
			if err := refusePatch(&items[i], at.item(i)); err != nil {
				return err
			}
		}
	case '{':
		if _, ok := v.Lookup(directivePatch); ok {
			return at.member([]byte(directivePatch)).fault(thePatch, ErrDirective, "no directive may stand here: the enclosing item is not in the document's list")
		}
		for m := range v.Open().Each {
			if err := refusePatch(&m.Value, at.member(m.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaces reports whether a list has the item {"$patch": "replace"}.
func replaces(list *tree.Node) bool {
	return slices.ContainsFunc(list.Open().Items, func(v tree.Node) bool { return v.Word(directivePatch) == "replace" })
}

// ordered obeys the $setElementOrder of a list, and merges the patch's own value for that list. of is the list's name.
func (m merger) ordered(doc, changes *tree.Branch, order *tree.Member, of string, f Field, at *place) error {
	orderAt, at := at.member(order.Name), at.member([]byte(of))
	if m.join {
		doc.Put(order, order.Value)
	}
	old, err := listOrNone(theDocument, doc, of, at)
	if err != nil {
		return err
	}
	add, err := listOrNone(thePatch, changes, of, at)
	if err != nil {
		return err
	}
	if add == nil && changes.Find(of) >= 0 {
		return at.fault(thePatch, ErrDirective, "it must be a list, as %s is beside it, not null", order.Name)
	}
	if m.join && (old != nil && replaces(old) || add != nil && replaces(add)) {
		doc.Remove(doc.Find(string(order.Name)))
	}
	words, err := elements(thePatch, order.Value.Open().Items, f.MergeKey, orderAt)
	if err != nil {
		return err
	}
	var live, change []element
	if add != nil {
		if change, err = elements(thePatch, add.Open().Items, f.MergeKey, at); err != nil {
			return err
		}
	}
	if err := matches(change, words, f.MergeKey, orderAt); err != nil {
		return err
	}
	isNothing := (old == nil || len(old.Open().Items) == 0) && (add == nil || len(add.Open().Items) == 0)
	var merged tree.Node
	switch {
	case old == nil && add == nil:
		return nil
	case add == nil:
		merged = *old
	case old == nil && m.join:
		merged = *add
	case old == nil:
		merged, _ = stripped(add, true)
	default:
		merged = *old
		if err := m.list(&merged, add, f, at); err != nil {
			return err
		}
	}
	if m.join && replaces(&merged) {
		doc.Set(of, merged)
		return nil
	}
	if isNothing && !m.join {
		return orderAt.fault(thePatch, ErrElementOrder, "a server refuses it if neither the document nor the patch has items in the list")
	}
	items := merged.Open().Items
	if _, err := sameType(theDocument, at, items); err != nil {
		return err
	}
	list, err := elements(theDocument, items, f.MergeKey, at)
	if err != nil {
		return err
	}
	if old != nil {
		if live, err = elements(theDocument, old.Open().Items, f.MergeKey, at); err != nil {
			return err
		}
	}
	doc.Set(of, arrange(list, words, takePlaces(live, change)))
	return nil
}

// takePlaces returns the live order that $setElementOrder uses. A server merges in the live list itself. So new items
// take the places that deleted ones leave, and count as items of the live list; only those beyond its end do not.
func takePlaces(live, change []element) []element {
	if slices.ContainsFunc(change, func(e element) bool { return e.marked == "replace" }) {
		return live
	}
	gone := placesOf(nil)
	for _, e := range change {
		if e.marked == "delete" {
			gone.add(e)
		}
	}
	left := placesOf(slices.DeleteFunc(slices.Clone(live), func(e element) bool { return gone.has(e.key) }))
	for _, e := range change {
		if e.marked == "" && len(left.list) < len(live) && !left.has(e.key) {
			left.add(e)
		}
	}
	return left.list
}

// listOrNone returns a member that must be a list; it returns nil if the member is absent or null.
func listOrNone(what string, b *tree.Branch, name string, at *place) (*tree.Node, error) {
	i := b.Find(name)
	if i < 0 || b.Members[i].Value.Kind() == 'n' {
		return nil, nil
	}
	v := &b.Members[i].Value
	if v.Kind() != '[' {
		return nil, at.fault(what, ErrDirective, "it must be a list, as the patch has %s for it, not %s", directiveOrder, typeName(v))
	}
	return v, nil
}

// matches returns an error unless the patch's items of a list are in its $setElementOrder, in the same order. If
// either is empty, they match. As on a server, a $patch item needs an item of the order list before it or after it.
func matches(change, order []element, mergeKey string, at *place) error {
	if len(change) == 0 || len(order) == 0 {
		return nil
	}
	left := change
	if mergeKey != "" {
		left = slices.DeleteFunc(slices.Clone(change), func(e element) bool { return e.marked == "delete" })
	}
	i, j := 0, 0
	for i < len(left) && j < len(order) {
		if left[i].marked != "" {
			i++
			continue
		}
		if string(left[i].key) == string(order[j].key) {
			i++
		}
		j++
	}
	if i < len(left) && j >= len(order) {
		return at.fault(thePatch, ErrElementOrder, "it must have the items that the patch has for that list, in the same order; item %d of the patch's list is out of order", left[i].from)
	}
	return nil
}

// remove obeys $deleteFromPrimitiveList. If the document has no list, there is nothing to remove.
func remove(doc *tree.Branch, of string, gone []tree.Node, at *place) error {
	i := doc.Find(of)
	if i < 0 || doc.Members[i].Value.Kind() != '[' {
		return nil
	}
	list := doc.Members[i].Value.Open().Items
	if len(list) == 0 || len(gone) == 0 {
		return nil
	}
	if k, err := sameType(theDocument, at, list); err != nil {
		return err
	} else if _, err := sameType(thePatch, at, list, gone); err != nil || !isScalar(k) {
		return at.fault(thePatch, ErrDirective, "it must have the type of the items of the list %q, which are scalars", of)
	}
	dead := placesOf(nil)
	for i := range gone {
		key, _ := scalarKey(&gone[i])
		dead.add(element{key: key})
	}
	doc.Members[i].Value = tree.ListOf(slices.DeleteFunc(slices.Clone(list), func(v tree.Node) bool {
		key, _ := scalarKey(&v)
		return dead.has(key)
	}))
	return nil
}
