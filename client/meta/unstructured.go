package meta

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Unstructured is an object without a struct: its JSON as maps, slices and scalars. Use it for kinds that are unknown
// when the program is written; a struct with the fields that the program reads is smaller and faster. *Unstructured is
// an [Object]; the zero Unstructured is empty and ready to be set.
//
// Decoding produces map[string]any, []any, string, bool and nil. A number becomes an int64 if it is written as an
// integer and fits, a float64 if it has a fraction or an exponent, and a [json.Number] if both would lose precision. So
// every integer is encoded as it was decoded. Names are case-sensitive.
//
// Read other fields with [Nested] and write them with [SetNested], which accepts any Go integer. Object can be read and
// written freely; the methods accept the types that Go code stores there (int, map[string]string), and treat a field of
// the wrong type as absent.
type Unstructured struct {
	Object map[string]any
}

// MarshalJSON returns the object as JSON. It has a value receiver so that it also applies to an Unstructured inside
// another struct.
func (u Unstructured) MarshalJSON() ([]byte, error) {
	if u.Object == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(u.Object)
}

// UnmarshalJSON replaces the object by the JSON object in b. A JSON null changes nothing; any other value is an error.
func (u *Unstructured) UnmarshalJSON(b []byte) error {
	v, err := decodeValue(b)
	if err != nil {
		return fmt.Errorf("decode object: %w", err)
	}
	switch v := v.(type) {
	case map[string]any:
		u.Object = v
	case nil:
	default:
		return fmt.Errorf("decode object: it must be a JSON object, got %s", describe(v))
	}
	return nil
}

// DeepCopy returns a copy that shares nothing with u; it is nil if u is. [Clone] uses it.
func (u *Unstructured) DeepCopy() *Unstructured {
	if u == nil {
		return nil
	}
	return &Unstructured{Object: Clone(u.Object)}
}

// GVK returns the kind that the object's apiVersion and kind fields name.
func (u *Unstructured) GVK() GVK {
	return TypeMeta{APIVersion: u.text("apiVersion"), Kind: u.text("kind")}.GVK()
}

// SetTypeMeta sets the fields apiVersion and kind.
func (u *Unstructured) SetTypeMeta(apiVersion, kind string) {
	if u.Object == nil {
		u.Object = map[string]any{}
	}
	u.Object["apiVersion"], u.Object["kind"] = apiVersion, kind
}

// GetNamespace returns the namespace; it is empty for an object of a cluster-wide resource.
func (u *Unstructured) GetNamespace() string { return u.text("metadata", "namespace") }

// SetNamespace sets the namespace; an empty one removes the field.
func (u *Unstructured) SetNamespace(namespace string) { u.setText("namespace", namespace) }

// GetName returns the name.
func (u *Unstructured) GetName() string { return u.text("metadata", "name") }

// SetName sets the name; an empty one removes the field.
func (u *Unstructured) SetName(name string) { u.setText("name", name) }

// GetUID returns the uid that the server gave the object when it was created.
func (u *Unstructured) GetUID() string { return u.text("metadata", "uid") }

// GetResourceVersion returns the opaque version of this state of the object.
func (u *Unstructured) GetResourceVersion() string { return u.text("metadata", "resourceVersion") }

// GetGeneration returns the number that the server increments with each change of the desired state; 0 if it is not
// set.
func (u *Unstructured) GetGeneration() int64 {
	n, _, _ := Nested[int64](u.object(), "metadata", "generation")
	return n
}

// GetLabels returns a copy of the labels; nil if there are none.
func (u *Unstructured) GetLabels() map[string]string { return stringMap(u.metadata()["labels"]) }

// GetAnnotations returns a copy of the annotations; nil if there are none.
func (u *Unstructured) GetAnnotations() map[string]string {
	return stringMap(u.metadata()["annotations"])
}

// GetFinalizers returns a copy of the finalizers.
func (u *Unstructured) GetFinalizers() []string {
	switch v := u.metadata()["finalizers"].(type) {
	case []string:
		return slices.Clone(v)
	case []any:
		var out []string
		for _, elem := range v {
			if s, ok := elem.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// GetOwnerReferences returns a copy of the owner references.
func (u *Unstructured) GetOwnerReferences() []OwnerReference {
	var out []OwnerReference
	switch v := u.metadata()["ownerReferences"].(type) {
	case []OwnerReference:
		return Clone(v)
	case []any:
		for _, elem := range v {
			if m, ok := elem.(map[string]any); ok {
				out = append(out, ownerFromMap(m))
			}
		}
	case []map[string]any:
		for _, m := range v {
			out = append(out, ownerFromMap(m))
		}
	}
	return out
}

// SetOwnerReferences replaces the owner references with a copy of owners; an empty slice removes the field.
func (u *Unstructured) SetOwnerReferences(owners []OwnerReference) {
	list := make([]any, len(owners))
	for i, o := range owners {
		m := map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "name": o.Name, "uid": o.UID}
		if o.Controller != nil {
			m["controller"] = *o.Controller
		}
		if o.BlockOwnerDeletion != nil {
			m["blockOwnerDeletion"] = *o.BlockOwnerDeletion
		}
		list[i] = m
	}
	u.setMetadata("ownerReferences", list, len(list) == 0)
}

// GetDeletionTimestamp returns when deletion was requested; nil if it was not, or if the field is not an RFC 3339 time.
// [IsDeleting] reports whether the field is present at all.
func (u *Unstructured) GetDeletionTimestamp() *Time {
	t, err := parseTime(u.text("metadata", "deletionTimestamp"))
	if err != nil {
		return nil
	}
	return &t
}

// deleting reports whether the deletion timestamp is present, well-formed or not.
func (u *Unstructured) deleting() bool { return u.metadata()["deletionTimestamp"] != nil }

func (u *Unstructured) object() map[string]any {
	if u == nil {
		return nil
	}
	return u.Object
}

// metadata returns the object's metadata for reading; nil if it has none.
func (u *Unstructured) metadata() map[string]any {
	m, _ := u.object()["metadata"].(map[string]any)
	return m
}

func (u *Unstructured) text(path ...string) string {
	leaf, _, _ := lookup(u.object(), path)
	s, _ := leaf.(string)
	return s
}

// setMetadata sets one field of the metadata or removes it. It creates the metadata if it is missing, and replaces it
// if it is not an object, which no server would accept.
func (u *Unstructured) setMetadata(field string, value any, remove bool) {
	m := u.metadata()
	if m == nil {
		if remove {
			return
		}
		if u.Object == nil {
			u.Object = map[string]any{}
		}
		m = map[string]any{}
		u.Object["metadata"] = m
	}
	if remove {
		delete(m, field)
		return
	}
	m[field] = value
}

func (u *Unstructured) setText(field, value string) { u.setMetadata(field, value, value == "") }

func ownerFromMap(m map[string]any) OwnerReference {
	var o OwnerReference
	o.APIVersion, _ = m["apiVersion"].(string)
	o.Kind, _ = m["kind"].(string)
	o.Name, _ = m["name"].(string)
	o.UID, _ = m["uid"].(string)
	o.Controller = boolOf(m["controller"])
	o.BlockOwnerDeletion = boolOf(m["blockOwnerDeletion"])
	return o
}

func boolOf(v any) *bool {
	switch v := v.(type) {
	case bool:
		return &v
	case *bool:
		return Clone(v)
	}
	return nil
}

func parseTime(s string) (Time, error) {
	if s == "" {
		return Time{}, errors.New("the time is empty")
	}
	t, err := time.Parse(time.RFC3339, s)
	return Time{t.Local()}, err
}
