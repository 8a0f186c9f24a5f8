// Package strategy has the rules for objects of built-in kinds that are in the code of a kube-apiserver, and not in a
// schema: the defaults of absent fields, the values that fields may have, and the fields that may change.
// kube-apiserver calls its own code for this a strategy.
package strategy

import (
	"cmp"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/meta"
)

// kind has the rules of one kind.
type kind struct {
	// check reports what is wrong with an object, and with its change if it replaces another. Its metadata is checked
	// elsewhere.
	check func(object value)
	// status is check for a write of the subresource status. Nil means that nothing is wrong with a status.
	status func(object value)
}

// kinds returns the rules of the kinds that have some. Each file of this package has those of related kinds.
func kinds() map[meta.GVK]kind {
	all := make(map[meta.GVK]kind)
	for _, add := range []func(map[meta.GVK]kind){
		addPods, addWorkloads, addBatch, addPolicies, addClaims, addServices, addNetworks, addConfigs, addAccess, addWebhooks, addNodes,
		addAPIServices, addFlows, addMigrations, addCertificates, addDevices,
	} {
		add(all)
	}
	return all
}

// Strategy has the rules of all built-in kinds.
type Strategy struct {
	kinds     map[meta.GVK]kind
	defaults  map[string]func(jsontree.Object)
	zeros     zeros
	disabled  map[string][]string
	unchecked map[string][][]string // paths by kind
}

// New returns the rules.
func New() *Strategy {
	return &Strategy{
		kinds: kinds(), defaults: defaults(), zeros: readZeros(), disabled: disabled(), unchecked: uncheckedFields(),
	}
}

// Write is a write of an object.
type Write struct {
	Kind        meta.GVK
	Subresource string          // empty for a write of the whole object
	New         jsontree.Object // with metadata
	Old         jsontree.Object // nil if the object is new
	Admin       bool            // the namespace allows access of administrators to devices
}

// Check returns why a server refuses a write, ordered by field.
func (s *Strategy) Check(w Write) []meta.StatusCause {
	k, found := s.kinds[w.Kind]
	check := k.check
	if w.Subresource == "status" {
		check = k.status
	}
	if !found || check == nil {
		return nil
	}
	// Most objects are valid, and computing the places of all their values costs more than the rules. So the first run
	// does without the places.
	if len(w.run(check, false)) == 0 {
		return nil
	}
	causes := w.run(check, true)
	slices.SortStableFunc(causes, func(a, b meta.StatusCause) int { return cmp.Compare(a.Field, b.Field) })
	return causes
}

// run returns what a check reports. The causes have field paths only if placed is true.
func (w Write) run(check func(value), placed bool) []meta.StatusCause {
	r := &report{subresource: w.Subresource, admin: w.Admin}
	v := value{to: r, is: w.New, updates: w.Old != nil, placed: placed}
	if w.Old != nil {
		v.was = w.Old
	}
	check(v)
	return r.causes
}

// Complete sets the absent fields of an object that have a default. content is the object without apiVersion, kind and
// metadata.
func (s *Strategy) Complete(kind meta.GVK, content jsontree.Object) {
	s.complete(schema.Builtin().Of(kind), content)
}

// complete sets the defaults of an object, and then those inside of it.
func (s *Strategy) complete(shape *schema.Shape, v any) {
	if shape == nil {
		return
	}
	if m, ok := v.(jsontree.Object); ok {
		s.zeros.drop(shape.TypeName(), m)
		if set := s.defaults[shape.TypeName()]; set != nil {
			set(m)
		}
		s.zeros.add(shape.TypeName(), m)
	}
	shape.Each(v, s.complete)
}
