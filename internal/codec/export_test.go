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
