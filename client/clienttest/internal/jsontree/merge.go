package jsontree

// Merge applies a JSON merge patch (RFC 7386) to a tree. It changes target in place, which must not be used afterwards;
// the result may share parts with both.
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
