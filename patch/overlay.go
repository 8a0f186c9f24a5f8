package patch

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// Overlay makes live have what want says, and returns the whole result and whether it differs from live. live is the object as
// the server has it, want is what a program wants of it; each is a json.RawMessage, or a value that is encoded once, as in a
// write. Whatever want does not say stays as it is in live: what the server has filled in, and what others have set. Where
// nothing is to be changed the result is live's value.
//
// What want says:
//   - A null says nothing. Objects are merged member by member, so that one without members over an object says nothing
//     either. Any other value is to be there.
//   - The zero value of a struct's field that is no pointer and has no omitempty is in want's JSON whether it is meant or not.
//     It says nothing where live has no such member; and over one, only a number and a boolean do.
//   - In the built-in kinds, where live has no such member, neither does the zero of one that the server leaves out while it is
//     zero, such as readOnly: false, nor a map without entries, such as nodeSelector.
//   - A list says which elements there are, and in which order; one without elements is the same as none. An element has of
//     live's what it does not say itself if it has the same name: its member "name", but of ports the number and protocol, of
//     volumeMounts and volumeDevices the path, and subjects have none. Without a name it is live's if it says nothing else, and
//     otherwise as want has it.
//   - Labels and annotations are merged as all objects are; and metadata.finalizers and metadata.ownerReferences, by uid, are
//     united with live's. So an overlay removes neither.
//   - Of members that exclude each other, those that live has go if want says another: the sources of a volume and of an
//     environment variable, the actions of a probe or hook, minAvailable and maxUnavailable, the backends and port of an Ingress,
//     the url and service of a webhook; and beside another type, the rollingUpdate of a strategy, the localhostProfile of a
//     seccomp or AppArmor profile, and the queuing of a priority level.
//   - What only a server sets in metadata, and status, say nothing.
//
// A server writes some values in a way of its own. These are no difference: quantities of resources (as in requests and
// limits, a resource quota, a volume's capacity) that are the same number, exactly; times that are the same moment, in members
// whose names end in Time or Timestamp; line breaks in the base64 of a Secret's data and of binaryData. The stringData of a
// Secret is compared with its data, and written there.
//
// It is an error, which is [ErrMalformed], if want says another apiVersion, kind, name, namespace or uid than live.
func Overlay(live, want any) (result json.RawMessage, changed bool, err error) {
	base, err := readObject("live", live)
	if err != nil {
		return nil, false, fmt.Errorf("patch.Overlay: %w", err)
	}
	wanted, err := readObject("want", want)
	if err != nil {
		return nil, false, fmt.Errorf("patch.Overlay: %w", err)
	}
	o := overlay{kind: text(base, "kind"), apiVersion: text(base, "apiVersion"), unsaid: zeroFields(want, wanted)}
	if err := checkSameObject(base, wanted); err != nil {
		return nil, false, fmt.Errorf("patch.Overlay: %w", err)
	}
	changed = o.object(base.open(), wanted.open())
	result, err = base.appendTo(nil, 0)
	if err != nil {
		return nil, false, fmt.Errorf("patch.Overlay: %w", err)
	}
	return result, changed, nil
}

// text returns what a member of an object says, if that is a string.
func text(object *node, name string) string {
	if object.kind() != '{' {
		return ""
	}
	b := object.open()
	if i := b.find(name); i >= 0 && b.members[i].value.kind() == '"' {
		v := b.members[i].value
		return string(v.from.string(v.at))
	}
	return ""
}

// checkSameObject returns an error if want says that it is another object than live.
func checkSameObject(live, want *node) error {
	compare := func(live, want *node, prefix string, names ...string) error {
		for _, name := range names {
			if is := text(want, name); is != "" && is != text(live, name) {
				return malformed("%s%s is %s in want and %s in live", prefix, name, quote(is), quote(text(live, name)))
			}
		}
		return nil
	}
	if err := compare(live, want, "", "apiVersion", "kind"); err != nil {
		return err
	}
	i, j := live.open().find("metadata"), want.open().find("metadata")
	if i < 0 || j < 0 {
		return nil
	}
	return compare(&live.open().members[i].value, &want.open().members[j].value, "metadata.", "name", "namespace", "uid")
}

// overlay is an Overlay that is being made.
type overlay struct {
	kind, apiVersion string
	unsaid           map[uint32]bool // values of want that are the zeros of fields; see zeroFields
}

// object puts the whole wanted object over live.
func (o *overlay) object(live, want *branch) (changed bool) {
	if o.is("Secret") {
		want = textAsData(want)
	}
	for i := range want.members {
		m := &want.members[i]
		if m.gone {
			continue
		}
		switch name := string(m.name); {
		case name == "status":
		case name == "metadata" && m.value.kind() == '{':
			changed = o.metadata(live, m) || changed
		default:
			changed = o.member(live, m, &site{name: name}) || changed
		}
	}
	return changed
}

