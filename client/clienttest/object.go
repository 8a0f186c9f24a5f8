package clienttest

import (
	"bytes"
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

// draft is an object on its way into the store: typed metadata, and the rest as it was sent.
type draft struct {
	apiVersion, kind string
	meta             meta.ObjectMeta
	content          jsontree.Object // every member but apiVersion, kind and metadata
}

// typeOf reads what an object says that it is.
func typeOf(body []byte) (meta.TypeMeta, error) {
	// A real server has the whole of this type in its error.
	var is struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(body, &is); err != nil {
		return meta.TypeMeta{}, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	return meta.TypeMeta{APIVersion: is.APIVersion, Kind: is.Kind}, nil
}

// parseDraft reads an object. The error is a *decodeError.
func parseDraft(body []byte) (*draft, error) {
	var m map[string]json.RawMessage
	_, err := typeOf(body)
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		return nil, &decodeError{err: err}
	}
	d := &draft{content: make(jsontree.Object, len(m))}
	// What the object says it is comes first: an error further on names it.
	for _, f := range []struct {
		name string
		into any
	}{{"kind", &d.kind}, {"apiVersion", &d.apiVersion}, {"metadata", &d.meta}} {
		if raw, found := m[f.name]; found {
			if err := json.Unmarshal(raw, f.into); err != nil {
				return nil, &decodeError{d.apiVersion, d.kind, inWords(err), f.name == "metadata"}
			}
			delete(m, f.name)
		}
	}
	for k, raw := range m {
		if d.content[k], err = jsontree.Parse(raw); err != nil {
			return nil, &decodeError{apiVersion: d.apiVersion, kind: d.kind, err: err}
		}
	}
	return d, nil
}

// inWords says what is wrong with metadata as a real server does, whose types have other names and read times without a
// word of their own.
func inWords(err error) error {
	text := strings.ReplaceAll(err.Error(), "Go value of type meta.", "Go value of type v1.")
	return errors.New(strings.TrimPrefix(text, "decode time: it must be an RFC 3339 string: "))
}

// decodeError is an object that cannot be read, with what it says it is where that was readable.
type decodeError struct {
	apiVersion, kind string
	err              error
	inMetadata       bool
}

func (e *decodeError) Error() string { return e.err.Error() }

func (d *draft) key() meta.Key { return meta.Key{Namespace: d.meta.Namespace, Name: d.meta.Name} }

// clone returns a draft whose metadata and members may be replaced. Values below that are shared and must not be
// changed.
func (d *draft) clone() *draft {
	c := *d
	c.meta.Labels, c.meta.Annotations = maps.Clone(d.meta.Labels), maps.Clone(d.meta.Annotations)
	c.meta.Finalizers = slices.Clone(d.meta.Finalizers)
	c.content = maps.Clone(d.content)
	return &c
}

// normalize drops what the real server does not keep: the nulls in a compiled-in type and empty maps of its members, and
// empty metadata. So objects that mean the same are the same.
func (d *draft) normalize(r *resource) error {
	if r.builtin {
		r.shape().DropNulls(d.content)
		for _, name := range r.textMaps {
			m, ok := d.content[name].(jsontree.Object)
			if v, found := d.content[name]; found && !ok {
				return d.mismatch(v, r, name, "map[string]string")
			}
			texts := make(jsontree.Object, len(m))
			for k, v := range m {
				s, ok := v.(string)
				if !ok && v != nil {
					return d.mismatch(v, r, name, "string")
				}
				texts[k] = s
			}
			if d.content[name] = texts; len(texts) == 0 {
				delete(d.content, name)
			}
		}
		if err := r.shape().Misfit(d.content, "", ""); err != nil {
			return &decodeError{kind: d.kind, apiVersion: d.apiVersion, err: err}
		}
	} else {
		for name, v := range d.content {
			d.content[name] = canonical(v)
		}
		r.declared.Complete(d.content)
	}
	d.dropEmpty()
	return nil
}

// canonical returns a value of a custom resource with its numbers as a real server keeps them: an integer of 64 bits, which 3.0
// and 1e3 are as well, or else a floating-point number in the form that encoding/json gives it.
func canonical(v any) any {
	switch v := v.(type) {
	case jsontree.Object:
		for k, e := range v {
			v[k] = canonical(e)
		}
	case []any:
		for i, e := range v {
			v[i] = canonical(e)
		}
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil && v != "-0" {
			return v
		}
		f, err := v.Float64()
		if err != nil {
			return v // beyond what a number can be
		}
		text, err := json.Marshal(f + 0) // and not -0
		if err != nil {
			return v
		}
		return json.Number(text)
	}
	return v
}

// fill adds the members that a compiled-in type always writes, as far as they are not there: empty objects, null, and what the
// kind has beside those when nothing is set. A count of replicas is none of them: a real server gives it a default.
func (r *resource) fill(d *draft) {
	if !r.builtin {
		return
	}
	blank, _ := jsontree.Parse([]byte("{" + r.blank + "}"))
	whole, _ := blank.(jsontree.Object)
	d.content, _ = r.shape().Filled(d.content).(jsontree.Object)
	delete(d.content, "metadata")
	d.content, _ = withBlank(d.content, whole).(jsontree.Object)
}

// withBlank returns v with the members of blank that it does not have, in the objects that both have.
func withBlank(v, blank any) any {
	m, isObject := v.(jsontree.Object)
	empty, wantsObject := blank.(jsontree.Object)
	if !isObject || !wantsObject {
		return v
	}
	m = maps.Clone(m)
	for k, e := range empty {
		if was, found := m[k]; found {
			m[k] = withBlank(was, e)
		} else if _, isObject := e.(jsontree.Object); !isObject && k != "replicas" {
			m[k] = e
		}
	}
	return m
}

// dropEmpty drops empty metadata.
func (d *draft) dropEmpty() {
	d.meta.SelfLink = ""
	if len(d.meta.Labels) == 0 {
		d.meta.Labels = nil
	}
	if len(d.meta.Annotations) == 0 {
		d.meta.Annotations = nil
	}
	if len(d.meta.Finalizers) == 0 {
		d.meta.Finalizers = nil
	}
	if len(d.meta.OwnerReferences) == 0 {
		d.meta.OwnerReferences = nil
	}
}

// readMetadata reads the metadata of a document again, without the members that it cannot have: encoding/json takes Labels
// for labels, which a real server does not.
func (d *draft) readMetadata(doc []byte) {
	v, _ := jsontree.Parse(doc) // it was read before
	whole, _ := v.(jsontree.Object)
	schema.Builtin().Metadata().Prune(whole["metadata"])
	d.meta = meta.ObjectMeta{}
	_ = json.Unmarshal(jsontree.Append(nil, whole["metadata"]), &d.meta)
	d.dropEmpty()
}

func (d *draft) mismatch(v any, r *resource, name, want string) error {
	return &decodeError{kind: d.kind, apiVersion: d.apiVersion, err: fmt.Errorf(
		"json: cannot unmarshal %s into Go struct field %s.%s of type %s", jsontree.KindOf(v), r.Kind, name, want)}
}

// sameAs reports whether d would change nothing about old but managed fields.
func (d *draft) sameAs(old *draft) bool {
	return sameMeta(d.meta, old.meta) && maps.EqualFunc(d.content, old.content, jsontree.Equal)
}

func sameMeta(a, b meta.ObjectMeta) bool {
	a.ManagedFields, b.ManagedFields = nil, nil
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// sameSpec reports whether d leaves alone what the generation counts: everything but metadata and, where it is a
// subresource, status.
func (d *draft) sameSpec(old *draft, r *resource) bool {
	without := func(m jsontree.Object) jsontree.Object {
		if !r.Status {
			return m
		}
		m = maps.Clone(m)
		delete(m, "status")
		return m
	}
	return maps.EqualFunc(without(d.content), without(old.content), jsontree.Equal)
}

// revision is one state of one object. It never changes, and is shared by the collection's trees, its history and all
// who read it.
type revision struct {
	key     meta.Key
	path    string
	uid     string
	version uint64
	labels  map[string]string
	fields  []string // the values of the resource's SelectableFields

	deleting bool // deletionTimestamp is set

	raw       []byte // the whole object, as JSON
	versionAt int    // where in raw the digits of the resource version start
	metaAt    int    // where in raw the metadata starts
	metaEnd   int    // and where it ends
}

// revision encodes d, which is complete but for the resource version. version 0 leaves that out, as a dry run of a
// create does.
func (d *draft) revision(r *resource, version uint64) *revision {
	v := &revision{
		key: d.key(),
		uid: d.meta.UID, version: version, labels: d.meta.Labels, deleting: d.meta.DeletionTimestamp != nil,
	}
	v.path = pathOf(v.key)
	for _, f := range r.SelectableFields {
		v.fields = append(v.fields, jsontree.Lookup(d.content, f))
	}
	b := make([]byte, 0, 2048)
	b = append(b, r.prefix()...)
	b = append(b, `"metadata":`...)
	v.metaAt = len(b)
	b, v.versionAt = appendMetadata(b, &d.meta, version, r.builtin)
	v.metaEnd = len(b)
	for _, k := range slices.Sorted(maps.Keys(d.content)) {
		b = append(b, ',')
		b = jsontree.AppendString(b, k)
		b = append(b, ':')
		b = jsontree.Append(b, d.content[k])
	}
	v.raw = bytes.Clone(append(b, '}')) // without the room that b had to grow
	return v
}

// prefix is how every object of the resource starts. Compiled-in types put kind first, custom ones sort their members.
func (r *resource) prefix() string {
	if r.builtin {
		return `{"kind":"` + r.Kind + `","apiVersion":"` + r.GVK().APIVersion() + `",`
	}
	return `{"apiVersion":"` + r.GVK().APIVersion() + `","kind":"` + r.Kind + `",`
}

// item returns the object as it stands in a list: compiled-in types leave kind and apiVersion out there.
func (v *revision) item(r *resource) (open string, rest []byte) {
	if r.builtin {
		return "{", v.raw[len(r.prefix()):]
	}
	return "", v.raw
}

// metadata returns the metadata's bytes.
func (v *revision) metadata() []byte { return v.raw[v.metaAt:v.metaEnd] }

// at returns the object as the last state before version, at which it was deleted or left a selection.
func (v *revision) at(version uint64) *revision {
	old, now := strconv.FormatUint(v.version, 10), strconv.FormatUint(version, 10)
	w := *v
	w.version = version
	w.raw = slices.Concat(v.raw[:v.versionAt], []byte(now), v.raw[v.versionAt+len(old):])
	w.metaEnd += len(now) - len(old)
	return &w
}

// draft decodes the object again.
func (v *revision) draft() *draft {
	d, err := parseDraft(v.raw)
	if err != nil {
		panic(fmt.Sprintf("clienttest: decode what was stored at %s: %v", v.key, err))
	}
	return d
}

// pathOf returns where an object is stored: the order of these paths is the order of lists, as etcd's keys are on a
// real server.
func pathOf(k meta.Key) string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// span returns the paths of one namespace, or of everything.
func span(namespace string) (from, to string) {
	if namespace == "" {
		return "", ""
	}
	return namespace + "/", namespace + "0" // '0' is the byte after '/'
}

// value returns the whole object as one value, but for managedFields.
func (d *draft) value() jsontree.Object {
	m := d.meta
	m.ManagedFields = nil
	b, err := json.Marshal(m)
	if err != nil {
		panic("clienttest: encode metadata: " + err.Error()) // it was decoded
	}
	metadata, err := jsontree.Parse(b)
	if err != nil {
		panic("clienttest: " + err.Error())
	}
	out := make(jsontree.Object, len(d.content)+3)
	for k, v := range d.content {
		out[k] = v
	}
	out["apiVersion"], out["kind"], out["metadata"] = d.apiVersion, d.kind, metadata
	return out
}
