package patch

import (
	"errors"
	"slices"
)

// Carry makes to live the change that leads from before to after, and returns the result. before is what a program saw of
// live, and after what it made of it; both may lack what the program has no field for. Whatever live has that neither of
// them names survives.
//
// Members that after no longer has are removed. An element of a list is the one that it was before if it is unchanged, or
// else has the same name (its member "name", or where it has none "key", or else "type"), or else, among elements without
// one in a list that kept its length, stands at the same place; what live has of it survives. Any other element is written
// as after has it. It is an error if one of the documents is not a JSON object.
func Carry(live, before, after []byte) ([]byte, error) {
	var docs [3]map[string]any
	for i, doc := range [3]struct {
		what string
		body []byte
	}{{"the live object", live}, {"the object before the change", before}, {"the object after the change", after}} {
		v, err := parse(doc.what, doc.body)
		if err != nil {
			return nil, err
		}
		object, ok := v.(map[string]any)
		if !ok {
			return nil, errors.New("patch: " + doc.what + " is not a JSON object")
		}
		docs[i] = object
	}
	out, _ := carry(docs[0], docs[1], docs[2])
	return format(out)
}

// carry changes live, or returns what is to replace it. What is not replaced stays, also if it is not there at all: a program
// often writes the zero value of what it has not read. Objects are looked at once, however deep they are.
func carry(live, before, after any) (_ any, replaced bool) {
	switch after := after.(type) {
	case map[string]any:
		live, ok1 := live.(map[string]any)
		before, ok2 := before.(map[string]any)
		if ok1 && ok2 {
			carryMembers(live, before, after)
			return live, false
		}
	case []any:
		live, ok1 := live.([]any)
		before, ok2 := before.([]any)
		if ok1 && ok2 && len(live) == len(before) {
			return carryList(live, before, after)
		}
	}
	return after, !equal(before, after)
}

func carryMembers(live, before, after map[string]any) {
	for name := range before {
		if _, ok := after[name]; !ok {
			delete(live, name)
		}
	}
	for name, value := range after {
		was, ok := before[name]
		replaced := !ok
		if ok {
			value, replaced = carry(live[name], was, value)
		}
		if replaced {
			live[name] = value
		}
	}
}

// carryList makes a list of after's elements, each with what live has of the element of before that it was.
func carryList(live, before, after []any) (_ []any, replaced bool) {
	out := make([]any, len(after))
	replaced = len(before) != len(after)
	for i, j := range pair(before, after) {
		if j < 0 {
			out[i], replaced = after[i], true
			continue
		}
		value, isNew := carry(live[j], before[j], after[i])
		if !isNew {
			value = live[j]
		}
		out[i], replaced = value, replaced || isNew || i != j
	}
	return out, replaced
}

// pair says of each element of after which element of before it was, or -1.
func pair(before, after []any) []int {
	p := pairing{before: before, after: after, from: make([]int, len(after)), used: make([]bool, len(before))}
	for i := range p.from {
		p.from[i] = -1
	}
	p.inPlace()
	p.moved()
	p.byName()
	if len(before) == len(after) {
		for i, v := range after {
			if p.from[i] < 0 && !p.used[i] && nameOf(v) == "" && nameOf(before[i]) == "" {
				p.take(i, i)
			}
		}
	}
	return p.from
}

// pairing is a pair that is being made: from is its result so far, and used tells which elements of before are in it.
type pairing struct {
	before, after []any
	from          []int
	used          []bool
}

func (p *pairing) take(i, j int) { p.from[i], p.used[j] = j, true }

// inPlace takes what is unchanged at the start, at the end, and, if no element came or went, in between.
func (p *pairing) inPlace() {
	b, a := len(p.before), len(p.after)
	start := 0
	for start < min(a, b) && equal(p.before[start], p.after[start]) {
		p.take(start, start)
		start++
	}
	for b > start && a > start && equal(p.before[b-1], p.after[a-1]) {
		b, a = b-1, a-1
		p.take(a, b)
	}
	if a != b {
		return
	}
	for i := start; i < a; i++ {
		if equal(p.before[i], p.after[i]) {
			p.take(i, i)
		}
	}
}

// moved takes what is unchanged at another place; of equal elements the first was the first.
func (p *pairing) moved() {
	places := p.left(func(v any) string {
		text, _ := format(v) // what parse returns can be formatted
		return string(text)
	})
	for i, v := range p.after {
		if p.from[i] >= 0 || len(places) == 0 {
			continue
		}
		text, _ := format(v)
		if at := places[string(text)]; len(at) > 0 {
			p.take(i, at[0])
			places[string(text)] = at[1:]
		}
	}
}

// byName takes what has the same name. Where several have it, as the mounts of one volume, it is the one at the same place
// if no element came or went, and otherwise the one that has most in common, among the first hundred.
func (p *pairing) byName() {
	places := p.left(nameOf)
	for i, v := range p.after {
		name := nameOf(v)
		at := places[name]
		if p.from[i] >= 0 || name == "" || len(at) == 0 {
			continue
		}
		best, ok := slices.BinarySearch(at, i)
		if !ok || len(p.before) != len(p.after) {
			best = 0
			for k, most := 0, -1; k < min(len(at), 100); k++ {
				if n := common(p.before[at[k]], v); n > most {
					best, most = k, n
				}
			}
		}
		p.take(i, at[best])
		places[name] = slices.Delete(at, best, best+1)
	}
}

// left returns the places of the elements of before that are not taken, by what key says of them, unless that is empty. It
// is nil if none of after's is left either.
func (p *pairing) left(key func(any) string) map[string][]int {
	if !slices.Contains(p.from, -1) {
		return nil
	}
	places := make(map[string][]int)
	for j, v := range p.before {
		if p.used[j] {
			continue
		}
		if k := key(v); k != "" {
			places[k] = append(places[k], j)
		}
	}
	return places
}

// nameOf returns what tells an element from the others in most of the API's lists of objects, or nothing.
func nameOf(v any) string {
	object, _ := v.(map[string]any)
	for _, member := range [...]string{"name", "key", "type"} {
		if name, ok := object[member].(string); ok {
			return member + " " + name
		}
	}
	return ""
}

// common counts the members that two objects agree on.
func common(a, b any) int {
	n := 0
	other, _ := b.(map[string]any)
	members, _ := a.(map[string]any)
	for name, value := range members {
		if w, ok := other[name]; ok && equal(value, w) {
			n++
		}
	}
	return n
}