// is reports whether the object is of that kind of the core group.
func (o *overlay) is(kind string) bool { return o.kind == kind && o.apiVersion == "v1" }

// serverOwned are the members of metadata that a write cannot change, or that are a precondition of it.
var serverOwned = map[string]bool{
	"name": true, "namespace": true, "uid": true, "resourceVersion": true, "generateName": true, "generation": true, "selfLink": true,
	"creationTimestamp": true, "deletionTimestamp": true, "deletionGracePeriodSeconds": true, "managedFields": true,
}

func (o *overlay) metadata(live *branch, want *member) (changed bool) {
	metadata := &branch{}
	if i := live.find("metadata"); i >= 0 && live.members[i].value.kind() == '{' {
		metadata = live.members[i].value.open()
	} else {
		defer func() {
			if changed {
				live.set("metadata", node{branch: metadata})
			}
		}()
	}
	wanted := want.value.open()
	for i := range wanted.members {
		m := &wanted.members[i]
		name := string(m.name)
		if m.gone || serverOwned[name] {
			continue
		}
		at := &site{name: name, up: &site{name: "metadata"}}
		j := metadata.find(name)
		united := name == "finalizers" || name == "ownerReferences"
		if united && j >= 0 && m.value.kind() == '[' && metadata.members[j].value.kind() == '[' {
			changed = o.unite(&metadata.members[j].value, m.value.open(), at) || changed
			continue
		}
		changed = o.member(metadata, m, at) || changed
	}
	return changed
}

// unite adds what a list lacks; an element is there if it is the same text, or has the same uid.
func (o *overlay) unite(live *node, want *branch, at *site) (changed bool) {
	list := live.open()
	places := make(map[string]int, len(list.items))
	for i := range list.items {
		places[ownerOrText(&list.items[i])] = i
	}
	for i := range want.items {
		item := &want.items[i]
		id := ownerOrText(item)
		if j, ok := places[id]; ok {
			changed = o.put(&list.items[j], item, at) || changed
			continue
		}
		if item.kind() == 'n' {
			continue
		}
		places[id] = len(list.items)
		list.items = append(list.items, said(item))
		changed = true
	}
	return changed
}

func ownerOrText(n *node) string {
	if uid := text(n, "uid"); uid != "" {
		return "uid " + uid
	}
	if n.kind() == '"' {
		return string(n.from.string(n.at))
	}
	return ""
}

// textAsData returns the wanted secret with its stringData in data, where the server puts it.
func textAsData(want *branch) *branch {
	i := want.find("stringData")
	if i < 0 || want.members[i].value.kind() != '{' {
		return want
	}
	data := &branch{}
	if j := want.find("data"); j >= 0 && want.members[j].value.kind() == '{' {
		data.members = append(data.members, want.members[j].value.open().members...)
	}
	for _, m := range want.members[i].value.open().members {
		if m.gone || m.value.kind() == 'n' {
			continue
		}
		if m.value.kind() == '"' {
			m.value = encodedNode(m.value.from.string(m.value.at))
		}
		data.set(string(m.name), m.value)
	}
	out := &branch{}
	for _, m := range want.members {
		if name := string(m.name); !m.gone && name != "stringData" && name != "data" {
			out.members = append(out.members, m)
		}
	}
	out.add(member{name: []byte("data"), value: node{branch: data}})
	return out
}

// encodedNode returns the text in base64, as a string of JSON.
func encodedNode(text []byte) node {
	quoted := append([]byte{'"'}, base64.StdEncoding.EncodeToString(text)...)
	quoted = append(quoted, '"')
	return made(quoted)
}

// member puts a member over that of live, if there is one. Its place is at.
func (o *overlay) member(live *branch, want *member, at *site) (changed bool) {
	i := live.find(string(want.name))
	if i < 0 {
		if !o.adds(&want.value, at) {
			return false
		}
		live.add(member{name: want.name, raw: want.raw, value: said(&want.value)})
		return true
	}
	return o.put(&live.members[i].value, &want.value, at)
}

// adds reports whether a value is to be there where live has none.
func (o *overlay) adds(want *node, at *site) bool {
	switch want.kind() {
	case 'n':
		return false
	case '[':
		return len(want.open().items) > 0
	case '{':
		if o.isMap(at) && want.open().len() == 0 {
			return false
		}
	}
	return !o.isUnsaid(want) && !o.isDropped(want, at)
}

func (o *overlay) isUnsaid(want *node) bool { return want.from != nil && o.unsaid[want.at] }

// put puts a value over live's at the same place.
func (o *overlay) put(live, want *node, at *site) (changed bool) {
	kind := want.kind()
	if live.kind() == 'n' {
		if changed = o.adds(want, at); changed {
			*live = said(want)
		}
		return changed
	}
	switch {
	case kind == 'n' || o.isUnsaid(want) && (kind == '"' || kind == '{'):
		return false
	case kind == '{' && live.kind() == '{':
		return o.members(live.open(), want.open(), at)
	case kind == '[' && live.kind() == '[':
		return o.list(live, want, at)
	case kind != '{' && kind != '[' && o.alike(live, want, at):
		return false
	}
	*live = said(want)
	return true
}

