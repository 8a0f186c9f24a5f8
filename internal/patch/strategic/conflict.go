package strategic

import "github.com/bowline-go/bowline/internal/patch/tree"

// conflictFinder finds the places that two patches set to different values.
type conflictFinder struct {
	paths []string
}

func (c *conflictFinder) add(at *place) { c.paths = append(c.paths, at.String()) }

func (c *conflictFinder) objects(ours, theirs *tree.Node, s *Shape, at *place) {
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

func (c *conflictFinder) values(ours, theirs *tree.Node, f Field, at *place) {
	switch kind := ours.Kind(); {
	case kind != theirs.Kind():
	case kind == '{':
		if !f.Replace {
			c.objects(ours, theirs, f.Shape, at)
		}
		return
	case kind == '[' && f.Merge && !replaces(ours) && !replaces(theirs):
		if f.MergeKey != "" { // lists without a key are sets, and are united
			c.items(ours, theirs, f, at)
		}
		return
	}
	if !tree.Alike(ours, theirs) {
		c.add(at)
	}
}

func (c *conflictFinder) items(ours, theirs *tree.Node, f Field, at *place) {
	items, list := byID(theirs.Open().Items, f.MergeKey), ours.Open().Items
	for i := range list {
		v := &list[i]
		if v.Kind() != '{' {
			continue
		}
		if other := items[idOf(v, f.MergeKey)]; other != nil {
			c.objects(v, other, f.Shape.item(), at.item(i))
		}
	}
}
