package jsontree

// Merge applies a JSON merge patch (RFC 7386) to a tree. It changes target in place, so the caller must not use target
// afterwards; the result may share parts with both arguments.
func Merge(target, change any) any {
	members, ok := change.(Object)
	if !ok {
		return change
	}
	object, ok := target.(Object)
	if !ok || object == nil {
		object = make(Object, len(members))
	}
	for name, value := range members {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = Merge(object[name], value)
		}
	}
	return object
}
