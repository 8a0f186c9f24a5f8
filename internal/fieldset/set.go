package fieldset

import (
	"iter"
	"slices"
)

// Set is a set of fields, or the part of one that lies within a field. The zero Set is empty.
type Set struct {
	// Self is true if the field itself is in the set, with or without fields within it. In a set as a whole, Self is
	// false.
	Self bool
	// Children has the parts of the set by the keys of the members and elements to which they belong.
	Children map[string]*Set
}

// IsEmpty reports whether nothing is in the set.
func (s *Set) IsEmpty() bool {
	if s == nil {
		return true
	}
	if s.Self {
		return false
	}
	for _, c := range s.Children {
		if !c.IsEmpty() {
			return false
		}
	}
	return true
}

// Child returns the part of the set with the field of that key and the fields within it; nil if there is none.
func (s *Set) Child(key string) *Set {
	if s == nil {
		return nil
	}
	return s.Children[key]
}

// Has reports whether the field that the keys lead to is in the set.
func (s *Set) Has(keys ...string) bool {
	for _, key := range keys {
		s = s.Child(key)
	}
	return s != nil && s.Self
}

// Insert adds the field that the keys lead to. They must be canonical; see [Key] and [Value]. It changes s, and every
// set that shares parts with s.
func (s *Set) Insert(keys ...string) {
	for _, key := range keys {
		s = s.child(key)
	}
	s.Self = true
}

// child returns the part of the set with the field of that key. If there is none, it adds an empty one.
func (s *Set) child(key string) *Set {
	c := s.Children[key]
	if c == nil {
		c = &Set{}
		if s.Children == nil {
			s.Children = make(map[string]*Set)
		}
		s.Children[key] = c
	}
	return c
}

// Add adds the fields of o to s. It changes s, and every set that shares parts with s, but never o.
func (s *Set) Add(o *Set) {
	if o == nil {
		return
	}
	s.Self = s.Self || o.Self
	for key, c := range o.Children {
		s.child(key).Add(c)
	}
}

// Equal reports whether both have the same fields.
func (s *Set) Equal(o *Set) bool {
	if s == o {
		return true
	}
	if s == nil || o == nil {
		return s.IsEmpty() && o.IsEmpty()
	}
	if s.Self != o.Self {
		return false
	}
	for key, c := range s.Children {
		if !c.Equal(o.Children[key]) {
			return false
		}
	}
	for key, c := range o.Children {
		if _, both := s.Children[key]; !both && !c.IsEmpty() {
			return false
		}
	}
	return true
}

// Union returns the fields that s or o has.
func (s *Set) Union(o *Set) *Set {
	if s == nil {
		return kept(o)
	}
	if o == nil || s == o {
		return kept(s)
	}
	u := &Set{Self: s.Self || o.Self}
	for key, c := range s.Children {
		u.put(key, c.Union(o.Children[key]))
	}
	for key, c := range o.Children {
		if _, both := s.Children[key]; !both {
			u.put(key, c)
		}
	}
	return u
}

// Difference returns the fields that s has and o does not have. A field of o does not remove the fields within it from
// the result, unless o has these too.
func (s *Set) Difference(o *Set) *Set {
	if s == nil || o == nil {
		return kept(s)
	}
	d := &Set{Self: s.Self && !o.Self}
	for key, c := range s.Children {
		d.put(key, c.Difference(o.Children[key]))
	}
	return d
}

// Intersection returns the fields that s and o have.
func (s *Set) Intersection(o *Set) *Set {
	n := &Set{}
	if s == nil || o == nil {
		return n
	}
	n.Self = s.Self && o.Self
	for key, c := range s.Children {
		n.put(key, c.Intersection(o.Children[key]))
	}
	return n
}

// kept returns s, or an empty set if s is nil.
func kept(s *Set) *Set {
	if s == nil {
		return &Set{}
	}
	return s
}

// put adds c as the part of a key, unless c is empty.
func (s *Set) put(key string, c *Set) {
	if c == nil || !c.Self && len(c.Children) == 0 {
		return
	}
	if s.Children == nil {
		s.Children = make(map[string]*Set)
	}
	s.Children[key] = c
}

// Paths yields the keys that lead to each field of the set, in the order in which a server writes them: a field comes
// before those within it, members are sorted by name and come before elements. Each slice belongs to the caller.
func (s *Set) Paths() iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		if s != nil {
			s.visit(nil, yield)
		}
	}
}

func (s *Set) visit(path []string, yield func([]string) bool) bool {
	if s.Self && !yield(slices.Clone(path)) {
		return false
	}
	for _, key := range s.keys() {
		if c := s.Children[key]; c != nil && !c.visit(append(path, key), yield) {
			return false
		}
	}
	return true
}
