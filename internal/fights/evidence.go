package fights

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// maxEvidence is the size of the largest object that is examined, in bytes.
const maxEvidence = 1 << 20

// evidence is the state of an object, and who owns its fields.
type evidence struct {
	kind    string
	version string
	object  any // decoded JSON, with numbers as json.Number
	owners  []owner
}

// owner is an entry of managedFields.
type owner struct {
	manager string
	time    int64
	set     *fieldset.Set
}

// evidenceOf reads an object. An entry of managedFields that cannot be read is left out. It returns false if the text
// is not a JSON object, or is larger than maxEvidence.
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

// specOf returns the fields of the spec of an object, such as a Scale, whose managedFields do not name their owners.
func specOf(object any) *fieldset.Set {
	set := &fieldset.Set{}
	root, _ := object.(map[string]any)
	spec, _ := root["spec"].(map[string]any)
	for name := range spec {
		set.Insert(fieldset.Field("spec"), fieldset.Field(name))
	}
	return set
}

// fields returns the fields that managers own or, if theirs is true, those that all other managers own.
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

// seed is the seed of all hashes of this process.
var seed = maphash.MakeSeed()

// content returns a hash of the fields that managers own, and a hash of the times at which the server says that they
// wrote. Fields whose value is a time are left out: if two writers write one in the same second, the server leaves the
// field to the first of them.
func (e evidence) content(managers []string) (content, times uint64) {
	var h, at maphash.Hash
	h.SetSeed(seed)
	at.SetSeed(seed)
	walk(e.fields(managers, false), e.fields(managers, true), e.object, nil, func(path []string, value any) bool {
		if value == moment {
			return true
		}
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

// present takes the place of values of which only the presence counts: an object or a list that others partly own, and
// an element that is found by its key.
var present any = true

// moment takes the place of every value that is a time, because fields that say when something was written differ with
// each write.
var moment any = "a time"

// walk calls visit for the fields of set that an object has, with their values. within has the fields of others. The
// element of a list comes before the fields within it, which walk leaves out if visit returns false.
func walk(set, within *fieldset.Set, object any, path []string, visit func(path []string, value any) bool) {
	parts := partsOf(object, set)
	for _, key := range slices.Sorted(maps.Keys(set.Children)) {
		value, ok := parts(key)
		if !ok {
			continue // the object has no such field: a write added or removed it, or only another API version has it
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
	var names [][]string // the combinations of members that are keys; usually a list has one
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

// normal returns a value in the form in which values are compared.
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
