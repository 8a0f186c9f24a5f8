package strategic

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/internal/jsonlex"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// differ computes a strategic merge patch between two documents. It changes neither; the patch shares parts with new.
type differ struct {
	additions bool // include members that are new or have another value
	deletions bool // include members that are gone
	order     bool // include $setElementOrder

	theOld, theNew string // the names of the documents in errors
}

const (
	theOld = "the old document"
	theNew = "the new document"
)

// object returns the patch from old to new, empty if there is no difference. With retain it lists the members that
// stay.
func (d differ) object(old, new *tree.Node, s *Shape, retain bool, at *place) (*tree.Branch, error) {
	a, b, patch := old.Open(), new.Open(), &tree.Branch{}
	for i := range b.Members {
		m := &b.Members[i]
		if m.Gone {
			continue
		}
		j := a.FindFrom(i, string(m.Name))
		switch {
		case j >= 0 && tree.Unchanged(&a.Members[j].Value, &m.Value):
		case j >= 0:
			if err := d.member(patch, &a.Members[j].Value, m, s.member(m.Name), at.member(m.Name)); err != nil {
				return nil, err
			}
		case d.additions:
			patch.Add(tree.Member{Name: m.Name, Raw: m.Raw, Value: m.Value.Written()})
		}
	}
	more := false
	for i := range a.Members {
		m := &a.Members[i]
		if m.Gone || b.FindFrom(i, string(m.Name)) >= 0 {
			continue
		}
		more = more || m.Value.Kind() != 'n'
		if d.deletions {
			patch.Add(tree.Member{Name: m.Name, Raw: m.Raw, Value: tree.Absent()})
		}
	}
	if retain && (len(patch.Members) > 0 || more) {
		d.retain(patch, b)
	}
	return patch, nil
}

// retain adds to the patch the list of the members of the object that stay.
func (d differ) retain(patch, object *tree.Branch) {
	var kept []*tree.Member
	for m := range object.Each {
		if m.Value.Kind() != 'n' {
			kept = append(kept, m)
		}
	}
	if len(kept) == 0 {
		return
	}
	slices.SortFunc(kept, func(a, b *tree.Member) int { return bytes.Compare(a.Name, b.Name) })
	text := []byte{'['}
	for _, m := range kept {
		text = append(m.AppendName(text), ',')
	}
	text[len(text)-1] = ']'
	patch.Set(directiveRetain, tree.Literal(text))
}

func (d differ) member(patch *tree.Branch, old *tree.Node, new *tree.Member, f Field, at *place) error {
	switch kind := new.Value.Kind(); {
	case kind == '{' && old.Kind() == '{' && !f.Replace:
		change, err := d.object(old, &new.Value, f.Shape, f.Retain, at)
		if err == nil && len(change.Members) > 0 {
			patch.Add(tree.Member{Name: new.Name, Raw: new.Raw, Value: tree.Node{Branch: change}})
		}
		return err
	case kind == '[' && old.Kind() == '[' && f.Merge:
		return d.list(patch, old, new, f, at)
	}
	if d.additions && !tree.Alike(old, &new.Value) {
		patch.Add(tree.Member{Name: new.Name, Raw: new.Raw, Value: new.Value.Written()})
	}
	return nil
}

// list adds the change from old to new, which are merged lists, to the patch.
func (d differ) list(patch *tree.Branch, old *tree.Node, new *tree.Member, f Field, at *place) error {
	a, b := old.Open().Items, new.Value.Open().Items
	if len(a) == 0 && (len(b) == 0 || !d.additions) {
		return nil
	}
	if tree.Alike(old, &new.Value) {
		return nil
	}
	k, err := sameType(d.theOld, at, a)
	if err != nil {
		return err
	}
	if len(b) > 0 {
		k2, err := sameType(d.theNew, at, b)
		if err != nil {
			return err
		}
		if k != 0 && k2 != k {
			return at.fault(d.theNew, ErrMergedList, "its items have another type than in %s", d.theOld)
		}
		k = k2
	}
	if k == '{' && f.MergeKey == "" {
		return at.fault(d.theNew, ErrMergedList, "the schema has no merge key for this list of objects")
	}
	before, err := elements(d.theOld, a, f.MergeKey, at)
	if err != nil {
		return err
	}
	after, err := elements(d.theNew, b, f.MergeKey, at)
	if err != nil {
		return err
	}
	l := listDiff{differ: d, patch: patch, member: new, before: before, after: after}
	if k == '{' {
		return l.items(f, at)
	}
	l.scalars()
	return nil
}

// listDiff adds the change from one merged list to another to a patch.
type listDiff struct {
	differ
	patch         *tree.Branch
	member        *tree.Member
	before, after []element
}

func (l *listDiff) put(items tree.Node) {
	l.patch.Add(tree.Member{Name: l.member.Name, Raw: l.member.Raw, Value: items})
}

// direct adds a directive for the list.
func (l *listDiff) direct(kind string, items tree.Node) {
	l.patch.Set(kind+"/"+string(l.member.Name), items)
}

// moved reports whether the lists have different elements, or the same in another order.
func moved(before, after []element) bool {
	return !slices.EqualFunc(before, after, func(a, b element) bool { return bytes.Equal(a.key, b.key) })
}

