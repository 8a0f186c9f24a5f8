package overlay

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// This file is about lists in an overlay: lists whose elements have keys are merged, the two lists in metadata are
// united, and all others are replaced by the wanted list. Each element is looked at once, whatever it contains.

func (o *overlay) list(live, want *tree.Node, at *site) (changed bool) {
	if keys := o.keysAt(at, want); keys != nil {
		if o.lacksKey(live, keys) {
			return o.note(at)
		}
		if pairs, ok := o.pair(live.Open().Items, want.Open().Items, at, keys); ok {
			return o.keyed(live, want, at, keys, pairs)
		}
	}
	wanted := want.Open().Items
	had, added := o.withoutAdded(live.Open().Items, wanted, at)
	named := o.named(had, wanted, at)
	items := make([]tree.Node, len(wanted))
	moved := len(had) != len(wanted)
	for i := range wanted {
		w := &wanted[i]
		if j, ok := named[i]; ok {
			items[i], moved = had[j], moved || i != j
			changed = o.put(&items[i], w, at.element(w, nameKey)) || changed
			continue
		}
		if i < len(had) && o.hasItem(&had[i], w, at, false) {
			items[i] = had[i]
			continue
		}
		items[i], moved = o.said(w), true
	}
	if !moved && !changed {
		return false
	}
	if moved {
		o.note(at)
	}
	*live = tree.ListOf(append(items, added...))
	return true
}

// withoutAdded splits a list of live into the elements that are compared with want's, and those that the server has
// added. The latter stay, because the server would add them again or does not allow their removal.
func (o *overlay) withoutAdded(live, want []tree.Node, at *site) (compared, added []tree.Node) {
	isAdded := o.addedAt(at)
	if isAdded == nil {
		return live, nil
	}
	for i := range live {
		if isAdded(i, &live[i], want) {
			added = append(added, live[i])
		} else {
			compared = append(compared, live[i])
		}
	}
	return compared, added
}

// addedAt returns a function that reports whether a server has added an element to the list at the place, and the
// element is not wanted. It returns nil if servers add no elements there. Servers add:
//   - the tolerations of a pod, which no update can remove;
//   - the taints of a node that Kubernetes itself sets to report its state;
//   - the second IP family and the second IP of a service, which a change of its ipFamilyPolicy removes.
func (o *overlay) addedAt(at *site) func(i int, live *tree.Node, want []tree.Node) bool {
	if at.up == nil || at.up.name != "spec" || at.up.up != nil || o.apiVersion != "" && o.apiVersion != "v1" {
		return nil
	}
	lacks := func(want []tree.Node, live *tree.Node, members ...string) bool {
		return !slices.ContainsFunc(want, func(n tree.Node) bool { return sameElement(live, &n, members) })
	}
	switch o.kind + " " + at.name {
	case "Pod tolerations":
		return func(_ int, live *tree.Node, want []tree.Node) bool {
			return lacks(want, live, "key", "operator", "value", "effect")
		}
	case "Node taints":
		return func(_ int, live *tree.Node, want []tree.Node) bool {
			key := text(live, "key")
			return (strings.HasPrefix(key, "node.kubernetes.io/") || strings.HasPrefix(key, "node.cloudprovider.kubernetes.io/")) && lacks(want, live, "key", "effect")
		}
	case "Service ipFamilies", "Service clusterIPs":
		return func(i int, live *tree.Node, want []tree.Node) bool {
			return i == 1 && len(want) == 1 && lacks(want, live)
		}
	}
	return nil
}

// sameElement reports whether the given members have the same texts in two elements or, if no members are given,
// whether the elements are the same. A toleration without an operator has the operator Equal.
func sameElement(a, b *tree.Node, members []string) bool {
	for _, name := range members {
		x, y := text(a, name), text(b, name)
		if name == "operator" {
			x, y = cmp.Or(x, "Equal"), cmp.Or(y, "Equal")
		}
		if x != y {
			return false
		}
	}
	return len(members) > 0 || tree.Same(a, b)
}

var nameKey = []string{"name"}

