package patch

import "fmt"

// strategicConflict says that current has changed where the patch of a [strategicThreeWay] changes it too.
type strategicConflict struct {
	Paths []string // JSON pointers into the patch; at least one
}

func (e *strategicConflict) Error() string {
	return fmt.Sprintf("patch: the live object has changed at %q since it was configured", e.Paths)
}

// conflicts finds where two patches set the same thing to different values.
type conflicts struct {
	paths []string
}

func (c *conflicts) add(at *place) { c.paths = append(c.paths, at.String()) }

func (c *conflicts) objects(ours, theirs *node, s *shape, at *place) {
	if ours.Word(directivePatch) != theirs.Word(directivePatch) {
		c.add(at)
		return
	}
	b := theirs.Open()
	for m := range ours.Open().Each {
		if i := b.Find(string(m.Name)); i >= 0 && !isDirective(m.Name) {
			c.values(&m.Value, &b.Members[i].Value, s.member(m.Name), at.member(m.Name))
		}
	}
}

func (c *conflicts) values(ours, theirs *node, f field, at *place) {
	switch kind := ours.Kind(); {
	case kind != theirs.Kind():
	case kind == '{':
		if !f.replace {
			c.objects(ours, theirs, f.shape, at)
		}
		return
	case kind == '[' && f.merge && !replaces(ours) && !replaces(theirs):
		if f.mergeKey != "" { // or they are sets, which add to one another
			c.items(ours, theirs, f, at)
		}
		return
	}
	if !alike(ours, theirs) {
		c.add(at)
	}
}

func (c *conflicts) items(ours, theirs *node, f field, at *place) {
	items, list := byID(theirs.Open().Items, f.mergeKey), ours.Open().Items
	for i := range list {
		v := &list[i]
		if v.Kind() != '{' {
			continue
		}
		if other := items[idOf(v, f.mergeKey)]; other != nil {
			c.objects(v, other, f.shape.item(), at.item(i))
		}
	}
}
