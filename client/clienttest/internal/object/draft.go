// Package object represents objects as an API server handles them: drafts on their way into the store, which are
// validated there; revisions, which the store keeps; and trees of revisions, which are collections.
package object

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/meta"
)

// Draft is an object on its way into the store: typed metadata, and the rest as it was sent.
type Draft struct {
	APIVersion, Kind string
	Meta             meta.ObjectMeta
	Content          jsontree.Object // every member but apiVersion, kind and metadata

	// Versions is the object in each version of its resource, by apiVersion, if a webhook has converted it.
	Versions map[string]*Draft
}

// TypeOf reads the kind that an object names.
func TypeOf(body []byte) (meta.TypeMeta, error) {
	// A real server's error shows this whole type.
	var is struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(body, &is); err != nil {
		return meta.TypeMeta{}, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	return meta.TypeMeta{APIVersion: is.APIVersion, Kind: is.Kind}, nil
}

// Parse reads an object. The error is a *DecodeError.
func Parse(body []byte) (*Draft, error) {
	var m map[string]json.RawMessage
	_, err := TypeOf(body)
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		return nil, &DecodeError{Err: err}
	}
	d := &Draft{Content: make(jsontree.Object, len(m))}
	// The kind is read first, because later errors contain it.
	for _, f := range []struct {
		name string
		into any
	}{{"kind", &d.Kind}, {"apiVersion", &d.APIVersion}, {"metadata", &d.Meta}} {
		if raw, found := m[f.name]; found {
			if err := json.Unmarshal(raw, f.into); err != nil {
				return nil, &DecodeError{d.APIVersion, d.Kind, inWords(err), f.name == "metadata"}
			}
			delete(m, f.name)
		}
	}
	for k, raw := range m {
		if d.Content[k], err = jsontree.Parse(raw); err != nil {
			return nil, &DecodeError{APIVersion: d.APIVersion, Kind: d.Kind, Err: err}
		}
	}
	return d, nil
}

// inWords returns an error about metadata in a real server's words. The server's types have other names, and its
// errors about times are those of the time package alone.
func inWords(err error) error {
	text := strings.ReplaceAll(err.Error(), "Go value of type meta.", "Go value of type v1.")
	return errors.New(strings.TrimPrefix(text, "decode time: it must be an RFC 3339 string: "))
}

// DecodeError says that an object cannot be read. It has the kind that the object names, if that is readable.
type DecodeError struct {
	APIVersion, Kind string
	Err              error
	InMetadata       bool
}

func (e *DecodeError) Error() string { return e.Err.Error() }

// Key returns the namespace and the name of the object.
func (d *Draft) Key() meta.Key { return meta.Key{Namespace: d.Meta.Namespace, Name: d.Meta.Name} }

// Clone returns a draft whose metadata and members may be replaced. Deeper values are shared and must not be changed.
func (d *Draft) Clone() *Draft {
	c := *d
	c.Meta.Labels, c.Meta.Annotations = maps.Clone(d.Meta.Labels), maps.Clone(d.Meta.Annotations)
	c.Meta.Finalizers = slices.Clone(d.Meta.Finalizers)
	c.Content = maps.Clone(d.Content)
	return &c
}

// Normalize brings an object into the form that the real server keeps, so that objects with the same meaning are equal.
// It drops empty metadata, and in a compiled-in type nulls and empty maps of strings. It sets defaults, and writes
// times, quantities and numbers as the server does. The error says that a value does not fit its type.
func (d *Draft) Normalize(t *Type) error {
	if t.Builtin {
		t.Shape().DropNulls(d.Content)
		for _, name := range t.textMaps() {
			m, ok := d.Content[name].(jsontree.Object)
			if v, found := d.Content[name]; found && !ok {
				return d.mismatch(v, t, name, "map[string]string")
			}
			texts := make(jsontree.Object, len(m))
			for k, v := range m {
				s, ok := v.(string)
				if !ok && v != nil {
					return d.mismatch(v, t, name, "string")
				}
				texts[k] = s
			}
			if d.Content[name] = texts; len(texts) == 0 {
				delete(d.Content, name)
			}
		}
		if err := t.Shape().Misfit(d.Content); err != nil {
			return &DecodeError{Kind: d.Kind, APIVersion: d.APIVersion, Err: err}
		}
		t.Shape().SetTimes(d.Content)
		t.Shape().SetQuantities(d.Content)
		if t.Defaults != nil {
			t.Defaults(d.Content)
		}
	} else {
		if n := jsontree.OutOfRange(d.Content); n != "" {
			err := fmt.Errorf("json: cannot unmarshal number %s into Go value of type float64", n)
			return &DecodeError{Kind: d.Kind, APIVersion: d.APIVersion, Err: err}
		}
		for name, v := range d.Content {
			d.Content[name] = Canonical(v)
		}
		t.Declared.Complete(d.Content)
	}
	d.dropEmpty()
	return nil
}

