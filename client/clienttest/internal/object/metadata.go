package object

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// metadataOrder returns the order in which the real server writes metadata: that of the Go struct for compiled-in
// types, sorted for custom ones.
func metadataOrder(builtin bool) []string {
	if builtin {
		return []string{
			"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
			"deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
			"managedFields",
		}
	}
	return []string{
		"annotations", "creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers",
		"generateName", "generation", "labels", "managedFields", "name", "namespace", "ownerReferences",
		"resourceVersion", "uid",
	}
}

// valueOf returns metadata without managedFields as a value. It is jsontree.Of, which each write would call several
// times, without the detour through JSON.
func valueOf(m *meta.ObjectMeta) jsontree.Object {
	v := make(jsontree.Object, 8)
	for _, text := range [...]struct{ name, is string }{
		{"name", m.Name},
		{"generateName", m.GenerateName},
		{"namespace", m.Namespace},
		{"selfLink", m.SelfLink},
		{"uid", m.UID},
		{"resourceVersion", m.ResourceVersion},
	} {
		if text.is != "" {
			v[text.name] = text.is
		}
	}
	if m.Generation != 0 {
		v["generation"] = json.Number(strconv.FormatInt(m.Generation, 10))
	}
	if !m.CreationTimestamp.IsZero() {
		v["creationTimestamp"] = textOf(m.CreationTimestamp)
	}
	if m.DeletionTimestamp != nil {
		v["deletionTimestamp"] = textOf(*m.DeletionTimestamp)
	}
	if m.DeletionGracePeriodSeconds != nil {
		v["deletionGracePeriodSeconds"] = json.Number(strconv.FormatInt(*m.DeletionGracePeriodSeconds, 10))
	}
	if len(m.Labels) > 0 {
		v["labels"] = valueOfTexts(m.Labels)
	}
	if len(m.Annotations) > 0 {
		v["annotations"] = valueOfTexts(m.Annotations)
	}
	if len(m.OwnerReferences) > 0 {
		v["ownerReferences"] = each(m.OwnerReferences, valueOfOwner)
	}
	if len(m.Finalizers) > 0 {
		v["finalizers"] = each(m.Finalizers, func(name string) any { return name })
	}
	return v
}

func each[E any](list []E, value func(E) any) []any {
	values := make([]any, len(list))
	for i, e := range list {
		values[i] = value(e)
	}
	return values
}

func valueOfOwner(o meta.OwnerReference) any {
	v := jsontree.Object{"apiVersion": o.APIVersion, "kind": o.Kind, "name": o.Name, "uid": o.UID}
	if o.Controller != nil {
		v["controller"] = *o.Controller
	}
	if o.BlockOwnerDeletion != nil {
		v["blockOwnerDeletion"] = *o.BlockOwnerDeletion
	}
	return v
}

func textOf(t meta.Time) string { return t.UTC().Format(time.RFC3339) }

func valueOfTexts(texts map[string]string) jsontree.Object {
	v := make(jsontree.Object, len(texts))
	for name, text := range texts {
		v[name] = text
	}
	return v
}

// metadataEncoder writes the members of metadata that are not empty.
type metadataEncoder struct {
	b         []byte
	versionAt int // where the digits of the resource version start
}

// appendMetadata appends m with the given version instead of its own; 0 leaves the version out. It returns where the
// version's digits start.
func appendMetadata(b []byte, m *meta.ObjectMeta, version uint64, builtin bool) (_ []byte, versionAt int) {
	e := metadataEncoder{b: append(b, '{')}
	for _, name := range metadataOrder(builtin) {
		switch name {
		case "name":
			e.text(name, m.Name)
		case "generateName":
			e.text(name, m.GenerateName)
		case "namespace":
			e.text(name, m.Namespace)
		case "uid":
			e.text(name, m.UID)
		case "resourceVersion":
			if version != 0 {
				e.name(name)
				e.b = append(e.b, '"')
				e.versionAt = len(e.b)
				e.b = strconv.AppendUint(e.b, version, 10)
				e.b = append(e.b, '"')
			}
		case "generation":
			e.value(name, m.Generation, m.Generation != 0)
		case "creationTimestamp":
			e.value(name, m.CreationTimestamp, !m.CreationTimestamp.IsZero())
		case "deletionTimestamp":
			e.value(name, m.DeletionTimestamp, m.DeletionTimestamp != nil)
		case "deletionGracePeriodSeconds":
			e.value(name, m.DeletionGracePeriodSeconds, m.DeletionGracePeriodSeconds != nil)
		case "labels":
			e.texts(name, m.Labels)
		case "annotations":
			e.texts(name, m.Annotations)
		case "ownerReferences":
			e.value(name, m.OwnerReferences, len(m.OwnerReferences) > 0)
		case "finalizers":
			e.value(name, m.Finalizers, len(m.Finalizers) > 0)
		case "managedFields":
			e.value(name, m.ManagedFields, len(m.ManagedFields) > 0)
		}
	}
	return append(e.b, '}'), e.versionAt
}

func (e *metadataEncoder) name(name string) {
	if e.b[len(e.b)-1] != '{' {
		e.b = append(e.b, ',')
	}
	e.b = append(e.b, '"')
	e.b = append(e.b, name...)
	e.b = append(e.b, `":`...)
}

func (e *metadataEncoder) text(name, s string) {
	if s != "" {
		e.name(name)
		e.b = jsontree.AppendString(e.b, s)
	}
}

func (e *metadataEncoder) texts(name string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	e.name(name)
	e.b = append(e.b, '{')
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.b = jsontree.AppendString(e.b, k)
		e.b = append(e.b, ':')
		e.b = jsontree.AppendString(e.b, m[k])
	}
	e.b = append(e.b, '}')
}

func (e *metadataEncoder) value(name string, v any, present bool) {
	if !present {
		return
	}
	e.name(name)
	j, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("clienttest: encode metadata.%s: %v", name, err))
	}
	e.b = append(e.b, j...)
}
