package e2e

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bowline-go/bowline/client/crd"
)

// sampler makes random objects that a server with a schema takes and keeps: without null, unless it has to be there,
// because an absent member and null are alike to the types, and without white space that a server would change.
type sampler struct{ *rand.Rand }

type members = map[string]any

func (r sampler) object(s *crd.Schema) members {
	object, _ := r.value(s, 0).(members)
	for _, name := range []string{"spec", "status"} { // one with nothing but zeros is not written
		if onlyZeros(object[name]) && !slices.Contains(s.Required, name) {
			delete(object, name)
		}
	}
	return object
}

func onlyZeros(v any) bool {
	switch v := v.(type) {
	case members:
		for _, inner := range v {
			if !onlyZeros(inner) {
				return false
			}
		}
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case json.Number:
		return v == "0"
	}
	return v == nil
}

// value returns a random value of a schema.
func (r sampler) value(s *crd.Schema, depth int) any {
	switch {
	case s.IntOrString:
		return r.either(s)
	case len(s.Enum) > 0:
		var v any
		_ = json.Unmarshal(s.Enum[r.IntN(len(s.Enum))], &v) // it is JSON
		return v
	}
	switch s.Type {
	case "string":
		return r.text(s)
	case "integer", "number":
		return r.number(s)
	case "boolean":
		return r.IntN(2) == 0
	case "array":
		return r.list(s, depth)
	case "object":
		return r.members(s, depth)
	}
	return r.anything(2)
}

// either returns an integer or a string; a quantity is in the form that its type writes.
func (r sampler) either(s *crd.Schema) any {
	all := []any{"1", "500m", "2Gi", "100M"}
	if !strings.Contains(s.Pattern, "KMGTPE") {
		all = []any{"10", "25%", json.Number("7"), json.Number("0"), json.Number("80")}
	}
	return all[r.IntN(len(all))]
}

// formats has a text of each format that the schemas of this folder have.
var formats = map[string]string{
	"byte": "AQID", "date-time": "2031-04-05T06:07:08Z", "date": "2031-04-05", "ipv4": "10.0.0.1", "hostname": "a.example.com", "duration": "5m0s",
	"k8s-short-name": "web",
}

func (r sampler) text(s *crd.Schema) any {
	if text, known := formats[s.Format]; known {
		return text
	}
	fits := func(text string) bool {
		n := int64(utf8.RuneCountInString(text))
		return (s.MinLength == nil || n >= *s.MinLength) && (s.MaxLength == nil || n <= *s.MaxLength) && regexp.MustCompile(s.Pattern).MatchString(text)
	}
	all := []string{"", "a", "web", "<&>", "é日", "a \"b\"\nc", "true", "1d", "30s", "IPAddress", "a.example.com/b", "Ready", "a1/b", "2031-04-05T06:07:08Z"}
	all = slices.DeleteFunc(all, func(text string) bool { return !fits(text) })
	if len(all) == 0 {
		return "no text fits " + s.Pattern // the server says so
	}
	return all[r.IntN(len(all))]
}

// number returns a number within the bounds of a schema.
func (r sampler) number(s *crd.Schema) any {
	rational := func(n json.Number) *big.Rat {
		v, _ := new(big.Rat).SetString(string(n))
		return v
	}
	fits := func(n json.Number) bool {
		v := rational(n)
		switch {
		case s.Minimum != nil && (v.Cmp(rational(*s.Minimum)) < 0 || s.ExclusiveMinimum && v.Cmp(rational(*s.Minimum)) == 0),
			s.Maximum != nil && (v.Cmp(rational(*s.Maximum)) > 0 || s.ExclusiveMaximum && v.Cmp(rational(*s.Maximum)) == 0),
			s.MultipleOf != nil && !new(big.Rat).Quo(v, rational(*s.MultipleOf)).IsInt(),
			s.Type == "integer" && !v.IsInt(), s.Format == "int32" && v.Cmp(big.NewRat(1<<31-1, 1)) > 0:
			return false
		}
		return true
	}
	all := []json.Number{"0", "1", "5", "7", "0.5", "0.25", "8080", "2147483647", "-1", "-5", "9007199254740993"}
	if s.Format == "int32" && s.Minimum == nil {
		all = all[:len(all)-3] // it may be the number of replicas
	}
	if s.Type == "number" {
		all = all[:len(all)-1] // a floating-point number does not have its digits
	}
	all = slices.DeleteFunc(all, func(n json.Number) bool { return !fits(n) })
	if len(all) == 0 {
		return json.Number("0") // the server says so
	}
	return all[r.IntN(len(all))]
}

