package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/typegen/internal/schema"
	"github.com/bowline-go/bowline/client/typegen/internal/source"
)

// random makes objects as a server with the schemas would return them.
type random struct {
	*rand.Rand
	kind  schema.Kind
	hints func(component, property string) source.Hint
}

type tree = map[string]any

func (r *random) chance(of int) bool { return r.IntN(of) == 0 }

// object returns a random object of the kind.
func (r *random) object() tree {
	s := r.kind.Schema
	obj := tree{}
	if s != nil {
		obj, _ = r.members(s, place{depth: 0}).(tree)
	}
	obj["apiVersion"], obj["kind"], obj["metadata"] = r.kind.GVK.APIVersion(), r.kind.GVK.Kind, r.metadata()
	for _, name := range []string{"spec", "status"} {
		if r.kind.Components == nil && isZero(obj[name]) && !r.resolved(s).Required[name] {
			delete(obj, name)
		}
	}
	return obj
}

func (r *random) resolved(s *schema.Schema) *schema.Schema {
	for s != nil && s.Ref != "" {
		s = r.kind.Components[s.Ref]
	}
	if s == nil {
		return &schema.Schema{}
	}
	return s
}

// isZero reports whether a value has only zeros. Only spec and status of a kind are left out because of that.
func isZero(v any) bool {
	switch v := v.(type) {
	case tree:
		for _, inner := range v {
			if !isZero(inner) {
				return false
			}
		}
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case json.Number:
		return v == "0"
	case float64:
		return v == 0
	}
	return v == nil
}

func (r *random) metadata() tree {
	m := tree{"name": r.word()}
	if r.chance(2) {
		m["labels"], m["uid"], m["creationTimestamp"] = tree{r.word(): r.word()}, r.word(), r.time()
	}
	if r.chance(4) {
		m["ownerReferences"] = []any{tree{"apiVersion": "v1", "kind": "Pod", "name": r.word(), "uid": r.word(), "controller": r.chance(2)}}
	}
	return m
}

// place says where a value is.
type place struct {
	depth int
	// dense says that the server leaves out zeros and empty lists.
	dense bool
}

func (p place) deeper() place { return place{p.depth + 1, p.dense} }

const deepest = 9

// value returns a random value of a schema.
func (r *random) value(s *schema.Schema, p place) any {
	if s.Ref != "" {
		p.dense = true
		if v, ok := r.known(s.Ref); ok {
			return v
		}
	}
	ref := s.Ref
	s = r.resolved(s)
	switch {
	case s.IntOrString && strings.Contains(s.Pattern, "KMGTPE"):
		return r.quantity()
	case s.IntOrString:
		return r.intOrString()
	case s.Embedded && len(s.Properties) == 0:
		return tree{"apiVersion": "v1", "kind": r.word(), "metadata": tree{"name": r.word()}, "spec": r.any(2)}
	}
	switch s.Type {
	case "string":
		return r.text(s, p)
	case "integer", "number":
		return r.number(s, p)
	case "boolean":
		return p.dense || len(s.Enum) > 0 || r.chance(2)
	case "array":
		return r.list(s, p)
	case "object":
		if ref != "" || len(s.Properties) > 0 {
			return r.members(withRef(s, ref), p)
		}
		if s.Additional != nil {
			return r.mapOf(s, p)
		}
		if !s.PreserveUnknown && r.kind.Components == nil {
			return tree{} // the server drops the members of others
		}
		return tree{r.word(): r.any(2)}
	}
	return r.any(3)
}

// withRef returns a schema that remembers the component that it is.
func withRef(s *schema.Schema, ref string) *schema.Schema {
	if ref == "" {
		return s
	}
	return &schema.Schema{Ref: ref}
}

// members returns a random object of a schema with properties.
func (r *random) members(s *schema.Schema, p place) any {
	ref := s.Ref
	if s = r.resolved(s); s.Embedded {
		s = s.Whole()
	}
	p.dense = p.dense || ref != "" || isKnownShape(s)
	obj := tree{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		inner := s.Properties[name]
		resolved, hint := r.resolved(inner), r.hints(ref, name)
		always := s.Required[name] || isEmptyObject(inner.Default) || hint.Known && !hint.Omits && isZero(inner.Default) && inner.Default != nil
		if !always && (p.depth > deepest || !r.chance(3)) {
			continue
		}
		if s.Required[name] && (resolved.Nullable || inner.Nullable) && r.chance(3) {
			obj[name] = nil
			continue
		}
		in := p.deeper()
		if hint.Known && !hint.Omits && !isList(resolved) {
			in.dense = false
		}
		if s.Embedded && name == "metadata" {
			obj[name] = tree{"name": r.word(), "labels": tree{"a": r.word()}}
			continue
		}
		v := r.value(inner, in)
		if in.depth > deepest && isList(resolved) && s.Required[name] && v == nil {
			v = []any{}
		}
		obj[name] = v
	}
	if s.PreserveUnknown && r.chance(2) {
		obj["x"+r.word()] = r.any(3)
	}
	return obj
}

func isEmptyObject(v any) bool {
	m, ok := v.(tree)
	return ok && len(m) == 0
}

