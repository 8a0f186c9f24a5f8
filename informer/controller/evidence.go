// Evidence of a fight: which of our fields somebody has changed between two writes of ours, and who that was.

package controller

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
	"github.com/bowline-go/bowline/internal/follow"
)

const (
	// maxEvidence is the size of the largest object that is examined, in bytes.
	maxEvidence = 1 << 20
	// maxFields is how many fields a fight names.
	maxFields = 16
)

// evidence is the state of an object, and who owns its fields.
type evidence struct {
	kind    string
	version string
	object  any // decoded, with json.Number
	owners  []owner
}

// owner is an entry of managedFields.
type owner struct {
	manager string
	time    int64
	set     *fieldset.Set
}

// evidenceOf reads an object. An entry of managedFields that cannot be read is left out. It returns false for what is no object,
// and for a very large one.
func evidenceOf(object []byte) (evidence, bool) {
	var head struct {
		Kind     string `json:"kind"`
		Metadata struct {
			ResourceVersion string               `json:"resourceVersion"`
			ManagedFields   []meta.ManagedFields `json:"managedFields"`
		} `json:"metadata"`
	}
	if len(object) > maxEvidence || json.Unmarshal(object, &head) != nil {
		return evidence{}, false
	}
	e := evidence{kind: head.Kind, version: head.Metadata.ResourceVersion}
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	if d.Decode(&e.object) != nil {
		return evidence{}, false
	}
	for _, m := range head.Metadata.ManagedFields {
		set, err := fieldset.Parse(m.FieldsV1)
		if err != nil {
			continue
		}
		o := owner{manager: m.Manager, set: set}
		if m.Time != nil {
			o.time = m.Time.Unix()
		}
		e.owners = append(e.owners, o)
	}
	return e, true
}

// uidOf returns the uid of an object.
func uidOf(object []byte) string {
	var head struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(object, &head)
	return head.Metadata.UID
}

// specOf returns the fields of the spec of an object, such as a Scale, whose managedFields do not say who owns them.
func specOf(object any) *fieldset.Set {
	set := &fieldset.Set{}
	root, _ := object.(map[string]any)
	spec, _ := root["spec"].(map[string]any)
	for name := range spec {
		set.Insert(fieldset.Field("spec"), fieldset.Field(name))
	}
	return set
}

// fields returns the fields of managers, or of all others.
func (e evidence) fields(managers []string, theirs bool) *fieldset.Set {
	all := &fieldset.Set{}
	for _, o := range e.owners {
		if slices.Contains(managers, o.manager) != theirs {
			all.Add(o.set)
		}
	}
	return all
}

// who returns the managers that own a field.
func (e evidence) who(path []string) (managers []string) {
	for _, o := range e.owners {
		if o.set.Has(path...) && !slices.Contains(managers, o.manager) {
			managers = append(managers, o.manager)
		}
	}
	return managers
}

// seed makes the hashes of this process.
var seed = maphash.MakeSeed()

// content returns a hash of the fields that managers own, and one of the times at which the server says that they wrote.
func (e evidence) content(managers []string) (content, times uint64) {
	var h, at maphash.Hash
	h.SetSeed(seed)
	at.SetSeed(seed)
	walk(e.fields(managers, false), e.fields(managers, true), e.object, nil, func(path []string, value any) bool {
		h.WriteString(fieldset.Path(path))
		text, _ := json.Marshal(value) // it was decoded from JSON
		h.Write(text)
		return true
	})
	for _, o := range e.owners {
		if slices.Contains(managers, o.manager) {
			maphash.WriteComparable(&at, o.time)
		}
	}
	return h.Sum64(), at.Sum64()
}

// present stands for the value of an object or a list of which others own parts, and of an element that is found by its key.
var present any = true

// moment stands for every time of day: fields that say when something was written differ each time.
var moment any = "a time"

// walk calls visit for the fields of set that an object has, with their values. A field comes before those within it, which are
// left out if visit returns false. within are the fields of others.
func walk(set, within *fieldset.Set, object any, path []string, visit func(path []string, value any) bool) {
	parts := partsOf(object, set)
	for _, key := range slices.Sorted(maps.Keys(set.Children)) {
		value, ok := parts(key)
		if !ok {
			continue // owned by that name, and somewhere else in this form of the object
		}
		child, at := set.Children[key], append(slices.Clip(path), key)
		switch others := within.Child(key); {
		case len(child.Children) == 0:
			if isComposite(value) && others != nil && len(others.Children) > 0 {
				value = present
			}
			visit(at, normal(value))
		case !strings.HasPrefix(key, "k:") || visit(at, present):
			walk(child, others, value, at, visit)
		}
	}
}

// partsOf returns a function that finds the member or element of an object by its key in a set.
func partsOf(object any, set *fieldset.Set) func(key string) (any, bool) {
	switch object := object.(type) {
	case map[string]any:
		return func(key string) (any, bool) {
			name, ok := strings.CutPrefix(key, "f:")
			value, found := object[name]
			return value, ok && found
		}
	case []any:
		elements := elementsOf(object, set)
		return func(key string) (any, bool) {
			value, found := elements[key]
			return value, found
		}
	}
	return func(string) (any, bool) { return nil, false }
}

