package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// clienttest refuses the same values of custom resources as a real server, for the same reasons: random schemas, random
// objects, and random changes of them.
//
//	go test . -run TestValuesOfCustomResources -seeds 50
func TestValuesOfCustomResources(t *testing.T) {
	t.Parallel()
	real, ns := admin(t)
	for seed := range histories.Seeds(4) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			r := randomValues{rand.New(rand.NewPCG(seed, 1))}
			group := fmt.Sprintf("values-%d.e2e.bowline.example", seed)
			spec := jsonObject{"type": "object"}
			members := jsonObject{}
			for n := range 6 {
				members[fmt.Sprint("p", n)] = r.schema(3)
			}
			spec["properties"] = members
			schema, err := json.Marshal(jsonObject{"type": "object", "properties": jsonObject{"spec": spec, "status": r.schema(2)}})
			if err != nil {
				t.Fatal(err)
			}
			made := create(t, client.For(real, definitions), "", fmt.Sprintf(`{"metadata": {"name": "things.%[1]s"}, "spec": {
				"group": %[1]q, "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"}, "versions": [
				{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": %[2]s}}]}}`, group, schema))
			must(client.WaitFor(t.Context(), client.For(real, definitions), meta.KeyOf(made), client.UntilReady()))(t)
			inside := open(t, clienttest.Start(t, clienttest.Options{Resources: []clienttest.Resource{{
				Group: group, Version: "v1", Kind: "Thing", Resource: "things", Schema: schema,
			}}}).Config())
			must(client.For(inside, client.Type[object]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}).
				Create(t.Context(), parse(t, `{"metadata":{"name":"`+ns+`"}}`)))(t)

			things := client.Type[object]{Group: group, Version: "v1", Kind: "Thing", Resource: "things"}
			refused := 0
			for n := range 150 {
				text := fmt.Sprintf(`{"metadata":{"name":"a%d","namespace":%q},"spec":%s}`, n, ns, r.members(members))
				want := r.write(t, client.For(real, things), text)
				got := r.write(t, client.For(inside, things), text)
				if got != want {
					t.Fatalf("of %s with the schema\n%s\nthe servers say\n%s\nand\n%s", text, schema, want, got)
				}
				if want != "" {
					refused++
				}
			}
			if refused < 20 || refused > 145 {
				t.Errorf("%d of 150 objects were refused, want some of them", refused)
			}
		})
	}
}

type jsonObject = map[string]any

// randomValues makes schemas and values.
type randomValues struct{ *rand.Rand }

func (r randomValues) oneIn(n int) bool { return r.IntN(n) == 0 }

func (r randomValues) pick(of ...any) any { return of[r.IntN(len(of))] }

// write creates an object and returns why that is refused, one cause in a line, or nothing.
func (r randomValues) write(t *testing.T, things client.Resource[object], text string) string {
	t.Helper()
	_, err := things.Create(t.Context(), parse(t, text))
	if err == nil {
		return ""
	}
	refusal, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || refusal.Status.Details == nil {
		t.Fatal(err)
	}
	return whyRefused(err)
}

// schema returns a schema of at most so many levels.
func (r randomValues) schema(depth int) jsonObject {
	if r.oneIn(12) {
		s := jsonObject{"x-kubernetes-int-or-string": true}
		if r.oneIn(2) {
			s["anyOf"] = []any{jsonObject{"type": "integer"}, jsonObject{"type": "string"}}
		}
		return s
	}
	types := []any{"string", "string", "integer", "integer", "number", "boolean"}
	if depth > 0 {
		types = append(types, "object", "object", "array", "array")
	}
	typ := r.pick(types...).(string)
	s := jsonObject{"type": typ}
	r.rules(s, typ)
	members := jsonObject{}
	switch typ {
	case "object":
		if r.oneIn(3) {
			s["additionalProperties"] = r.schema(depth - 1)
			break
		}
		for _, name := range []string{"a", "b", "c"} {
			members[name] = r.schema(depth - 1)
		}
		s["properties"] = members
		if r.oneIn(2) {
			s["required"] = []any{r.pick("a", "b", "c")}
		}
	case "array":
		s["items"] = r.schema(depth - 1)
		switch r.IntN(4) {
		case 0:
			s["items"], s["x-kubernetes-list-type"] = jsonObject{"type": r.pick("string", "integer")}, "set"
		case 1:
			s["items"] = jsonObject{
				"type": "object", "required": []any{"a"}, "properties": jsonObject{"a": jsonObject{"type": "string"}, "b": r.schema(0)},
			}
			s["x-kubernetes-list-type"], s["x-kubernetes-list-map-keys"] = "map", []any{"a"}
		}
	}
	if r.oneIn(6) {
		s["nullable"] = true
	}
	if r.oneIn(4) {
		var choices []any
		for range 1 + r.IntN(3) {
			choices = append(choices, r.choice(typ, members))
		}
		s[r.pick("allOf", "anyOf", "oneOf").(string)] = choices
	}
	if r.oneIn(8) {
		s["not"] = r.choice(typ, members)
	}
	return s
}

