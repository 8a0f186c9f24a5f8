package patch

// ApplyMerge returns the document that doc becomes when the JSON merge patch is applied to it, exactly as RFC 7386 says:
// null removes a member, lists are replaced whole, and a patch that is no object replaces the document. It is an error if
// either is not JSON.
func ApplyMerge(doc, mergePatch []byte) ([]byte, error) {
	target, err := parse("the document", doc)
	if err != nil {
		return nil, err
	}
	change, err := parse("the merge patch", mergePatch)
	if err != nil {
		return nil, err
	}
	return format(MergeValue(target, change))
}

// MergeValue is ApplyMerge for decoded documents, whose objects are map[string]any and whose lists are []any. target is
// changed in place and must not be used afterwards; the result may share parts with both.
func MergeValue(target, change any) any {
	members, ok := change.(map[string]any)
	if !ok {
		return change
	}
	object, ok := target.(map[string]any)
	if !ok || object == nil {
		object = make(map[string]any, len(members))
	}
	for name, value := range members {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = MergeValue(object[name], value)
		}
	}
	return object
}
