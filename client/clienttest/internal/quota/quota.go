// Package quota applies ResourceQuotas to the objects of their namespace: it computes how much the objects use, and
// refuses writes that need too much, in kube-apiserver's words.
package quota

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/quantity"
)

// Quota is a ResourceQuota.
type Quota struct {
	Name       string
	Hard, Used quantity.List // in the status
	Wanted     quantity.List // the hard limits in the spec
	scopes     []scope
}

// Read returns the quota in an object.
func Read(d *object.Draft) Quota {
	spec, status := inner(d.Content, "spec"), inner(d.Content, "status")
	return Quota{
		Name: d.Meta.Name,
		Hard: quantity.Read(status["hard"]), Used: quantity.Read(status["used"]),
		Wanted: quantity.Read(spec["hard"]), scopes: readScopes(spec),
	}
}

// Status returns the status of the quota.
func (q Quota) Status() jsontree.Object {
	status := jsontree.Object{}
	for name, list := range map[string]quantity.List{"hard": q.Hard, "used": q.Used} {
		if len(list) > 0 {
			status[name] = list.Object()
		}
	}
	return status
}

// Change is a write to an object of a namespace.
type Change struct {
	Resource    string // with its group, such as "deployments.apps"
	Subresource string
	Old, New    *object.Draft // Old is nil for a create
	Now         time.Time
}

// Admit returns the quotas as they are after the write, or the reason why one of them refuses the write.
func (c Change) Admit(quotas []Quota) ([]Quota, error) {
	k := kindOf(c.Resource)
	if !k.handles(c) {
		return nil, nil
	}
	var apply []Quota
	for _, q := range quotas {
		names := k.of(q.Hard)
		if len(names) == 0 || !k.inScopes(q.scopes, c.New) {
			continue
		}
		if err := k.lacks(names, c.New); err != nil {
			return nil, fmt.Errorf("failed quota: %s: %w", q.Name, err)
		}
		if len(q.Used.Only(names)) < len(names) {
			return nil, fmt.Errorf("status unknown for quota: %s, resources: %s", q.Name, strings.Join(names, ","))
		}
		apply = append(apply, q)
	}
	needs := k.usage(c.New, c.Now)
	for i := range apply {
		if err := apply[i].take(c.more(k, apply[i], needs)); err != nil {
			return nil, err
		}
	}
	return apply, nil
}

// more returns how much more a quota has to give for the write.
func (c Change) more(k kind, q Quota, needs quantity.List) quantity.List {
	was := quantity.List{}
	if c.Old != nil && k.inScopes(q.scopes, c.Old) {
		was = k.usage(c.Old, c.Now)
	}
	return needs.More(was).Only(q.Hard.Names())
}

// take counts amounts as used, or returns the error that they are too much.
func (q *Quota) take(more quantity.List) error {
	used := quantity.List{}
	used.Add(q.Used)
	used.Add(more)
	var over []string
	for _, name := range more.Names() {
		if used[name].Amount.Cmp(q.Hard[name].Amount) > 0 {
			over = append(over, name)
		}
	}
	if len(over) > 0 {
		return fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s",
			q.Name, more.Only(over), q.Used.Only(over), q.Hard.Only(over))
	}
	q.Used = used
	return nil
}

// Counts reports whether the quota counts the objects of a resource.
func (q Quota) Counts(resource string) bool { return len(kindOf(resource).of(q.Hard)) > 0 }

// Moves reports whether an update may change how much of the quota its object uses. Old must not be nil.
func (c Change) Moves(q Quota) bool {
	k := kindOf(c.Resource)
	charge := func(d *object.Draft) quantity.List {
		if !k.inScopes(q.scopes, d) {
			return quantity.List{}
		}
		return k.usage(d, c.Now)
	}
	return !charge(c.Old).Equal(charge(c.New))
}

// Varies reports whether an update can change how much an object of a resource uses.
func Varies(resource string) bool { return kindOf(resource).varies }

// Total returns how much all objects of a resource use of the amounts that the quota limits.
func (q Quota) Total(resource string, objects iter.Seq[*object.Revision], now time.Time) quantity.List {
	k := kindOf(resource)
	names, sum := k.of(q.Hard), quantity.List{}
	for _, name := range names {
		sum[name] = quantity.Count(0)
	}
	for v := range objects {
		var d *object.Draft
		if k.varies {
			d = v.Draft()
		}
		if k.inScopes(q.scopes, d) {
			sum.Add(k.usage(d, now))
		}
	}
	return sum.Only(names)
}

func inner(m jsontree.Object, name string) jsontree.Object {
	v, _ := m[name].(jsontree.Object)
	return v
}

func text(m jsontree.Object, name string) string {
	s, _ := m[name].(string)
	return s
}