func (r sampler) list(s *crd.Schema, depth int) any {
	least, most := 0, 3
	if s.MinItems != nil {
		least = int(*s.MinItems)
	}
	if s.MaxItems != nil {
		most = int(min(*s.MaxItems, 3))
	}
	most = max(least, most)
	all, seen := []any{}, map[string]bool{}
	for tries := 0; len(all) < least+r.IntN(most-least+1) && tries < 20; tries++ {
		v := r.value(s.Items, depth+1)
		if id := identity(s, v); !seen[id] {
			seen[id] = s.ListType == "map" || s.ListType == "set"
			all = append(all, v)
		}
	}
	return all
}

// identity is what distinguishes an element of a list.
func identity(s *crd.Schema, v any) string {
	if len(s.ListMapKeys) == 0 {
		text, _ := json.Marshal(v) // it came from JSON
		return string(text)
	}
	id := ""
	for _, key := range s.ListMapKeys {
		is := v.(members)[key]
		if is == nil {
			_ = json.Unmarshal(s.Items.Properties[key].Default, &is)
		}
		id += fmt.Sprintf("%v/", is)
	}
	return id
}

func (r sampler) members(s *crd.Schema, depth int) any {
	object := members{}
	if s.EmbeddedResource {
		object = members{"apiVersion": "v1", "kind": "Thing", "metadata": members{"name": "thing"}}
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range s.Properties {
			if !yield(name) {
				return
			}
		}
	}) {
		p, required := s.Properties[name], slices.Contains(s.Required, name)
		few := s.MinProperties != nil && int64(len(object)) < *s.MinProperties
		switch {
		case !required && !few && (depth > 8 || r.IntN(2) == 0):
		case required && p.Nullable && r.IntN(3) == 0:
			object[name] = nil
		default:
			object[name] = r.value(p, depth+1)
		}
	}
	if of := s.AdditionalProperties; of != nil && of.Schema != nil {
		for i := range r.IntN(3) {
			object[fmt.Sprintf("k%d.example.com/a", i)] = r.value(of.Schema, depth+1)
		}
	}
	if s.PreserveUnknownFields && r.IntN(2) == 0 {
		object["xUnknown"] = r.anything(2)
	}
	if isKnownShape(s) {
		withoutZeros(object, s.Required)
	}
	return object
}

// isKnownShape reports whether client/meta has a type with these members, which does not write zeros.
func isKnownShape(s *crd.Schema) bool {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return s.Properties[n] == nil })
	}
	return has("matchLabels", "matchExpressions") || has("key", "operator", "values") || has("lastTransitionTime", "reason", "observedGeneration") ||
		has("fieldPath", "uid", "resourceVersion")
}

func withoutZeros(object members, required []string) {
	for name, v := range object {
		list, isList := v.([]any)
		if !slices.Contains(required, name) && (isList && len(list) == 0 || onlyZeros(v)) {
			delete(object, name)
		}
	}
}

// anything returns any JSON but null.
func (r sampler) anything(depth int) any {
	switch n := r.IntN(6); {
	case n == 0 && depth > 0:
		return members{"a": r.anything(depth - 1), "<b>": r.anything(depth - 1)}
	case n == 1 && depth > 0:
		return []any{r.anything(depth - 1), nil}
	case n == 2:
		return json.Number("0.25")
	case n == 3:
		return json.Number("9007199254740993")
	case n == 4:
		return false
	}
	return "a"
}
