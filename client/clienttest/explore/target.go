package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The roles of the objects that a person edits right before a request of the program. A role is the argument of the
// disturbance. At rest the argument is the address of the object, as in configmaps/default/a.
const (
	theObject    = "object"    // the object of the request
	itsDependent = "dependent" // an object that the object of the request owns
	itsOwner     = "owner"     // an owner of the object
)

func roles() []string { return []string{theObject, itsDependent, itsOwner} }

// target returns the object with a role at a request; nil if there is none.
func (l *ledger) target(p *point, role string) *record {
	object := l.find(p.request.Resource, p.request.Key)
	if object == nil { // the object that a create will make, as far as the request describes it
		object = &record{of: p.request.Resource, made: byProgram}
		object.meta = p.metadata()
		object.meta.Namespace = p.request.Key.Namespace
	}
	switch role {
	case theObject:
		if object.present {
			return object
		}
	case itsDependent:
		return l.related(object, func(other *record) bool { return object.owns(other) }, func(other *record) bool {
			return other.made == byProgram && named(other, object)
		})
	case itsOwner:
		return l.related(object, func(other *record) bool { return other.owns(object) }, func(other *record) bool {
			return other.made != byProgram && named(object, other)
		})
	}
	return nil
}

// related returns the first other object that byOwner accepts or, if there is none, the first that byName accepts.
func (l *ledger) related(object *record, byOwner, byName func(*record) bool) *record {
	for _, is := range []func(*record) bool{byOwner, byName} {
		for _, other := range l.records {
			if other != object && other.present && is(other) {
				return other
			}
		}
	}
	return nil
}

// named reports whether the first object has the name of the second, or a name generated from it, and belongs to
// another resource.
func named(after, object *record) bool {
	name := after.meta.Name
	if after.meta.GenerateName != "" {
		name = strings.TrimSuffix(after.meta.GenerateName, "-")
	}
	return after.of != object.of && name != "" && name == object.meta.Name && after.meta.Namespace == object.meta.Namespace
}

// address returns an argument that names the object in each run: its resource, namespace and name. If several objects
// have the same generateName, the address of each after the first ends in its number.
func (l *ledger) address(r *record) string {
	number := 0
	for _, other := range l.records {
		if other.name() == r.name() && other.meta.GenerateName != "" {
			number++
		}
		if other == r {
			break
		}
	}
	text := fmt.Sprintf("%s/%s/%s", r.of.Resource, r.key().Namespace, r.key().Name)
	if number > 1 {
		text += "#" + strconv.Itoa(number)
	}
	return text
}

// at returns the object with an address, even if the object has gone. It returns the last of several objects with the
// same name, and nil if there never was one.
func (l *ledger) at(address string) *record {
	for _, r := range slices.Backward(l.records) {
		if l.address(r) == address {
			return r
		}
	}
	return nil
}
