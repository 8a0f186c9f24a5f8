package clienttest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// owner is one who owns fields of an object: an entry of managedFields, with its fields beside it.
type owner struct {
	meta.ManagedFields
	set *fieldset.Set
}

const (
	operationApply  = "Apply"
	operationUpdate = "Update"
	fieldsType      = "FieldsV1"
)

// is reports whether two entries are of the same owner. One who applies stays the same with another version of the API.
func (o owner) is(other owner) bool {
	return o.Manager == other.Manager && o.Operation == other.Operation && o.Subresource == other.Subresource &&
		(o.APIVersion == other.APIVersion || o.Operation == operationApply)
}

// identity orders owners as the real server does in a conflict.
func (o owner) identity() string {
	m := meta.ManagedFields{Manager: o.Manager, Operation: o.Operation, APIVersion: o.APIVersion, Subresource: o.Subresource}
	if o.Operation == operationApply {
		m.APIVersion = ""
	}
	b, _ := json.Marshal(m) // strings can be encoded
	return string(b)
}

// owners are those who own the fields of an object, each once.
type owners []owner

// decodeOwners reads managedFields. Any entry that cannot be one makes the whole invalid.
func decodeOwners(entries []meta.ManagedFields) (owners, bool) {
	var all owners
	for _, e := range entries {
		if e.Operation != operationApply && e.Operation != operationUpdate || e.APIVersion == "" || e.FieldsType != fieldsType {
			return nil, false
		}
		o := owner{ManagedFields: e, set: &fieldset.Set{}}
		if o.FieldsV1 = nil; len(e.FieldsV1) > 0 && string(e.FieldsV1) != "null" {
			var err error
			if o.set, err = fieldset.Parse(e.FieldsV1); err != nil {
				return nil, false
			}
		}
		all = all.with(o)
	}
	return all, true
}

// of returns one who owns fields, with those it has, which may be none.
func (all owners) of(who owner) owner {
	for _, o := range all {
		if o.is(who) {
			return o
		}
	}
	who.set, who.Time = &fieldset.Set{}, nil
	return who
}

// with returns the owners with one of them replaced or added, or without it if it owns nothing.
func (all owners) with(o owner) owners {
	out := slices.DeleteFunc(slices.Clone(all), o.is)
	if !o.set.IsEmpty() {
		out = append(out, o)
	}
	return out
}

// encode writes managedFields in the real server's order.
func (all owners) encode() []meta.ManagedFields {
	if len(all) == 0 {
		return nil
	}
	seconds := func(o owner) int64 {
		if o.Time == nil {
			return 0
		}
		return o.Time.Unix()
	}
	sorted := slices.SortedFunc(slices.Values(all), func(a, b owner) int {
		return cmp.Or(
			strings.Compare(a.Operation, b.Operation), cmp.Compare(seconds(a), seconds(b)), strings.Compare(a.Manager, b.Manager),
			strings.Compare(a.APIVersion, b.APIVersion), strings.Compare(a.Subresource, b.Subresource),
		)
	})
	entries := make([]meta.ManagedFields, len(sorted))
	for i, o := range sorted {
		entries[i] = o.ManagedFields
		entries[i].FieldsType, entries[i].FieldsV1 = fieldsType, o.set.Append(nil)
	}
	return entries
}

// union returns all fields that are owned.
func (all owners) union() *fieldset.Set {
	set := &fieldset.Set{}
	for _, o := range all {
		set.Add(o.set)
	}
	return set
}

// lose returns the owners without the fields that another one has changed or removed, and what each of them has lost by changes.
func (all owners) lose(by owner, c changes) (left, lost owners) {
	written := c.modified.Union(c.added)
	for _, o := range all {
		if o.is(by) {
			left = append(left, o)
			continue
		}
		if conflicts := o.set.Intersection(written); !conflicts.IsEmpty() {
			lost = append(lost, owner{o.ManagedFields, conflicts})
			o.set = o.set.Difference(conflicts)
		}
		if o.set = o.set.Difference(c.removed); !o.set.IsEmpty() {
			left = append(left, o)
		}
	}
	return left, lost
}

// ownedBefore is who owns what nobody was noted for, once somebody applies.
const ownedBefore = "before-first-apply"

// updated returns who owns the fields once old has become now by an update: who writes owns what changes. A time moves only with
// that.
func (m management) updated(old, now any, all owners, manager string) owners {
	c := m.changes(old, now)
	all, _ = all.lose(owner{}, c)
	written := m.kept(c.added.Union(c.modified)).Difference(unowned())
	if written.IsEmpty() {
		return all
	}
	who := all.of(m.owner(manager, operationUpdate))
	who.set, who.Time = who.set.Union(written), &m.now
	return all.with(who).capped()
}