// named maps the index of each wanted element to that of live's element with the same name. It is for kinds whose lists
// are not known. The map is empty unless every element has a name and no two names are the same.
func (o *overlay) named(live, want []tree.Node, at *site) map[int]int {
	if o.isBuiltIn(at) {
		return nil
	}
	pairs, _ := o.pair(live, want, at, nameKey)
	named := make(map[int]int, len(pairs))
	for i, j := range pairs {
		if j >= 0 {
			named[i] = j
		}
	}
	return named
}

// pair returns, for each wanted element, the index of the element of live with the same keys, or -1. There are no
// pairs, and ok is false, if an element lacks a key, or if two elements of one list have the same keys.
func (o *overlay) pair(live, want []tree.Node, at *site, keys []string) (pairs []int, ok bool) {
	places := make(map[string]int, len(live))
	for j := range live {
		id, ok := o.identity(&live[j], at, keys)
		if _, twice := places[id]; twice || !ok {
			return nil, false
		}
		places[id] = j
	}
	pairs, used := make([]int, len(want)), make(map[string]bool, len(want))
	for i := range want {
		id, ok := o.identity(&want[i], at, keys)
		if used[id] || !ok {
			return nil, false
		}
		used[id], pairs[i] = true, -1
		if j, ok := places[id]; ok {
			pairs[i] = j
		}
	}
	return pairs, true
}

// identity returns a text that distinguishes an element of a list from the others. A missing key counts as its
// default.
func (o *overlay) identity(item *tree.Node, at *site, keys []string) (string, bool) {
	if item.Kind() != '{' {
		return "", false
	}
	var id strings.Builder
	for _, key := range keys {
		v, ok := item.Lookup(key)
		if !ok || v.Kind() == 'n' || v.Kind() == '"' && len(v.Scalar()) == 0 {
			value := o.defaultAt(at.element(item, keys).member(key))
			if value == "" {
				return "", false
			}
			id.WriteString(value)
		} else {
			id.Write(v.AppendSorted(nil))
		}
		id.WriteByte('/')
	}
	return id.String(), true
}

// keyed merges a list by its keys. An unwanted element keeps its place after the element that it follows in live. If
// isOwn is true for an unwanted element, keyed removes it.
func (o *overlay) keyed(live, want *tree.Node, at *site, keys []string, pairs []int) (changed bool) {
	had, wanted := live.Open().Items, want.Open().Items
	paired := make([]bool, len(had))
	for _, j := range pairs {
		if j >= 0 {
			paired[j] = true
		}
	}
	items, order := make([]tree.Node, 0, len(had)+len(wanted)), make([]int, 0, len(had)+len(wanted))
	keepFrom := func(j int) { // keeps the unwanted elements from j up to the next paired one
		for ; j < len(had) && !paired[j]; j++ {
			if place := at.element(&had[j], keys); o.isOwn(place) {
				changed = o.note(place)
				continue
			}
			items, order = append(items, had[j]), append(order, j)
		}
	}
	keepFrom(0)
	for i, j := range pairs {
		place := at.element(&wanted[i], keys)
		if j < 0 {
			changed = o.note(place)
			items, order = append(items, o.said(&wanted[i])), append(order, -1)
			continue
		}
		changed = o.put(&had[j], &wanted[i], place) || changed
		items, order = append(items, had[j]), append(order, j)
		keepFrom(j + 1)
	}
	last := -1
	for _, j := range order {
		if j >= 0 && j < last {
			changed = o.note(at)
			break
		}
		last = max(last, j)
	}
	if changed {
		*live = tree.ListOf(items)
	}
	return changed
}

// unite adds the elements that a list lacks. Two elements are the same if their values or their uids are equal. If
// want has an element twice, the last counts.
func (o *overlay) unite(live *tree.Node, want *tree.Branch, at *site) {
	list := live.Open()
	places := make(map[string]int, len(list.Items))
	for i := range list.Items {
		places[ownerOrValue(&list.Items[i])] = i
	}
	last := make(map[string]int, len(want.Items))
	for i := range want.Items {
		item := o.said(&want.Items[i])
		last[ownerOrValue(&item)] = i
	}
	for i := range want.Items {
		item := o.said(&want.Items[i])
		id := ownerOrValue(&item)
		if item.Kind() == 'n' || last[id] != i {
			continue
		}
		if j, ok := places[id]; ok {
			if item.Kind() == '{' {
				o.put(&list.Items[j], &want.Items[i], at.element(&want.Items[i], []string{"uid"}))
			}
			continue
		}
		places[id] = len(list.Items)
		list.Items = append(list.Items, item)
		o.note(at)
	}
}