// Canonical returns a value of a custom resource with its numbers as a real server keeps them: as a 64-bit integer if
// possible (3.0 and 1e3 are integers too), or else as a floating-point number in the form of encoding/json.
func Canonical(v any) any {
	switch v := v.(type) {
	case jsontree.Object:
		for k, e := range v {
			v[k] = Canonical(e)
		}
	case []any:
		for i, e := range v {
			v[i] = Canonical(e)
		}
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil && v != "-0" {
			return v
		}
		f, _ := v.Float64()            // it is in range
		text, _ := json.Marshal(f + 0) // and not -0
		return json.Number(text)
	}
	return v
}

// Fill adds the missing members that a compiled-in type always writes: empty objects, null, and the other members that
// the kind has when nothing is set. It adds no count of replicas, because a real server gives that a default.
func (t *Type) Fill(d *Draft) {
	if !t.Builtin {
		return
	}
	d.Content, _ = t.Shape().Filled(d.Content).(jsontree.Object)
	delete(d.Content, "metadata")
	if t.Blank != nil {
		d.Content, _ = withBlank(d.Content, t.Blank.members())
	}
}

// withBlank returns m with the members of blank that it lacks, also in the objects that both have, and whether that is
// another value than m.
func withBlank(m, blank jsontree.Object) (_ jsontree.Object, changed bool) {
	for k, e := range blank {
		was, found := m[k]
		inner, isObject := was.(jsontree.Object)
		empty, wantsObject := e.(jsontree.Object)
		differs := !found && !wantsObject && k != "replicas"
		if isObject && wantsObject {
			e, differs = withBlank(inner, empty)
		}
		if differs && !changed {
			m, changed = maps.Clone(m), true
		}
		if differs {
			m[k] = e
		}
	}
	return m, changed
}

// dropEmpty drops empty metadata.
func (d *Draft) dropEmpty() {
	d.Meta.SelfLink = ""
	if len(d.Meta.Labels) == 0 {
		d.Meta.Labels = nil
	}
	if len(d.Meta.Annotations) == 0 {
		d.Meta.Annotations = nil
	}
	if len(d.Meta.Finalizers) == 0 {
		d.Meta.Finalizers = nil
	}
	if len(d.Meta.OwnerReferences) == 0 {
		d.Meta.OwnerReferences = nil
	}
}

// ReadMetadata reads the metadata of a document again, without members whose names differ from the API's:
// encoding/json would take Labels for labels, and a real server does not.
func (d *Draft) ReadMetadata(doc []byte) {
	v, _ := jsontree.Parse(doc) // it was read before
	whole, _ := v.(jsontree.Object)
	schema.Builtin().Metadata().Prune(whole["metadata"])
	d.Meta = meta.ObjectMeta{}
	_ = json.Unmarshal(jsontree.Append(nil, whole["metadata"]), &d.Meta)
	d.dropEmpty()
}

func (d *Draft) mismatch(v any, t *Type, name, want string) error {
	return &DecodeError{Kind: d.Kind, APIVersion: d.APIVersion, Err: fmt.Errorf(
		"json: cannot unmarshal %s into Go struct field %s.%s of type %s", jsontree.KindOf(v), t.Of.Kind, name, want)}
}

// SameAs reports whether d would change nothing of old except managed fields.
func (d *Draft) SameAs(old *Draft) bool {
	return SameMeta(d.Meta, old.Meta) && maps.EqualFunc(d.Content, old.Content, jsontree.Equal)
}

// SameMeta reports whether two objects have the same metadata, apart from managed fields.
func SameMeta(a, b meta.ObjectMeta) bool {
	a.ManagedFields, b.ManagedFields = nil, nil
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// SameSpec reports whether d changes nothing that metadata.generation counts: everything except metadata, and except
// status if that is a subresource.
func (d *Draft) SameSpec(old *Draft, t *Type) bool {
	without := func(m jsontree.Object) jsontree.Object {
		if !t.Apart {
			return m
		}
		m = maps.Clone(m)
		delete(m, "status")
		return m
	}
	return maps.EqualFunc(without(d.Content), without(old.Content), jsontree.Equal)
}

// Value returns the whole object as one value, without managedFields.
func (d *Draft) Value() jsontree.Object {
	out := make(jsontree.Object, len(d.Content)+3)
	maps.Copy(out, d.Content)
	out["apiVersion"], out["kind"], out["metadata"] = d.APIVersion, d.Kind, valueOf(&d.Meta)
	return out
}

// Member returns a copy of a member that is an object, which the caller may change. It is empty if there is no such
// member.
func (d *Draft) Member(name string) jsontree.Object {
	m, _ := d.Content[name].(jsontree.Object)
	if m = maps.Clone(m); m == nil {
		m = jsontree.Object{}
	}
	return m
}