func (o *overlay) members(live, want *branch, at *site) (changed bool) {
	for _, i := range o.excluded(live, want, at) {
		live.remove(i)
		changed = true
	}
	for i := range want.members {
		if m := &want.members[i]; !m.gone {
			changed = o.member(live, m, &site{name: string(m.name), up: at}) || changed
		}
	}
	return changed
}

func (o *overlay) list(live, want *node, at *site) (changed bool) {
	had, wanted := live.open().items, want.open().items
	items := make([]node, len(wanted))
	changed = len(had) != len(wanted)
	for i, j := range o.pair(had, wanted, at) {
		if j < 0 {
			items[i], changed = said(&wanted[i]), true
			continue
		}
		items[i] = had[j]
		changed = o.put(&items[i], &wanted[i], at) || changed || i != j
	}
	if changed {
		*live = node{branch: &branch{list: true, items: items}}
	}
	return changed
}

// pair says of each wanted element which of live's it is, or -1.
func (o *overlay) pair(live, want []node, at *site) []int {
	from, used := make([]int, len(want)), make([]bool, len(live))
	left := 0
	for i := range want {
		if from[i] = -1; i < len(live) && o.has(&live[i], &want[i], at) {
			from[i], used[i] = i, true
			continue
		}
		left++
	}
	if left == 0 {
		return from
	}
	places := make(map[string][]int) // of what is left of live, by name; those without one are under ""
	for j := range live {
		if !used[j] {
			name := elementName(&live[j], at)
			places[name] = append(places[name], j)
		}
	}
	for i := range want {
		if from[i] >= 0 {
			continue
		}
		name := elementName(&want[i], at)
		k := o.likeliest(live, &want[i], i, places[name], name != "", at)
		if k < 0 {
			continue
		}
		from[i] = places[name][k]
		places[name] = append(places[name][:k:k], places[name][k+1:]...)
	}
	return from
}

// likeliest returns which of the candidates, places in live, the element is: one that has all that it says, or else, if they
// have its name, the one at the same place, or the first. It looks at a hundred.
func (o *overlay) likeliest(live []node, want *node, i int, candidates []int, named bool, at *site) int {
	best := -1
	for k, j := range candidates[:min(len(candidates), 100)] {
		if o.has(&live[j], want, at) {
			return k
		}
		if named && (best < 0 || j == i) {
			best = k
		}
	}
	return best
}

// has reports whether put would change nothing.
func (o *overlay) has(live, want *node, at *site) bool {
	kind := want.kind()
	if live.kind() == 'n' {
		return !o.adds(want, at)
	}
	switch {
	case kind == 'n' || o.isUnsaid(want) && (kind == '"' || kind == '{'):
		return true
	case kind != live.kind() && (kind == '{' || kind == '['):
		return false
	case kind == '{':
		return o.hasMembers(live.open(), want.open(), at)
	case kind == '[':
		had, wanted := live.open().items, want.open().items
		if len(had) != len(wanted) {
			return false
		}
		for i := range wanted {
			if !o.has(&had[i], &wanted[i], at) {
				return false
			}
		}
		return true
	}
	return o.alike(live, want, at)
}

func (o *overlay) hasMembers(live, want *branch, at *site) bool {
	if len(o.excluded(live, want, at)) > 0 {
		return false
	}
	for i := range want.members {
		m := &want.members[i]
		if m.gone {
			continue
		}
		at := &site{name: string(m.name), up: at}
		j := live.findFrom(i, string(m.name))
		if j < 0 && o.adds(&m.value, at) || j >= 0 && !o.has(&live.members[j].value, &m.value, at) {
			return false
		}
	}
	return true
}

// said returns a value without the members that say nothing.
func said(want *node) node {
	switch want.kind() {
	case '{':
		if want.isPlain() {
			return want.written()
		}
		b := want.open()
		out := &branch{members: make([]member, 0, len(b.members))}
		for _, m := range b.members {
			if !m.gone && m.value.kind() != 'n' {
				m.value = said(&m.value)
				out.members = append(out.members, m)
			}
		}
		return node{branch: out}
	case '[':
		if want.isPlain() {
			return want.written()
		}
		b := want.open()
		out := &branch{list: true, items: make([]node, len(b.items))}
		for i := range b.items {
			out.items[i] = said(&b.items[i])
		}
		return node{branch: out}
	}
	return *want
}

// isPlain reports whether a value is written somewhere, and has no null in it.
func (n *node) isPlain() bool { return n.from != nil && !bytes.Contains(n.text(), []byte("null")) }
