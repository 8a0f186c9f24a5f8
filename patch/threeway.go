package patch

import (
	"fmt"
	"slices"
	"strings"
)

// DiffStrategic returns the strategic merge patch that makes new of old, which are JSON objects. Its body is {} if nothing
// differs. It is what a server and its clients compute for the same documents, in as few words as that has.
//
// Applied to old the patch gives new, except that members that are null count as absent, and that a list of scalars that is
// merged, such as finalizers, is a set: what stands in it twice may then stand there once. Where two items of a merged list
// have one merge key, as the ports 53 of TCP and UDP, no patch can tell them apart, and the list is replaced whole; such
// items then stand together, as a server puts them.
//
// With the zero Schema the Patch is a JSON merge patch, which says the same and which a server takes for custom resources too.
// Errors about the documents are of type [*StrategicError]; a document with directives in it is one.
func DiffStrategic(old, new []byte, s Schema) (Patch, error) {
	docs, err := parseObjects(s, input{theOld, old}, input{theNew, new})
	if err != nil {
		return Patch{}, err
	}
	d := differ{additions: true, deletions: true, order: true, theOld: theOld, theNew: theNew}
	change, err := d.object(&docs[0], &docs[1], s.root, false, nil)
	if err != nil {
		return Patch{}, err
	}
	return strategicPatch(node{branch: change}, s)
}

// ThreeWayOptions says how [ThreeWay] merges.
type ThreeWayOptions struct {
	// RefuseConflicts makes it a [*MergeConflictError] if the patch sets what someone else has changed since original to another
	// value. By default modified wins.
	RefuseConflicts bool
}

// ThreeWay returns the patch that brings an object to a configuration, as kubectl apply does on the client's side: original is
// the configuration that was applied last, modified is the one to apply, and current is the live object. What modified has is
// set where current differs, what original had and modified no longer has is removed, and everything else stays, such as what
// the server and others have put there. original may be empty: then nothing is removed. The body is {} if there is nothing to
// do; where current has more items in a merged list than modified, the patch still gives the order of modified's. A member that
// original had and modified does not have is null in the patch, whether or not current still has it. If current does not have the
// object around that member, there is nothing to remove: the patch does not name the member, and adds that object as modified has it.
//
// What [DiffStrategic] says of lists and of the zero Schema holds here too. A list that needs a change, and in which two items have
// one merge key, is replaced whole: by modified's items, each with what current has of it besides, and by the items that others
// have put into current's list. Of items with one key those are taken for the same that have most in common.
func ThreeWay(original, modified, current []byte, s Schema, o ThreeWayOptions) (Patch, error) {
	if len(original) == 0 {
		original = []byte("{}")
	}
	docs, err := parseObjects(s, input{theOriginal, original}, input{theModified, modified}, input{theLive, current})
	if err != nil {
		return Patch{}, err
	}
	was, want, live := &docs[0], &docs[1], &docs[2]
	configured := was
	if o, m, changed := (twins{newCarrier()}).objects(was, want, live, s.root); changed {
		if configured, want, err = readAgain(o, m); err != nil {
			return Patch{}, err
		}
	}
	change, err := differ{deletions: true, order: true, theOld: theOriginal, theNew: theModified}.object(configured, want, s.root, false, nil)
	if err != nil {
		return Patch{}, err
	}
	prune(change, live, s.root)
	delta, err := differ{additions: true, order: true, theOld: theLive, theNew: theModified}.object(live, want, s.root, false, nil)
	if err != nil {
		return Patch{}, err
	}
	joined := node{branch: change}
	if err := (merger{join: true}).object(&joined, &node{branch: delta}, s.root, nil); err != nil {
		return Patch{}, err
	}
	if o.RefuseConflicts {
		theirs, err := differ{additions: true, deletions: true, theOld: theOriginal, theNew: theLive}.object(was, live, s.root, false, nil)
		if err != nil {
			return Patch{}, err
		}
		var c conflicts
		c.objects(&joined, &node{branch: theirs}, s.root, nil)
		if len(c.paths) > 0 {
			return Patch{}, &MergeConflictError{Paths: c.paths}
		}
	}
	return strategicPatch(joined, s)
}

