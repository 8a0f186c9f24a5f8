package strategic

import (
	"strconv"

	"github.com/bowline-go/bowline/internal/patch/carry"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// This file is about lists in which several items have one merge key, such as the ports 53 of TCP and of UDP. A patch
// by key cannot distinguish them, so such a list is merged here, and sent whole. Otherwise the items that others have
// added would be lost.

// twins does a three-way merge of such lists.
type twins struct {
	pairer *carry.Pairer
}

// objects returns documents to compute the patch from, instead of original and modified. If a list has several items
// with one key in any of the three, modified gets the merged list, and original the live one. changed is false if
// there is no such list. objects does not report errors in lists: the code that computes the patch finds them.
func (t twins) objects(was, want, live *tree.Node, s *Shape) (original, modified tree.Node, changed bool) {
	original, modified = *was, *want
	members := want.Open().Members
	for i := range members {
		m := &members[i]
		kind := m.Value.Kind()
		if m.Gone || kind != '{' && kind != '[' {
			continue
		}
		at := live.Open().FindFrom(i, string(m.Name))
		if at < 0 || live.Branch.Members[at].Value.Kind() != kind {
			continue
		}
		there, f := live.Branch.Members[at].Value, s.member(m.Name)
		had := tree.Literal([]byte{kind, kind + 2}) // an empty object or list
		if at := was.Open().FindFrom(i, string(m.Name)); at >= 0 && was.Branch.Members[at].Value.Kind() == kind {
			had = was.Branch.Members[at].Value
		}
		var o, w tree.Node
		isChanged := false
		switch {
		case kind == '{' && !f.Replace:
			o, w, isChanged = t.objects(&had, &m.Value, &there, f.Shape)
		case kind == '[' && f.Merge && f.MergeKey != "":
			o, w, isChanged = t.lists(&had, &m.Value, &there, f)
		}
		if !isChanged {
			continue
		}
		if !changed {
			original, modified, changed = tree.Node{Branch: was.Open().Copied()}, tree.Node{Branch: want.Open().Copied()}, true
		}
		original.Branch.Put(m, o)
		modified.Branch.Put(m, w)
	}
	return original, modified, changed
}

func (t twins) lists(was, want, live *tree.Node, f Field) (original, modified tree.Node, changed bool) {
	var lists [3][]element
	ambiguous := false
	for i, list := range [...]*tree.Node{was, want, live} {
		items := list.Open().Items
		var err error
		if lists[i], err = elements("", items, f.MergeKey, nil); err != nil {
			return original, modified, false
		}
		ambiguous = ambiguous || twice(lists[i])
	}
	if ambiguous {
		merged, err := t.merge(lists[0], lists[1], lists[2], f)
		return live.Written(), merged, err == nil
	}
	had, there := placesOf(lists[0]), placesOf(lists[2])
	before, after := values(pointers(lists[0])), values(pointers(lists[1]))
	for i := range lists[1] {
		e := &lists[1][i]
		k := there.find(e.key)
		if k < 0 {
			continue
		}
		j := had.find(e.key)
		item := tree.Literal(append(appendID(nil, &e.value, f.MergeKey), '}'))
		if j >= 0 {
			item = lists[0][j].value
		}
		o, w, isChanged := t.objects(&item, &e.value, &lists[2][k].value, f.Shape.item())
		if !isChanged {
			continue
		}
		changed = true
		after.Branch.Items[i] = w
		if j >= 0 {
			before.Branch.Items[j] = o
		} else {
			before.Branch.Items = append(before.Branch.Items, o)
		}
	}
	return before, after, changed
}

// merge returns the new list: the wanted items, each with the other members that it has in the live list, and the
// items that others have added to the live list.
func (t twins) merge(was, want, live []element, f Field) (tree.Node, error) {
	there := t.pair(live, want, f.MergeKey)
	had := t.pair(was, want, f.MergeKey)
	rest := except(live, there)
	lost := t.pair(rest, except(was, had), f.MergeKey) // the items that were configured, and no longer are
	left := except(rest, lost)
	var list, order, lived []element
	named := make([]string, len(live)) // for each live item, a unique key
	for j := range live {
		named[j] = "l" + strconv.Itoa(j)
	}
	for i := range want {
		e := element{key: []byte("w" + strconv.Itoa(i)), value: want[i].value}
		if j := there[i]; j >= 0 {
			named[j] = string(e.key)
			original := tree.Literal(append(appendID(nil, &e.value, f.MergeKey), '}'))
			if had[i] >= 0 {
				original = was[had[i]].value
			}
			var err error
			if e.value, err = merged(&original, &e.value, &live[j].value, f.Shape.item()); err != nil {
				return tree.Node{}, err
			}
		}
		list, order = append(list, e), append(order, e)
	}
	for _, e := range left {
		list = append(list, element{key: []byte(named[e.from]), value: e.value})
	}
	for j := range live {
		lived = append(lived, element{key: []byte(named[j])})
	}
	out := arrange(list, order, lived)
	items := make([]tree.Node, len(live))
	for j := range live {
		items[j] = live[j].value
	}
	if isAsLive := tree.ListOf(items); tree.Alike(&out, &isAsLive) {
		return out, nil
	}
	grouped, err := elements("", out.Branch.Items, f.MergeKey, nil)
	return values(pointers(together(grouped, f.MergeKey))), err
}

// merged returns a live item with the change from original to modified.
func merged(original, modified, live *tree.Node, s *Shape) (tree.Node, error) {
	change, _, err := ThreeWay(original.Text(), modified.Text(), live.Text(), s, false)
	if err != nil {
		return tree.Node{}, err
	}
	text, err := Apply(live.Text(), change, s)
	if err != nil {
		return tree.Node{}, err
	}
	return tree.Literal(text), nil
}

// pair returns, for each element of after, the index of the same element of before, or -1. If several elements of
// before have its merge key, pair chooses the one that is alike, or else the one that has most in common with it.
func (t twins) pair(before, after []element, mergeKey string) []int {
	return t.pairer.ByKey(nodes(before), nodes(after), func(v *tree.Node) string { return idOf(v, mergeKey) })
}

// except returns the elements whose indices are not in from.
func except(list []element, from []int) []element {
	used := make([]bool, len(list))
	for _, j := range from {
		if j >= 0 {
			used[j] = true
		}
	}
	out := make([]element, 0, len(list))
	for j, e := range list {
		if !used[j] {
			out = append(out, e)
		}
	}
	return out
}

func pointers(list []element) []*element {
	out := make([]*element, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

func nodes(list []element) []tree.Node {
	out := make([]tree.Node, len(list))
	for i := range list {
		out[i] = list[i].value
	}
	return out
}
