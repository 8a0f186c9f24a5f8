package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The objects that a person edits right before a request of the program, as arguments of a disturbance. At rest the
// argument is the address of the object instead, as in configmaps/default/a.
const (
	theObject    = "object"    // the object of the request
	itsDependent = "dependent" // an object of which that one is an owner
	itsOwner     = "owner"     // an owner of the object
)

func roles() []string { return []string{theObject, itsDependent, itsOwner} }

// target returns the object with a role at a request; nil if there is none.
func (l *ledger) target(p *point, role string) *record {
	object := l.find(p.request.Resource, p.request.Key)
	if object == nil { // what a create makes, as far as the request says it
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

// related returns the first object that is related to another one by its owners or, if there is none, by its name.
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

// named reports whether an object is named after another one of another resource.
func named(after, object *record) bool {
	name := after.meta.Name
	if after.meta.GenerateName != "" {
		name = strings.TrimSuffix(after.meta.GenerateName, "-")
	}
	return after.of != object.of && name != "" && name == object.meta.Name && after.meta.Namespace == object.meta.Namespace
}

// address returns an argument that names the object in each run: its resource, namespace and name and, if several
// objects with generated names have those, its number.
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

// at returns the object with an address, also if it has gone, and the last one if its name was used again. It returns
// nil if there never was one.
func (l *ledger) at(address string) *record {
	for _, r := range slices.Backward(l.records) {
		if l.address(r) == address {
			return r
		}
	}
	return nil
}