// readAgain writes and reads an original and a modified configuration that have been changed.
func readAgain(original, modified node) (*node, *node, error) {
	var docs [2]node
	for i, doc := range [...]struct {
		what string
		node
	}{{theOriginal, original}, {theModified, modified}} {
		text, err := doc.appendTo(nil, 0)
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

// input is a document and what errors call it.
type input struct {
	what string
	doc  []byte
}

// parseObjects reads documents, and refuses directives in them.
func parseObjects(s Schema, inputs ...input) ([]node, error) {
	if s.err != nil {
		return nil, s.err
	}
	docs := make([]node, 0, len(inputs))
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

func strategicPatch(change node, s Schema) (Patch, error) {
	body, err := change.appendTo(nil, 0)
	if err != nil {
		return Patch{}, fmt.Errorf("patch: %w", err)
	}
	if s.root == nil {
		return Patch{mediaType: MergeType, body: body}, nil
	}
	return Patch{mediaType: StrategicType, body: body}, nil
}

// prune takes out of a patch of deletions what is about objects, lists and items that the live object does not have. What is
// wanted of them is added whole, and in what is new a server keeps directives as members, and adds what it should delete.
func prune(change *branch, live *node, s *shape) {
	there := live.open()
	for i := range change.members {
		m := &change.members[i]
		if m.gone {
			continue
		}
		name := string(m.name)
		_, of, directs := directive(m.name)
		if directs {
			name = of
		}
		live := absent
		if j := there.find(name); j >= 0 {
			live = there.members[j].value
		}
		f := s.member(m.name)
		switch kind := m.value.kind(); {
		case kind != '{' && kind != '[' || directs && of == "":
		case kind != live.kind():
			change.remove(i)
		case directs:
		case kind == '{':
			prune(m.value.open(), &live, f.shape)
		case f.merge && f.mergeKey != "" && !replaces(&m.value):
			if pruneItems(m.value.open(), &live, f); len(m.value.open().items) == 0 {
				change.remove(i)
			}
		}
	}
}

func pruneItems(change *branch, live *node, f field) {
	items := byID(live.open().items, f.mergeKey)
	change.items = slices.DeleteFunc(change.items, func(v node) bool {
		if _, ok := v.lookup(directivePatch); ok || v.kind() != '{' {
			return false
		}
		item := items[idOf(&v, f.mergeKey)]
		if item != nil {
			prune(v.open(), item, f.shape.item())
		}
		return item == nil
	})
}

// byID returns the objects of a list by their merge key.
func byID(list []node, mergeKey string) map[string]*node {
	items := make(map[string]*node, len(list))
	for i := range list {
		if list[i].kind() == '{' {
			items[idOf(&list[i], mergeKey)] = &list[i]
		}
	}
	return items
}

// idOf returns the merge key of an item, and nothing if it has none.
func idOf(v *node, mergeKey string) string {
	id, ok := v.lookup(mergeKey)
	if !ok {
		return ""
	}
	key, _ := scalarKey(&id)
	return string(key)
}

// MergeConflictError says that someone else has changed what a configuration changes too. It shows no values.
type MergeConflictError struct {
	// Paths are JSON pointers (RFC 6901) into the patch, to what it would overwrite. There is at least one.
	Paths []string
}

func (e *MergeConflictError) Error() string {
	more := ""
	if n := len(e.Paths) - 5; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "patch: the live object has changed at " + strings.Join(e.Paths[:min(5, len(e.Paths))], ", ") + more + " since it was configured"
}

// conflicts finds where two patches set the same thing to different values.
type conflicts struct {
	paths []string
}

func (c *conflicts) add(at *place) { c.paths = append(c.paths, at.String()) }

func (c *conflicts) objects(ours, theirs *node, s *shape, at *place) {
	if ours.word(directivePatch) != theirs.word(directivePatch) {
		c.add(at)
		return
	}
	b := theirs.open()
	for m := range ours.open().each {
		if i := b.find(string(m.name)); i >= 0 && !isDirective(m.name) {
			c.values(&m.value, &b.members[i].value, s.member(m.name), at.member(m.name))
		}
	}
}

func (c *conflicts) values(ours, theirs *node, f field, at *place) {
	switch kind := ours.kind(); {
	case kind != theirs.kind():
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
	items, list := byID(theirs.open().items, f.mergeKey), ours.open().items
	for i := range list {
		v := &list[i]
		if v.kind() != '{' {
			continue
		}
		if other := items[idOf(v, f.mergeKey)]; other != nil {
			c.objects(v, other, f.shape.item(), at.item(i))
		}
	}
}