// elementsOf returns the elements of a list by each key that they can have in a set.
func elementsOf(list []any, set *fieldset.Set) map[string]any {
	byKey := make(map[string]any, len(list))
	var names [][]string // the members that make keys; a list has one such combination
	for key := range set.Children {
		if members, ok := fieldset.Members(key); ok {
			by := slices.Sorted(maps.Keys(members))
			if len(names) < 4 && !slices.ContainsFunc(names, func(n []string) bool { return slices.Equal(n, by) }) {
				names = append(names, by)
			}
		}
	}
	for i, element := range list {
		byKey[fieldset.Index(i)] = element
		object, ok := element.(map[string]any)
		if !ok {
			if key, err := fieldset.Value(element); err == nil {
				byKey[key] = element
			}
			continue
		}
		for _, by := range names {
			members := make(map[string]any, len(by))
			for _, name := range by {
				if value, ok := object[name]; ok {
					members[name] = value
				}
			}
			if key, err := fieldset.Key(members); err == nil {
				byKey[key] = element
			}
		}
	}
	return byKey
}

func isComposite(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// normal returns a value as it is compared.
func normal(v any) any {
	text, ok := v.(string)
	if !ok || len(text) < len("2006-01-02T15:04:05Z") || len(text) > 40 || text[4] != '-' {
		return v
	}
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return v
	}
	return moment
}

// undone returns our fields that were different before our writes: what others had done to them, and who.
func undone(before, after evidence, managers []string, a acts) (fields []FieldWriter) {
	ours := after.fields(managers, false)
	within := after.fields(managers, true).Union(before.fields(managers, true))
	was := make(map[string]any)
	walk(ours, within, before.object, nil, func(path []string, value any) bool {
		was[fieldset.Path(path)] = value
		return true
	})
	walk(ours, within, after.object, nil, func(path []string, value any) bool {
		if len(fields) == maxFields {
			return false
		}
		name := fieldset.Path(path)
		old, there := was[name]
		if there && reflect.DeepEqual(old, value) {
			return true
		}
		f := FieldWriter{Path: name, OtherRemoves: !there}
		if owners := after.who(path); len(owners) > 0 {
			f.Ours = first(owners, func(m string) bool { return slices.Contains(managers, m) })
		}
		if there {
			owners := before.who(path)
			f.Other = first(owners, func(m string) bool { return !slices.Contains(managers, m) })
			if f.Other == "" && len(owners) > 0 {
				f.Other = owners[0] // a writer of our name
			}
		}
		if (f.Other == "" || f.Other == f.Ours) && !a.set(path) {
			return there // a writer of our name may have set it now, as well as before
		}
		fields = append(fields, f)
		return there
	})
	return fields
}

// first returns the first of all for which ok holds, or an empty text.
func first(all []string, ok func(string) bool) string {
	if i := slices.IndexFunc(all, ok); i >= 0 {
		return all[i]
	}
	return ""
}

// removed returns the fields of others that our writes have taken away.
func removed(before, after evidence, managers []string, a acts) (fields []FieldWriter) {
	ours := a.writes[len(a.writes)-1].Manager
	for _, o := range before.owners {
		if slices.Contains(managers, o.manager) {
			continue
		}
		left := make(map[string]bool)
		walk(o.set, nil, after.object, nil, func(path []string, _ any) bool {
			left[fieldset.Path(path)] = true
			return true
		})
		walk(o.set, nil, before.object, nil, func(path []string, _ any) bool {
			if len(fields) == maxFields {
				return false
			}
			name := fieldset.Path(path)
			if !left[name] && a.tookAway(path) {
				fields = append(fields, FieldWriter{Path: name, Ours: ours, Other: o.manager, OursRemoves: true})
			}
			return left[name]
		})
	}
	return fields
}

// acts are the writes of a reconcile to an object, which was read before. The answer of the last one and that read do not tell who
// has done what in between: somebody else may have written meanwhile, as one does that holds a lock for a moment.
type acts struct {
	writes []follow.Write
	// alone says that nobody has: each write was of the version that the one before it had made, and had an effect.
	alone bool
}

// actsOf returns the acts of a reconcile to an object that had a version before.
func actsOf(writes []follow.Write, before string) acts {
	a := acts{writes, true}
	for _, w := range writes {
		a.alone = a.alone && versionOf(w.Sent) == before && w.ResourceVersion != before
		before = w.ResourceVersion
	}
	return a
}

// versionOf returns the resource version that an update or a patch is for, if any.
func versionOf(sent []byte) string {
	var head struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(sent, &head) // a JSON patch is a list
	return head.Metadata.ResourceVersion
}

// set reports whether the writes have set a field that is ours now.
func (a acts) set(path []string) bool {
	return a.alone || slices.ContainsFunc(a.writes, func(w follow.Write) bool { return mentions(w.Sent, path) })
}

// tookAway reports whether the writes have taken a field of somebody else's away, which was there before and is not now.
func (a acts) tookAway(path []string) bool {
	return a.alone || slices.ContainsFunc(a.writes, func(w follow.Write) bool {
		switch {
		case w.Verb == "apply", versionOf(w.Sent) != "":
			return false // an apply takes away only what the same manager has applied
		case w.Verb == "patch":
			return mentions(w.Sent, path)
		}
		return true
	})
}

// mentions reports whether a patch has the name of the last member in a path, as a name or in a pointer (RFC 6901).
func mentions(body []byte, path []string) bool {
	for _, key := range slices.Backward(path) {
		if name, ok := strings.CutPrefix(key, "f:"); ok {
			quoted, _ := json.Marshal(name) // a string can be encoded
			pointer := "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
			return slices.ContainsFunc([]string{string(quoted), pointer + "/", pointer + `"`}, func(text string) bool {
				return bytes.Contains(body, []byte(text))
			})
		}
	}
	return false
}