// choice returns a schema inside of anyOf and the like, which has no types.
func (r randomValues) choice(typ string, members jsonObject) jsonObject {
	s := jsonObject{}
	r.rules(s, typ)
	if len(members) == 0 {
		return s
	}
	name := r.pick("a", "b", "c").(string)
	if r.oneIn(2) {
		s["required"] = []any{name}
	}
	if of, found := members[name].(jsonObject)["type"].(string); found && r.oneIn(2) {
		inner := jsonObject{}
		r.rules(inner, of)
		s["properties"] = jsonObject{name: inner}
	}
	return s
}

// rules adds rules for values of a type.
func (r randomValues) rules(s jsonObject, typ string) {
	if r.oneIn(2) {
		return
	}
	set := func(name string, values ...any) { s[name] = r.pick(values...) }
	switch typ {
	case "string":
		switch r.IntN(5) {
		case 0:
			set("maxLength", 1, 2, 3)
		case 1:
			set("minLength", 1, 2, 3)
		case 2:
			set("pattern", "^[a-z]*$", "x", "^a")
		case 3:
			s["enum"] = []any{"a", "xy", "10"}
		case 4:
			set("format", "date", "date-time", "ipv4", "uuid", "byte", "duration", "hostname", "email", "uri", "cidr", "mac", "ipv6", "hexcolor",
				"ssn", "isbn", "creditcard", "k8s-short-name", "password", "rgbcolor", "unknown")
		}
	case "integer", "number":
		switch r.IntN(5) {
		case 0:
			set("minimum", -1, 0, 2)
			set("exclusiveMinimum", false, true)
		case 1:
			set("maximum", 3, 7, -1)
			set("exclusiveMaximum", false, true)
		case 2:
			set("multipleOf", 2, 3)
		case 3:
			s["enum"] = []any{1, 3}
		case 4:
			set("format", map[string][]any{"integer": {"int32", "int64"}, "number": {"float", "double"}}[typ]...)
		}
	case "array":
		set("maxItems", 1, 2)
	case "object":
		set("minProperties", 1, 2)
	case "boolean":
		s["enum"] = []any{true}
	}
}

var randomTexts = []any{
	"", "a", "xy", "abcdef", "10", "é", "2024-01-02", "2024-01-02T03:04:05Z", "10.0.0.1", "010.0.0.1", "::1", "a.b.example", "x@y.z", "http://a/b",
	"/b", "10.0.0.0/8", "::/129", "aa:bb:cc:dd:ee:ff", "#fff", "123-45-6789", "0-321-75104-3", "978-0321751041", "4111 1111 1111 1111", "YWJj",
	"YWI=", "3 days", "5m", "rgb(1,2,3)", "e58ed763-928c-4155-bee9-fdbaaadc15f3", "2024-1-2", "24:00",
}

// value returns a value that often fits a schema.
func (r randomValues) value(s jsonObject) any {
	typ, found := s["type"].(string)
	switch {
	case r.oneIn(10):
		typ = r.pick("string", "integer", "number", "boolean", "object", "array", "null").(string)
	case !found:
		typ = r.pick("integer", "string").(string)
	}
	switch typ {
	case "string":
		return r.pick(randomTexts...)
	case "integer":
		return r.pick(0, 1, 2, 3, 5, -4, 4294967296, 2.5)
	case "number":
		return r.pick(0, 1, 2.5, 3, 0.3, -4, 1e39, 7.5)
	case "boolean":
		return r.oneIn(2)
	case "null":
		return nil
	case "array":
		items, _ := s["items"].(jsonObject)
		list := []any{}
		for range r.IntN(4) {
			list = append(list, r.value(items))
		}
		return list
	}
	m := jsonObject{}
	members, _ := s["properties"].(jsonObject)
	other, _ := s["additionalProperties"].(jsonObject)
	for _, name := range []string{"a", "b", "c"} {
		of, named := members[name].(jsonObject)
		if !named {
			of = other
		}
		if of != nil && !r.oneIn(3) {
			m[name] = r.value(of)
		}
	}
	return m
}

// members returns an object with a few of the members, as JSON.
func (r randomValues) members(of jsonObject) string {
	m := jsonObject{}
	for range 1 + r.IntN(2) {
		name := fmt.Sprint("p", r.IntN(len(of)))
		m[name] = r.value(of[name].(jsonObject))
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err) // there are no other values than those of JSON
	}
	return string(raw)
}