// capped joins the oldest of more than ten updaters into one, as the real server does so that they do not become ever more.
func (all owners) capped() owners {
	const limit, oldest = 10, "ancient-changes"
	updaters := slices.DeleteFunc(slices.Clone(all), func(o owner) bool { return o.Operation != operationUpdate })
	if len(updaters) <= limit {
		return all
	}
	slices.SortFunc(updaters, func(a, b owner) int {
		return cmp.Or(cmp.Compare(unix(a.Time), unix(b.Time)), strings.Compare(a.identity(), b.identity()))
	})
	bucket := all.of(owner{ManagedFields: meta.ManagedFields{
		Manager: oldest, Operation: operationUpdate, APIVersion: updaters[0].APIVersion,
	}})
	for _, o := range updaters[:len(updaters)-limit+1] {
		all = slices.DeleteFunc(slices.Clone(all), o.is)
		bucket.set, bucket.Time = bucket.set.Union(o.set), o.Time
	}
	return all.with(bucket)
}

func unix(t *meta.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// management is what decides who owns what in one write.
type management struct {
	apiVersion, subresource string
	shape                   *schema.Shape
	kept                    fieldPart // what of a set the request can write
	now                     meta.Time
	versions                bool // entries of other versions of the API count as well
}

func (m management) owner(manager, operation string) owner {
	return owner{ManagedFields: meta.ManagedFields{
		Manager: manager, Operation: operation, APIVersion: m.apiVersion, Subresource: m.subresource,
	}, set: &fieldset.Set{}}
}

// changes are those that the request can make.
func (m management) changes(old, now any) changes {
	c := changesOf(old, now, m.shape)
	return changes{m.kept(c.added), m.kept(c.modified), m.kept(c.removed)}
}

// known returns the owners whose entries are of the version that the resource has. The others go.
func (m management) known(all owners) owners {
	if m.versions {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(o owner) bool { return o.APIVersion != m.apiVersion })
}

// management returns what decides about a request's write.
func (c *call) management() management {
	return management{
		apiVersion: c.res.GVK().APIVersion(), subresource: c.Subresource, shape: c.res.fields(),
		kept: writable(c.res, c.Subresource), now: now(),
	}
}

// manage notes in d who owns its fields, once manager has made it of old by an update or a patch, or created it, where old is nil.
// An update may bring managedFields along, unless it is of a subresource: those are then the ones that it changes, and an empty
// entry alone drops them.
func (c *call) manage(d, old *draft, manager string) {
	m := c.management()
	var before any = jsontree.Object{}
	var entries []meta.ManagedFields
	if old != nil {
		before, entries = old.value(), old.meta.ManagedFields
	}
	sent := d.meta.ManagedFields
	d.meta.ManagedFields = nil
	all, _ := decodeOwners(entries)
	if c.Subresource == "" && sent != nil {
		reset := len(sent) == 0 || len(sent) == 1 && isZero(sent[0])
		brought, valid := decodeOwners(sent)
		if reset {
			all = nil
		} else if valid && len(brought) > 0 {
			all = brought
		}
	}
	if old != nil && len(all) == 0 {
		return // nobody is noted until somebody applies
	}
	d.meta.ManagedFields = m.updated(before, d.value(), m.known(all), manager).encode()
}

func isZero(e meta.ManagedFields) bool {
	return e.Manager == "" && e.Operation == "" && e.APIVersion == "" && e.Time == nil && e.FieldsType == "" &&
		len(e.FieldsV1) == 0 && e.Subresource == ""
}

// sameOwners reports whether two managedFields differ in times alone.
func sameOwners(a, b []meta.ManagedFields) bool {
	return slices.EqualFunc(a, b, func(a, b meta.ManagedFields) bool {
		a.Time, b.Time = nil, nil
		x, errX := json.Marshal(a)
		y, errY := json.Marshal(b)
		return errX == nil && errY == nil && string(x) == string(y)
	})
}

// managerMax is how long a manager's name may be.
const managerMax = 128

// managerOf returns a writer's name: what the request gives, or the user agent up to the first slash.
func managerOf(fieldManager, userAgent string) string {
	if fieldManager != "" {
		return fieldManager
	}
	name, _, _ := strings.Cut(userAgent, "/")
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	return name[:min(len(name), managerMax)]
}