// ownerOrValue returns a text that distinguishes an owner or a finalizer from the others. A value of another type,
// which no server accepts, is distinguished by its text.
func ownerOrValue(n *tree.Node) string {
	if uid := text(n, "uid"); uid != "" {
		return "uid " + uid
	}
	return string(n.AppendSorted(nil))
}

// has reports whether put would change nothing. If whole is set, live must also have no other values, except those
// that a server fills in.
func (o *overlay) has(live, want *tree.Node, at *site, whole bool) bool {
	if o.isUnsaid(want) {
		return !whole || live.Kind() == 'n'
	}
	if live.Kind() == 'n' {
		return !o.adds(want, at)
	}
	if o.isVague(live, want, at) {
		return false
	}
	kind := want.Kind()
	switch {
	case kind != live.Kind() && (kind == '{' || kind == '['):
		return kind == '[' && live.Kind() == '"' && o.alike(live, want, at)
	case kind == '{':
		if !whole && o.isWhole(live, want, at) {
			return !o.isPart(live, want, at) && o.hasMembers(live.Open(), want.Open(), at, true)
		}
		return o.hasMembers(live.Open(), want.Open(), at, whole)
	case kind == '[':
		return o.hasItems(live, want, at, whole)
	}
	return o.alike(live, want, at)
}

func (o *overlay) hasItems(live, want *tree.Node, at *site, whole bool) bool {
	had, wanted := live.Open().Items, want.Open().Items
	if keys := o.keysAt(at, want); keys != nil && !whole {
		if o.lacksKey(live, keys) {
			return false
		}
		if pairs, ok := o.pair(had, wanted, at, keys); ok {
			last := -1
			for i, j := range pairs {
				if j <= last || !o.has(&had[j], &wanted[i], at.element(&wanted[i], keys), false) {
					return false
				}
				last = j
			}
			return true
		}
	}
	if len(had) != len(wanted) {
		return false
	}
	for i := range wanted {
		if !o.hasItem(&had[i], &wanted[i], at, whole) {
			return false
		}
	}
	return true
}

// hasItem is has for an element of a list. A null or a zero is a value in a list, unlike in an object.
func (o *overlay) hasItem(live, want *tree.Node, list *site, whole bool) bool {
	if live.Kind() == 'n' || want.Kind() == 'n' {
		return live.Kind() == want.Kind()
	}
	return o.has(live, want, list.element(want, nil), whole)
}

func (o *overlay) hasMembers(live, want *tree.Branch, at *site, whole bool) bool {
	if len(o.excluded(live, want, at)) > 0 {
		return false
	}
	for i := range want.Members {
		m := &want.Members[i]
		if m.Gone || o.isUnsaid(&m.Value) {
			continue
		}
		at := at.member(string(m.Name))
		j := live.FindFrom(i, string(m.Name))
		if j < 0 && o.adds(&m.Value, at) || j >= 0 && !o.has(&live.Members[j].Value, &m.Value, at, whole) {
			return false
		}
	}
	if !whole {
		return true
	}
	for m := range live.Each {
		if i := want.Find(string(m.Name)); i >= 0 && !o.isUnsaid(&want.Members[i].Value) {
			continue
		}
		if !o.isNothing(&m.Value, at.member(string(m.Name))) {
			return false
		}
	}
	return true
}

// isNothing reports whether a value in an object that is replaced whole equals an absent value: the server has filled
// it in, or it is empty.
func (o *overlay) isNothing(live *tree.Node, at *site) bool {
	switch kind := live.Kind(); {
	case kind == 'n':
		return true
	case (kind == '{' || kind == '[') && live.IsZero():
		return o.isBuiltIn(at) || at.name == "matchLabels" || at.name == "matchExpressions"
	}
	return o.isDefaultValue(live, at)
}
