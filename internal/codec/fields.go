package codec

import (
	"cmp"
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// structPlan says which member of an object goes where in a struct.
type structPlan struct {
	fields []field
	byName []uint32 // open addressing by the hash of the name: 0, or a field's index plus 1
	// guesses is where this struct's part of decoder.guesses begins: one guess for the start, and one for each field.
	guesses int
}

// field is a field of a struct, its own or one of an embedded struct.
type field struct {
	name   string
	member string // the name and the colon as a document has them
	offset uintptr
	hops   []hop // from the offset on, for a field behind embedded pointers
	plan   *plan
}

// hop leads through an embedded pointer.
type hop struct {
	typ    reflect.Type // the type that it points to
	offset uintptr      // of the field, or of the next pointer, in typ
	hidden bool         // it is not exported, so that it cannot be set
}

var errHidden = &tagError{"it embeds a pointer to a struct that is not exported, which cannot be set"}

// tagError says why a Go type cannot be decoded.
type tagError struct{ text string }

func (e *tagError) Error() string { return e.text }

// fieldSet is the set of fields that an object has had.
type fieldSet struct {
	first [2]uint64
	more  []uint64 // from the 128th field on
}

// add adds a field to the set, and reports whether the field is new to the set.
func (s *fieldSet) add(index int) bool {
	if index >= 64*len(s.first) {
		return s.addMore(index - 64*len(s.first))
	}
	word, bit := &s.first[index/64], uint64(1)<<(index%64)
	fresh := *word&bit == 0
	*word |= bit
	return fresh
}

func (s *fieldSet) addMore(index int) bool {
	for index/64 >= len(s.more) {
		s.more = append(s.more, 0)
	}
	word, bit := &s.more[index/64], uint64(1)<<(index%64)
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

// structPlan returns an error for a struct with a tag whose meaning depends on the version of encoding/json.
func (c *compiler) structPlan(t reflect.Type) (*structPlan, error) {
	all, err := collect(t)
	if err != nil {
		return nil, err
	}
	all = dominant(all)
	size := 4
	for size < 4*len(all) {
		size *= 2
	}
	s := &structPlan{byName: make([]uint32, size), fields: make([]field, len(all)), guesses: c.cache.guesses}
	c.cache.guesses += len(all) + 1
	for i, f := range all {
		s.fields[i] = field{name: f.name, member: `"` + f.name + `":`, offset: f.offset, hops: f.hops, plan: c.fieldPlan(f)}
		at := int(hash([]byte(f.name)) & uint64(size-1))
		for s.byName[at] != 0 {
			at = (at + 1) % size
		}
		s.byName[at] = uint32(i + 1)
	}
	return s, nil
}

// fieldPlan returns the plan of a field, which may differ from that of its type.
func (c *compiler) fieldPlan(f candidate) *plan {
	p := &plan{typ: f.typ, size: f.typ.Size(), null: nullKeeps}
	switch {
	case f.hidden && f.typ.Kind() == reflect.Pointer:
		p.wrong = errHidden
	case f.hidden && hasMethods(f.typ): // they cannot be called
		c.fillStruct(p)
	case f.quoted && isQuotable(f.typ):
		p.shape, p.elem = shapeQuoted, c.plan(indirect(f.typ))
		if f.typ.Kind() == reflect.Pointer {
			p.null = nullEmpties
		}
	default:
		return c.plan(f.typ)
	}
	return p
}

// isQuotable reports whether the tag option string applies to a type: a boolean, a number or a string, or a pointer to
// one, without methods.
func isQuotable(t reflect.Type) bool {
	t = indirect(t)
	return (reflect.Bool <= t.Kind() && t.Kind() <= reflect.Float64 || t.Kind() == reflect.String) && !hasMethods(t)
}

// indirect returns the type that an unnamed pointer points to.
func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		return t.Elem()
	}
	return t
}

// candidate is a field that may be hidden by others.
type candidate struct {
	name   string
	offset uintptr
	hops   []hop
	typ    reflect.Type
	depth  int  // how many embedded structs it is in
	tagged bool // it has its name from its tag
	hidden bool // it is an embedded struct that is not exported
	quoted bool
}

// embedded is a struct whose fields are collected.
type embedded struct {
	typ    reflect.Type
	offset uintptr
	hops   []hop
}

// in returns the place at an offset in e.
func (e embedded) in(offset uintptr) (uintptr, []hop) {
	if len(e.hops) == 0 {
		return e.offset + offset, nil
	}
	hops := slices.Clone(e.hops)
	hops[len(hops)-1].offset += offset
	return e.offset, hops
}

// collect returns the fields of t, and of its embedded structs, level by level. The fields of a struct that is
// embedded twice at the same level occur twice, so that none of them dominates. A struct that was collected at an
// earlier level is not collected again.
func collect(t reflect.Type) (all []candidate, err error) {
	seen := map[reflect.Type]bool{}
	level := []embedded{{typ: t}}
	for depth := 0; len(level) > 0; depth++ {
		times := map[reflect.Type]int{}
		for _, e := range level {
			times[e.typ]++
		}
		var next []embedded
		for _, e := range level {
			if seen[e.typ] {
				continue
			}
			seen[e.typ] = true
			for i := range e.typ.NumField() {
				sf := e.typ.Field(i)
				tag := sf.Tag.Get("json")
				isStruct := indirect(sf.Type).Kind() == reflect.Struct
				if tag == "-" || !sf.IsExported() && !(sf.Anonymous && isStruct) {
					continue
				}
				name, options, _ := strings.Cut(tag, ",")
				if !isName(name) {
					name = ""
				}
				offset, hops := e.in(sf.Offset)
				if sf.Anonymous && isStruct && name == "" {
					inner := embedded{typ: indirect(sf.Type), offset: offset, hops: hops}
					if sf.Type.Kind() == reflect.Pointer {
						inner.hops = append(hops, hop{typ: inner.typ, hidden: !sf.IsExported()})
					}
					next = append(next, inner)
					continue
				}
				f := candidate{
					name: cmp.Or(name, sf.Name), offset: offset, hops: hops, typ: sf.Type, depth: depth,
					tagged: name != "", hidden: !sf.IsExported(),
				}
				for option := range strings.SplitSeq(options, ",") {
					f.quoted = f.quoted || option == "string"
					if strings.HasPrefix(option, "format:") || option == "embed" && name == "" && isEmbeddable(sf.Type) {
						return nil, &tagError{fmt.Sprintf("the tag option %s of the field %s.%s means something to some "+
							"versions of encoding/json and nothing to others", strings.TrimSuffix(option, ":"), e.typ, sf.Name)}
					}
				}
				all = append(all, f)
				if times[e.typ] > 1 {
					all = append(all, f)
				}
			}
		}
		level = next
	}
	return all, nil
}

// isEmbeddable reports whether Go 1.27 treats the members of a field of type t that has the tag option embed as members
// of the struct around it.
func isEmbeddable(t reflect.Type) bool {
	t = indirect(t)
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Map || t == reflect.TypeFor[stdjson.RawMessage]()
}

// isName reports whether a tag can give a field this name. A tag with any other name is ignored, and the field keeps
// its Go name.
func isName(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return s != ""
}

// dominant chooses, among the fields with the same name, the one in the fewest embedded structs, or the only one there
// whose tag has the name. If there is not exactly one, it chooses none.
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
