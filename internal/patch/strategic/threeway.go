package strategic

import (
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/internal/patch/carry"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// Diff returns the patch from old to new.
func Diff(old, new []byte, s *Shape) ([]byte, error) {
	docs, err := parseObjects(input{theOld, old}, input{theNew, new})
	if err != nil {
		return nil, err
	}
	if err := checkNulls(&docs[0], &docs[1], s, nil); err != nil {
		return nil, err
	}
	d := differ{additions: true, deletions: true, order: true, theOld: theOld, theNew: theNew}
	change, err := d.object(&docs[0], &docs[1], s, false, nil)
	if err != nil {
		return nil, err
	}
	return encoded(tree.Node{Branch: change})
}

// ThreeWay returns the patch that makes the change from original, which may be empty, to modified in current. If
// findConflicts is set, ThreeWay looks for conflicts: members that differ between original and current, and to which
// the patch gives yet another value. If there are any, it returns the JSON pointers to these members of the patch, and
// no body.
func ThreeWay(original, modified, current []byte, s *Shape, findConflicts bool) (body []byte, conflicts []string, err error) {
	if len(original) == 0 {
		original = []byte("{}")
	}
	docs, err := parseObjects(input{theOriginal, original}, input{theModified, modified}, input{theLive, current})
	if err != nil {
		return nil, nil, err
	}
	was, want, live := &docs[0], &docs[1], &docs[2]
	configured := was
	if o, m, changed := (twins{carry.NewPairer()}).objects(was, want, live, s); changed {
		if configured, want, err = readAgain(o, m); err != nil {
			return nil, nil, err
		}
	}
	change, err := differ{deletions: true, order: true, theOld: theOriginal, theNew: theModified}.object(configured, want, s, false, nil)
	if err != nil {
		return nil, nil, err
	}
	prune(change, live, s)
	delta, err := differ{additions: true, order: true, theOld: theLive, theNew: theModified}.object(live, want, s, false, nil)
	if err != nil {
		return nil, nil, err
	}
	joined := tree.Node{Branch: change}
	if err := (merger{join: true}).object(&joined, &tree.Node{Branch: delta}, s, nil); err != nil {
		return nil, nil, err
	}
	if findConflicts {
		theirs, err := differ{additions: true, deletions: true, theOld: theOriginal, theNew: theLive}.object(was, live, s, false, nil)
		if err != nil {
			return nil, nil, err
		}
		var c conflictFinder
		c.objects(&joined, &tree.Node{Branch: theirs}, s, nil)
		if len(c.paths) > 0 {
			return nil, c.paths, nil
		}
	}
	body, err = encoded(joined)
	return body, nil, err
}

// readAgain writes an original and a modified configuration that have been changed, and reads them again.
func readAgain(original, modified tree.Node) (*tree.Node, *tree.Node, error) {
	var docs [2]tree.Node
	for i, doc := range [...]struct {
		what string
		tree.Node
	}{{theOriginal, original}, {theModified, modified}} {
		text, err := doc.AppendTo(nil, 0)
		if err == nil {
			docs[i], err = parseObject(doc.what, text)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return &docs[0], &docs[1], nil
}

const (
	theOriginal = "the original configuration"
	theModified = "the modified configuration"
	theLive     = "the live object"
)

// input is a document and its name in errors.
type input struct {
	what string
	doc  []byte
}

// parseObjects reads documents, and refuses directives in them.
func parseObjects(inputs ...input) ([]tree.Node, error) {
	docs := make([]tree.Node, 0, len(inputs))
	for _, in := range inputs {
		doc, err := parseObject(in.what, in.doc)
		if err != nil {
			return nil, err
		}
		if err := refuseDirectives(in.what, &doc, "this is a document, not a patch", nil); err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// encoded returns the text of a computed patch.
func encoded(change tree.Node) ([]byte, error) {
	body, err := change.AppendTo(nil, 0)
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	return body, nil
}

// prune removes from a patch of deletions the parts about objects, lists and items that the live object does not have.
// The patch adds such objects whole. In a new value, a server would keep directives as members, and add the members
// that it should delete.
func prune(change *tree.Branch, live *tree.Node, s *Shape) {
	there := live.Open()
	for i := range change.Members {
		m := &change.Members[i]
		if m.Gone {
			continue
		}
		name := string(m.Name)
		_, of, directs := directive(m.Name)
		if directs {
			name = of
		}
		live := tree.Absent()
		if j := there.Find(name); j >= 0 {
			live = there.Members[j].Value
		}
		f := s.member(m.Name)
		switch kind := m.Value.Kind(); {
		case kind != '{' && kind != '[' || directs && of == "":
		case kind != live.Kind():
			change.Remove(i)
		case directs:
		case kind == '{':
			prune(m.Value.Open(), &live, f.Shape)
		case f.Merge && f.MergeKey != "" && !replaces(&m.Value):
			if pruneItems(m.Value.Open(), &live, f); len(m.Value.Open().Items) == 0 {
				change.Remove(i)
			}
		}
	}
}

func pruneItems(change *tree.Branch, live *tree.Node, f Field) {
	items := byID(live.Open().Items, f.MergeKey)
	change.Items = slices.DeleteFunc(change.Items, func(v tree.Node) bool {
		if _, ok := v.Lookup(directivePatch); ok || v.Kind() != '{' {
			return false
		}
		item := items[idOf(&v, f.MergeKey)]
		if item != nil {
			prune(v.Open(), item, f.Shape.item())
		}
		return item == nil
	})
}

// byID returns the objects of a list by their merge key.
func byID(list []tree.Node, mergeKey string) map[string]*tree.Node {
	items := make(map[string]*tree.Node, len(list))
	for i := range list {
		if list[i].Kind() == '{' {
			items[idOf(&list[i], mergeKey)] = &list[i]
		}
	}
	return items
}

// idOf returns the merge key of an item, or "" if it has none.
func idOf(v *tree.Node, mergeKey string) string {
	id, ok := v.Lookup(mergeKey)
	if !ok {
		return ""
	}
	key, _ := scalarKey(&id)
	return string(key)
}
