package overlay

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
	"github.com/bowline-go/bowline/internal/patch/tree"
	"github.com/bowline-go/bowline/patch"
)

// This file removes from live the values that Options.Absent names, and finds the elements of lists that only the
// manager owns.

// absentPlace is a place that must be empty.
type absentPlace struct {
	pointer string
	names   []string
}

// readAbsent reads the places. want must have no value there.
func readAbsent(pointers []string, want *tree.Node) ([]absentPlace, error) {
	places := make([]absentPlace, 0, len(pointers))
	for _, pointer := range pointers {
		names, err := patch.ParsePointer(pointer)
		switch {
		case err != nil:
			return nil, err
		case len(names) == 0:
			return nil, malformed("an absent path must name a member of the object")
		case slices.Contains([]string{"apiVersion", "kind", "status"}, names[0]), names[0] == "metadata" && (len(names) == 1 || serverOwned[names[1]]):
			return nil, malformed("absent path %s must name a field that an update of the object can remove", tree.Quote(pointer))
		}
		p := absentPlace{pointer, names}
		said, err := p.find(want)
		switch {
		case err != nil:
			return nil, err
		case slices.ContainsFunc(said, func(at *tree.Node) bool { return at.Kind() != 'n' }):
			return nil, malformed("absent path %s must not have a value in the wanted object", tree.Quote(pointer))
		}
		places = append(places, p)
	}
	return places, nil
}

// find returns the values at the place; in a list there may be several.
func (p absentPlace) find(root *tree.Node) ([]*tree.Node, error) {
	found := []*tree.Node{root}
	for _, name := range p.names {
		var next []*tree.Node
		for _, n := range found {
			switch n.Kind() {
			case '{':
				if i := n.Open().Find(name); i >= 0 {
					next = append(next, &n.Open().Members[i].Value)
				}
			case '[':
				fits, err := elementsCalled(name, p.pointer)
				if err != nil {
					return nil, err
				}
				items := n.Open().Items
				for i := range items {
					if fits(&items[i]) {
						next = append(next, &items[i])
					}
				}
			}
		}
		found = next
	}
	return found, nil
}

// elementsCalled returns a function that reports whether an element of a list has a name such as "name=web",
// "port=80,protocol=TCP" or "=text".
func elementsCalled(name, pointer string) (func(*tree.Node) bool, error) {
	if value, ok := strings.CutPrefix(name, "="); ok {
		return func(n *tree.Node) bool { return n.Kind() != '{' && n.Kind() != '[' && n.Scalar() == value }, nil
	}
	type pair struct{ key, value string }
	var pairs []pair
	for part := range strings.SplitSeq(name, ",") {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case ok:
			pairs = append(pairs, pair{key, value})
		case len(pairs) > 0: // the comma was part of a value
			pairs[len(pairs)-1].value += "," + part
		default:
			if _, err := strconv.Atoi(name); err == nil || name == "-" {
				return nil, malformed("absent path %s must name the element of a list by its members, such as name=web, and not by an index", tree.Quote(pointer))
			}
			return nil, malformed("absent path %s must name the element of a list by its members, such as name=web, got %s", tree.Quote(pointer), tree.Quote(name))
		}
	}
	return func(n *tree.Node) bool {
		if n.Kind() != '{' {
			return false
		}
		for _, p := range pairs {
			if v, ok := n.Lookup(p.key); !ok || v.Kind() == 'n' || v.Scalar() != p.value {
				return false
			}
		}
		return true
	}, nil
}

// takeOut removes the values at a place from live. It is an error if the place has an index and live has a list there.
func (o *overlay) takeOut(root *tree.Node, place absentPlace) error {
	above := absentPlace{place.pointer, place.names[:len(place.names)-1]}
	last := place.names[len(place.names)-1]
	parents, err := above.find(root)
	if err != nil {
		return err
	}
	taken := false
	for _, n := range parents {
		switch n.Kind() {
		case '{':
			b := n.Open()
			if i := b.Find(last); i >= 0 {
				taken = taken || b.Members[i].Value.Kind() != 'n'
				b.Remove(i)
			}
		case '[':
			fits, err := elementsCalled(last, place.pointer)
			if err != nil {
				return err
			}
			b := n.Open()
			had := len(b.Items)
			b.Items = slices.DeleteFunc(b.Items, func(item tree.Node) bool { return fits(&item) })
			taken = taken || len(b.Items) < had
		}
	}
	if taken && len(o.changed) < maxChanged {
		o.changed = append(o.changed, place.pointer)
	}
	return nil
}

// ownership holds the fields of an object that one manager owns, and those that all others own.
type ownership struct {
	own, others *fieldset.Set
	unknown     bool // live's managedFields do not show who owns which fields
}

// isOwn reports whether the manager has set the element of live at the place by an update, and no other manager has
// set it. If live comes from a cache and its managedFields do not show who owns which fields, isOwn returns true,
// because the manager may have set the element.
func (o *overlay) isOwn(place *site) bool {
	if o.manager == "" {
		return false
	}
	if o.owned == nil {
		o.owned = o.ownership()
	}
	if o.cached.from != nil && o.owned.unknown {
		return true
	}
	own, others := o.owned.own, o.owned.others
	for _, key := range place.fields() {
		own, others = own.Child(key), others.Child(key)
	}
	return own != nil && others == nil
}

// ownership reads live's managedFields. If there are none, or an entry cannot be read or is of another API version, the
// result is unknown and has no fields.
func (o *overlay) ownership() *ownership {
	nobody, owned := &ownership{unknown: true}, &ownership{own: &fieldset.Set{}, others: &fieldset.Set{}}
	metadata, ok := o.live.Lookup("metadata")
	if !ok {
		return nobody
	}
	at, ok := metadata.Lookup("managedFields")
	if !ok {
		return nobody
	}
	var entries []meta.ManagedFields
	if json.Unmarshal(at.Text(), &entries) != nil {
		return nobody
	}
	for i := range entries {
		e := &entries[i]
		set, err := fieldset.Of(e)
		switch {
		case err != nil || e.APIVersion != o.apiVersion:
			return nobody
		case e.Manager == o.manager && e.Operation == "Update" && e.Subresource == "":
			owned.own.Add(set)
		default:
			owned.others.Add(set)
		}
	}
	return owned
}

// fields returns the keys that lead to the place in a set of fields.
func (p *site) fields() []string {
	if p == nil {
		return nil
	}
	keys := append(p.up.fields(), fieldset.Field(p.name))
	if p.item == nil {
		return keys
	}
	members := make(map[string]any, len(p.keys))
	for _, name := range p.keys {
		if v, ok := p.item.Lookup(name); ok {
			members[name] = decodedScalar(&v)
		}
	}
	key, err := fieldset.Key(members)
	if err != nil {
		key = "" // no field has this key
	}
	return append(keys, key)
}

// decodedScalar returns a string, a number or a boolean as encoding/json decodes it.
func decodedScalar(n *tree.Node) any {
	switch n.Kind() {
	case '"':
		return n.Scalar()
	case '0':
		return json.Number(n.Scalar())
	case 't', 'f':
		return n.Kind() == 't'
	}
	return nil
}
