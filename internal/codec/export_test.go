package codec

import "reflect"

// UnmarshalType is Unmarshal into a new value of a type that is known at run time only. It returns the pointer to it.
func UnmarshalType(t reflect.Type, raw []byte) (any, error) {
	to := newPlace(t)
	if _, err := (request{}).document(plans.of(t), to, raw); err != nil {
		err.whole(t)
		return nil, err
	}
	return to.method(t), nil
}

// Members returns the members of a struct, or of what a pointer, the elements of a list or the values of a map lead to. There are
// none of other types.
func Members(t reflect.Type) map[string]reflect.Type {
	p := plans.of(t)
	for p.shape == shapePointer || p.shape == shapeSlice || p.shape == shapeArray || p.shape == shapeMap {
		p = p.elem
	}
	if p.shape != shapeStruct {
		return nil
	}
	members := map[string]reflect.Type{}
	for _, f := range p.fields {
		members[f.name] = f.plan.typ
		if f.plan != plans.of(f.plan.typ) { // the tag says more than the type
			members[f.name] = reflect.TypeFor[string]()
		}
	}
	return members
}