func isList(s *schema.Schema) bool {
	return s.Type == "array" || s.Type == "object" && len(s.Properties) == 0 || s.Format == "byte"
}

// isKnownShape reports whether client/meta has a type for the schema, which leaves out zeros.
func isKnownShape(s *schema.Schema) bool {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return s.Properties[n] == nil })
	}
	return has("matchLabels", "matchExpressions") || has("lastTransitionTime", "reason", "observedGeneration") || has("fieldPath", "uid", "resourceVersion") ||
		has("key", "operator", "values")
}

func (r *random) list(s *schema.Schema, p place) any {
	n := r.IntN(3)
	if p.dense || s.MinItems > 0 {
		n = max(n, 1)
	}
	all := []any{}
	for range n {
		if s.Items == nil {
			all = append(all, r.any(2))
		} else if s.Items.Nullable && r.chance(3) {
			all = append(all, nil)
		} else {
			all = append(all, r.value(s.Items, place{p.depth + 1, false}))
		}
	}
	return all
}

func (r *random) mapOf(s *schema.Schema, p place) any {
	n := r.IntN(3)
	if p.dense {
		n = max(n, 1)
	}
	all := tree{}
	for range n {
		if s.Additional.Nullable && r.chance(3) {
			all[r.word()] = nil
		} else {
			all[r.word()] = r.value(s.Additional, place{p.depth + 1, false})
		}
	}
	return all
}

func (r *random) text(s *schema.Schema, p place) any {
	switch {
	case len(s.Enum) > 0:
		for {
			if v := s.Enum[r.IntN(len(s.Enum))]; v != "" || !p.dense {
				return v
			}
		}
	case s.Format == "date-time":
		return r.time()
	case s.Format == "byte":
		b := make([]byte, r.IntN(4))
		if p.dense {
			b = append(b, 1)
		}
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return base64.StdEncoding.EncodeToString(b)
	case !p.dense && r.chance(4) && s.MinLength == 0 && s.Pattern == "" && s.Format == "":
		return ""
	}
	return r.word()
}

// number returns a number that a schema allows, also one that needs all digits.
func (r *random) number(s *schema.Schema, p place) any {
	if len(s.Enum) > 0 {
		return s.Enum[r.IntN(len(s.Enum))]
	}
	least, most := -1<<31, int64(1<<31-1)
	if s.Format != "int32" && s.Type == "integer" {
		most = 1<<53 + 1
	}
	low := int64(least)
	if s.Minimum != nil {
		low = int64(*s.Minimum)
		if s.ExclusiveMinimum {
			low++
		}
	}
	if s.Maximum != nil {
		most = min(most, int64(*s.Maximum))
	}
	if low > most {
		return *s.Maximum
	}
	n := []int64{low, most, 1, 0, -1, 7}[r.IntN(6)]
	n = min(max(n, low), most)
	if n == 0 && p.dense {
		n = 1
	}
	if s.Type == "number" && r.chance(2) && s.Maximum == nil {
		return float64(n) + 0.5
	}
	return n
}

// words are texts that are hard for a careless encoder.
var words = []string{"a", "web", "0", "true", "null", "<&>", "é", "日本", "a b", "\"q\"", "line\nline", "\u2028", "{}", "x.example.com/y"}

func (r *random) word() string { return words[r.IntN(len(words))] }

func (r *random) time() string {
	return fmt.Sprintf("20%02d-0%d-1%dT0%d:00:%02dZ", 10+r.IntN(80), 1+r.IntN(9), r.IntN(10), r.IntN(10), r.IntN(60))
}

func (r *random) quantity() string {
	return []string{"0", "1", "500m", "2Gi", "100M", "-3", "12e6"}[r.IntN(7)]
}

func (r *random) intOrString() any {
	return []any{int64(0), int64(80), int64(-1), "", "25%", "http"}[r.IntN(6)]
}

// any returns any JSON.
func (r *random) any(depth int) any {
	switch n := r.IntN(8); {
	case n == 0 && depth > 0:
		return tree{r.word(): r.any(depth - 1), "b": r.any(depth - 1)}
	case n == 1 && depth > 0:
		return []any{r.any(depth - 1), nil}
	case n == 2:
		return nil
	case n == 3:
		return json.Number("12345678901234567890")
	case n == 4:
		return 0.25
	case n == 5:
		return false
	}
	return r.word()
}

// known returns a value of a component that Bowline has a type for, unless its schema says all.
func (r *random) known(ref string) (any, bool) {
	const machinery = "io.k8s.apimachinery.pkg."
	switch strings.TrimPrefix(ref, machinery) {
	case "apis.meta.v1.ObjectMeta":
		return r.metadata(), true
	case "apis.meta.v1.MicroTime":
		return strings.Replace(r.time(), "Z", fmt.Sprintf(".%06dZ", r.IntN(1_000_000)), 1), true
	case "apis.meta.v1.Time":
		return r.time(), true
	case "apis.meta.v1.Duration":
		return "1h0m0s", true
	case "api.resource.Quantity":
		return r.quantity(), true
	case "util.intstr.IntOrString":
		return r.intOrString(), true
	case "apis.meta.v1.FieldsV1", "runtime.RawExtension":
		return tree{"f:x": r.any(3)}, true
	}
	return nil, false
}
