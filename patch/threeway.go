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
	change, err := d.object(docs[0], docs[1], s.root, false, nil)
	if err != nil {
		return Patch{}, err
	}
	return strategicPatch(change, s)
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
// do; where current has more items in a merged list than modified, the patch still gives the order of modified's, and a member
// that original had and modified has not is null in it whether or not current has it still.
//
// What [DiffStrategic] says of lists and of the zero Schema holds here too. A list with two items of one merge key that needs
// a change is replaced with modified's whole.
func ThreeWay(original, modified, current []byte, s Schema, o ThreeWayOptions) (Patch, error) {
	if len(original) == 0 {
		original = []byte("{}")
	}
	docs, err := parseObjects(s, input{theOriginal, original}, input{theModified, modified}, input{theLive, current})
	if err != nil {
		return Patch{}, err
	}
	was, want, live := docs[0], docs[1], docs[2]
	change, err := differ{deletions: true, order: true, theOld: theOriginal, theNew: theModified}.object(was, want, s.root, false, nil)
	if err != nil {
		return Patch{}, err
	}
	prune(change, live, s.root)
	delta, err := differ{additions: true, order: true, theOld: theLive, theNew: theModified}.object(live, want, s.root, false, nil)
	if err != nil {
		return Patch{}, err
	}
	if change, err = (merger{join: true}).object(change, delta, s.root, nil); err != nil {
		return Patch{}, err
	}
	if o.RefuseConflicts {
		theirs, err := differ{additions: true, deletions: true, theOld: theOriginal, theNew: theLive}.object(was, live, s.root, false, nil)
		if err != nil {
			return Patch{}, err
		}
		var c conflicts
		c.objects(change, theirs, s.root, nil)
		if len(c.paths) > 0 {
			return Patch{}, &MergeConflictError{Paths: c.paths}
		}
	}
	return strategicPatch(change, s)
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
func parseObjects(s Schema, inputs ...input) ([]map[string]any, error) {
	if s.err != nil {
		return nil, s.err
	}
	var docs []map[string]any
	for _, in := range inputs {
		doc, err := parseObject(in.what, in.doc)
		if err != nil {
			return nil, err
		}
		if err := refuseDirectives(in.what, doc, "this is a document, not a patch", nil); err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

func strategicPatch(change map[string]any, s Schema) (Patch, error) {
	body := appendValue(nil, change)
	if s.root == nil {
		return Patch{mediaType: MergeType, body: body}, nil
	}
	return Patch{mediaType: StrategicType, body: body}, nil
}

// prune takes out of a patch of deletions what is about objects, lists and items that the live object does not have. What is
// wanted of them is added whole, and in what is new a server keeps directives as members, and adds what it should delete.
func prune(change, live map[string]any, s *shape) {
	for _, name := range names(change) {
		if _, of, ok := directive(name); ok {
			if _, isList := live[of].([]any); !isList && of != "" {
				delete(change, name)
			}
			continue
		}
		f := s.member(name)
		switch value := change[name].(type) {
		case map[string]any:
			if live, ok := live[name].(map[string]any); ok {
				prune(value, live, f.shape)
			} else {
				delete(change, name)
			}
		case []any:
			if live, ok := live[name].([]any); !ok {
				delete(change, name)
			} else if f.merge && f.mergeKey != "" && !replaces(value) {
				if value = pruneItems(value, live, f); len(value) == 0 {
					delete(change, name)
				} else {
					change[name] = value
				}
			}
		}
	}
}

func pruneItems(change, live []any, f field) []any {
	items := make(map[string]map[string]any, len(live))
	for _, v := range live {
		if object, ok := v.(map[string]any); ok {
			key, _ := scalarKey(object[f.mergeKey])
			items[key] = object
		}
	}
	return slices.DeleteFunc(change, func(v any) bool {
		object, _ := v.(map[string]any)
		if _, ok := object[directivePatch]; ok || object == nil {
			return false
		}
		key, _ := scalarKey(object[f.mergeKey])
		if items[key] == nil {
			return true
		}
		prune(object, items[key], f.shape.item())
		return false
	})
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

func (c *conflicts) objects(ours, theirs map[string]any, s *shape, at *place) {
	if ours[directivePatch] != theirs[directivePatch] {
		c.add(at)
		return
	}
	for _, name := range names(ours) {
		if _, _, ok := directive(name); ok {
			continue
		}
		if value, ok := theirs[name]; ok {
			c.values(ours[name], value, s.member(name), at.member(name))
		}
	}
}

func (c *conflicts) values(ours, theirs any, f field, at *place) {
	switch a := ours.(type) {
	case map[string]any:
		if b, ok := theirs.(map[string]any); ok {
			if !f.replace {
				c.objects(a, b, f.shape, at)
			}
			return
		}
	case []any:
		if b, ok := theirs.([]any); ok {
			c.lists(a, b, f, at)
			return
		}
	}
	if !equal(ours, theirs) {
		c.add(at)
	}
}

func (c *conflicts) lists(ours, theirs []any, f field, at *place) {
	if f.merge && (replaces(ours) || replaces(theirs)) {
		if !equal(ours, theirs) {
			c.add(at)
		}
		return
	}
	if f.merge && f.mergeKey == "" {
		return // sets, which add to one another
	}
	if f.merge {
		items := make(map[string]map[string]any, len(theirs))
		for _, v := range theirs {
			object, _ := v.(map[string]any)
			key, _ := scalarKey(object[f.mergeKey])
			items[key] = object
		}
		for i, v := range ours {
			object, _ := v.(map[string]any)
			key, _ := scalarKey(object[f.mergeKey])
			if other := items[key]; object != nil && other != nil {
				c.objects(object, other, f.shape.item(), at.item(i))
			}
		}
		return
	}
	if !equal(ours, theirs) {
		c.add(at)
	}
}