// once returns the elements of a list, without those that have the key of an earlier one.
func once(list []element) []element {
	p := placesOf(list)
	out := make([]element, 0, len(list))
	for i := range list {
		if p.find(list[i].key) == i {
			out = append(out, list[i])
		}
	}
	return out
}

// scalars is for lists that are sets: when a server merges anything into such a list, it drops duplicates.
func (l *listDiff) scalars() {
	surplus := make(map[string]int) // how many more of each key old has than new
	for i := range l.before {
		surplus[string(l.before[i].key)]++
	}
	for i := range l.after {
		surplus[string(l.after[i].key)]--
	}
	had, has := once(l.before), once(l.after)
	var added, gone []*element
	were, left := placesOf(had), placesOf(has)
	for i := range has {
		// An element that occurs more often in old than in new is in the patch too. Otherwise the server would not
		// merge the list, and the surplus would stay.
		if e := &has[i]; l.additions && (!were.has(e.key) || surplus[string(e.key)] > 0) {
			added = append(added, e)
		}
	}
	for i := range had {
		if e := &had[i]; l.deletions && !left.has(e.key) {
			gone = append(gone, e)
		}
	}
	if len(added) > 0 {
		l.put(values(arrangeBy(added, &left)))
	}
	if len(gone) > 0 {
		l.direct(directiveDelete, values(byKey(gone)))
	}
	if l.order && len(had) > 0 && len(has) > 0 && (len(gone) > 0 || l.additions && (len(added) > 0 || moved(had, has))) {
		list := make([]*element, len(has))
		for i := range has {
			list[i] = &has[i]
		}
		l.direct(directiveOrder, values(list))
	}
}

// byKey sorts items as a server's own patches sort deletions.
func byKey(list []*element) []*element {
	slices.SortFunc(list, func(a, b *element) int { return bytes.Compare(a.text(), b.text()) })
	return list
}

func (l *listDiff) items(f Field, at *place) error {
	// Items with the same key are matched by their order. A patch cannot express that, so if anything changes, the list
	// is sent whole.
	ambiguous, after := twice(l.before) || twice(l.after), l.after
	if ambiguous {
		l.before, l.after = numbered(l.before), numbered(l.after)
		if after = l.after; moved(l.before, after) {
			after = together(after, f.MergeKey) // a server puts them in this order, whatever the order in the patch is
		}
	}
	were := placesOf(l.before)
	var changes []tree.Node
	for i := range l.after {
		e := &l.after[i]
		j := were.find(e.key)
		if j < 0 && l.additions {
			changes = append(changes, e.value.Written())
		}
		if j < 0 || tree.Unchanged(&l.before[j].value, &e.value) {
			continue
		}
		change, err := l.object(&l.before[j].value, &e.value, f.Shape.item(), f.Retain, at.item(e.from))
		if err != nil {
			return err
		}
		if len(change.Members) > 0 {
			id, _ := e.value.Lookup(f.MergeKey)
			change.Set(f.MergeKey, id)
			changes = append(changes, tree.Node{Branch: change})
		}
	}
	if l.deletions {
		left := placesOf(l.after)
		var gone []*element
		for i := range l.before {
			if e := &l.before[i]; !left.has(e.key) {
				gone = append(gone, e)
			}
		}
		for _, e := range byKey(gone) {
			changes = append(changes, tree.Literal(append(appendID(nil, &e.value, f.MergeKey), `,"$patch":"delete"}`...)))
		}
	}
	if ambiguous && len(changes) > 0 {
		whole := make([]tree.Node, 0, len(l.after)+1)
		for i := range l.after {
			whole = append(whole, l.after[i].value.Written())
		}
		l.put(tree.ListOf(append(whole, tree.Literal([]byte(`{"$patch":"replace"}`)))))
		return nil
	}
	if len(changes) > 0 {
		l.put(tree.ListOf(changes))
	}
	if l.order && len(l.before) > 0 && len(l.after) > 0 && (len(changes) > 0 || l.additions && moved(l.before, after)) {
		text := []byte{'['}
		for i := range l.after {
			text = append(appendID(text, &l.after[i].value, f.MergeKey), '}', ',')
		}
		text[len(text)-1] = ']'
		l.direct(directiveOrder, tree.Literal(text))
	}
	return nil
}

// appendID appends the start of an object, with the merge key of item and without the closing brace.
func appendID(dst []byte, item *tree.Node, mergeKey string) []byte {
	id, _ := item.Lookup(mergeKey)
	return append(append(jsonlex.AppendQuoted(append(dst, '{'), mergeKey), ':'), id.Text()...)
}

// numbered adds to each key how many items with the same key come before it.
func numbered(list []element) []element {
	out := slices.Clone(list)
	count := make(map[string]int)
	for i, e := range out {
		out[i].key = append(strconv.AppendInt(nil, int64(count[string(e.key)]), 10), ':')
		out[i].key = append(out[i].key, e.key...)
		count[string(e.key)]++
	}
	return out
}

// together returns a list with the items of one key next to each other, at the place of the first.
func together(list []element, mergeKey string) []element {
	out := slices.Clone(list)
	first := make(map[string]int)
	place := make([]int, len(list)) // by the item's former index
	for i := range out {
		key := idOf(&out[i].value, mergeKey)
		if _, ok := first[key]; !ok {
			first[key] = i
		}
		place[out[i].from] = first[key]
	}
	slices.SortStableFunc(out, func(a, b element) int { return place[a.from] - place[b.from] })
	return out
}
