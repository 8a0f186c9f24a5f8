package codec

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// structPlan says which member of an object goes where in a struct.
type structPlan struct {
	fields  []field
	byName  []uint8 // open addressing by the hash of the name: 0, or a field's index plus 1
	guesses int     // where this struct's part of decoder.guesses begins; it has one for each field, and one before them
}

// field is a field of a struct, its own or one of an embedded struct.
type field struct {
	name   string
	member string // how the name and the colon stand in a document
	offset uintptr
	plan   *plan
}

// maxFields is how many fields fit into a fieldSet.
const maxFields = 128

// fieldSet tells which fields an object has had.
type fieldSet [maxFields / 64]uint64

// add reports whether the field is new to the set.
func (s *fieldSet) add(index int) bool {
	word, bit := &s[index/64%len(s)], uint64(1)<<(index%64)
	fresh := *word&bit == 0
	*word |= bit
	return fresh
}

// find returns the index of the field with that name, or a negative number.
func (s *structPlan) find(name []byte) int {
	mask := uint64(len(s.byName) - 1)
	for at := hash(name) & mask; ; at++ {
		index := int(s.byName[at&mask]) - 1
		if index < 0 || s.fields[index].name == string(name) {
			return index
		}
	}
}

// structPlan returns nil for a struct that has anything in its tags, or in what it embeds, that the two JSON packages see
// differently or that is rare. A field of a type that is for the library is no reason: most objects may not have it.
func (c *compiler) structPlan(t reflect.Type) *structPlan {
	all, ok := appendFields(nil, t, 0, 0, map[reflect.Type]bool{})
	if !ok {
		return nil
	}
	all = dominant(all)
	if len(all) > maxFields {
		return nil
	}
	size := 4
	for size < 4*len(all) {
		size *= 2
	}
	s := &structPlan{byName: make([]uint8, size), fields: make([]field, len(all)), guesses: c.cache.guesses}
	c.cache.guesses += len(all) + 1
	for i, f := range all {
		s.fields[i] = field{name: f.name, member: `"` + f.name + `":`, offset: f.offset, plan: c.plan(f.typ)}
		at := int(hash([]byte(f.name)) & uint64(size-1))
		for s.byName[at] != 0 {
			at = (at + 1) % size
		}
		s.byName[at] = uint8(i + 1)
	}
	return s
}

// candidate is a field that may be hidden by others.
type candidate struct {
	name   string
	offset uintptr
	typ    reflect.Type
	depth  int // in how many embedded structs it is
	tagged bool
}

// appendFields collects the fields of t, those that others hide included.
func appendFields(
	all []candidate, t reflect.Type, offset uintptr, depth int, seen map[reflect.Type]bool,
) ([]candidate, bool) {
	if seen[t] { // embedded twice
		return nil, false
	}
	seen[t] = true
	own := map[string]bool{}
	ignored := 0
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, hasTag := sf.Tag.Lookup("json")
		if tag == "-" {
			ignored++
			continue
		}
		if !sf.IsExported() && !sf.Anonymous {
			if hasTag {
				return nil, false
			}
			ignored++
			continue
		}
		name, inline, ok := parseTag(tag)
		if !ok {
			return nil, false
		}
		if sf.Anonymous && name == "" {
			if sf.Type.Kind() != reflect.Struct || hasMethods(sf.Type) || strings.Contains(tag, "omit") {
				return nil, false
			}
			if all, ok = appendFields(all, sf.Type, offset+sf.Offset, depth+1, seen); !ok {
				return nil, false
			}
			continue
		}
		if inline || !sf.IsExported() {
			return nil, false
		}
		f := candidate{
			name: cmp.Or(name, sf.Name), offset: offset + sf.Offset, typ: sf.Type, depth: depth, tagged: name != "",
		}
		if own[f.name] {
			return nil, false
		}
		own[f.name] = true
		all = append(all, f)
	}
	// The library refuses some structs without any field that can be decoded.
	return all, ignored < t.NumField() || t.NumField() == 0
}

// parseTag takes a tag apart, if it is of the kind that nobody could misread.
func parseTag(tag string) (name string, inline, ok bool) {
	name, options, more := strings.Cut(tag, ",")
	if name == "-" || strings.ContainsAny(name, "\\'\"`") || strings.ContainsFunc(name, unicode.IsControl) ||
		!utf8.ValidString(name) {
		return "", false, false
	}
	seen := map[string]bool{}
	for more {
		var option string
		option, options, more = strings.Cut(options, ",")
		if seen[option] || option != "omitempty" && option != "omitzero" && option != "inline" {
			return "", false, false
		}
		seen[option] = true
	}
	return name, seen["inline"], true
}

// dominant chooses, of the fields with the same name, the one in the fewest embedded structs, or the only one there whose
// tag has the name; if that is not one, there is none.
func dominant(all []candidate) (fields []candidate) {
	slices.SortStableFunc(all, func(x, y candidate) int {
		return cmp.Or(strings.Compare(x.name, y.name), cmp.Compare(x.depth, y.depth), cmp.Compare(rank(x), rank(y)))
	})
	for len(all) > 0 {
		same := 1
		for same < len(all) && all[same].name == all[0].name {
			same++
		}
		if same == 1 || all[0].depth != all[1].depth || all[0].tagged != all[1].tagged {
			fields = append(fields, all[0])
		}
		all = all[same:]
	}
	return fields
}

func rank(f candidate) int {
	if f.tagged {
		return 0
	}
	return 1
}
