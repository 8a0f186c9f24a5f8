package cel_test

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/cel"
	"github.com/bowline-go/bowline/client/meta"
)

// pair is the schema of an object with two numbers and one rule.
func pair(rule string) string {
	return `{"type":"object","properties":{"min":{"type":"integer"},"max":{"type":"integer"}},
		"x-kubernetes-validations":[` + rule + `]}`
}

// with is a schema with one rule.
func with(schema, rule string) string {
	return strings.TrimSuffix(schema, "}") + `,"x-kubernetes-validations":[` + rule + `]}`
}

const (
	ordered = `{"rule":"self.min <= self.max"}`
	integer = `{"type":"integer"}`
	words   = `{"type":"array","items":{"type":"string"}}`
)

// costly is a rule that holds for letters. It costs 2.5 for each of them, of at most 1,000,000 for a rule and
// 10,000,000 for an object.
var costly = `{"rule":"!self.matches('^` + strings.Repeat("b", 99) + `')","message":"costly"}`

// letters returns a string of n letters.
func letters(n int) string { return `"` + strings.Repeat("a", n) + `"` }

func invalid(field, message string) meta.StatusCause {
	return meta.StatusCause{Reason: "FieldValueInvalid", Field: field, Message: "Invalid value" + message}
}

func forbidden(field, message string) meta.StatusCause {
	return meta.StatusCause{Reason: "FieldValueForbidden", Field: field, Message: "Forbidden: " + message}
}

func TestRulesOfObjects(t *testing.T) {
	for _, test := range []struct {
		name     string
		schema   string // of spec
		old, obj string // spec; an object without an old one is new
		want     []meta.StatusCause
	}{
		{
			name: "a rule that holds", schema: pair(ordered), obj: `{"min":1,"max":2}`,
		},
		{
			name: "a rule that fails", schema: pair(ordered), obj: `{"min":3,"max":2}`,
			want: []meta.StatusCause{invalid("spec", ": failed rule: self.min <= self.max")},
		},
		{
			name: "every rule is run", schema: pair(ordered + `,{"rule":"self.max > 5","message":" more than 5 "}`), obj: `{"min":3,"max":2}`,
			want: []meta.StatusCause{invalid("spec", ": failed rule: self.min <= self.max"), invalid("spec", ": more than 5")},
		},
		{
			name: "a value that is not an object is in the message", obj: `3`,
			schema: with(integer, `{"rule":"self > 5","message":"more than 5"}`),
			want:   []meta.StatusCause{invalid("spec", ": 3: more than 5")},
		},
		{
			name: "messageExpression", obj: `{"min":3,"max":2}`,
			schema: pair(`{"rule":"self.min <= self.max","message":"wrong","messageExpression":"'at least ' + ['0', '1', '2', '3'][self.min]"}`),
			want:   []meta.StatusCause{invalid("spec", ": at least 3")},
		},
		{
			name: "message if messageExpression fails", obj: `{"min":3,"max":2}`,
			schema: pair(`{"rule":"self.min <= self.max","message":"wrong","messageExpression":"['a', 'b'][self.max]"}`),
			want:   []meta.StatusCause{invalid("spec", ": wrong")},
		},
		{
			name: "fieldPath", schema: pair(`{"rule":"self.min <= self.max","fieldPath":".max"}`), obj: `{"min":3,"max":2}`,
			want: []meta.StatusCause{invalid("spec.max", ": failed rule: self.min <= self.max")},
		},
		{
			name: "reason Forbidden", obj: `{"min":3}`,
			schema: pair(`{"rule":"!has(self.min)","reason":"FieldValueForbidden","message":"no min","fieldPath":".min"}`),
			want:   []meta.StatusCause{forbidden("spec.min", "no min")},
		},
		{
			name: "reason Required", obj: `{}`,
			schema: pair(`{"rule":"has(self.min)","reason":"FieldValueRequired","message":"give min","fieldPath":".min"}`),
			want:   []meta.StatusCause{{Reason: "FieldValueRequired", Field: "spec.min", Message: "Required value: give min"}},
		},
		{
			name: "reason Duplicate", schema: with(integer, `{"rule":"self != 3","reason":"FieldValueDuplicate"}`), obj: `3`,
			want: []meta.StatusCause{{Reason: "FieldValueDuplicate", Field: "spec", Message: "Duplicate value: 3"}},
		},
		{
			name: "an error while a rule runs", schema: with(words, `{"rule":"self[0] != ''"}`), obj: `[]`,
			want: []meta.StatusCause{invalid("spec", `: "array": index out of bounds: 0 evaluating rule: self[0] != ''`)},
		},
		{
			name: "a rule that does not compile", schema: with(integer, `{"rule":"self.x"}`), obj: `3`,
			want: []meta.StatusCause{invalid("spec", `: "integer": rule compile error: compilation failed: ERROR: <input>:1:5: `+
				"type 'int' does not support field selection\n | self.x\n | ....^")},
		},
		{
			name: "the libraries of Kubernetes", obj: `"2Gi"`,
			schema: with(`{"type":"string"}`, `{"rule":"quantity(self).isLessThan(quantity('1Gi'))"}`),
			want:   []meta.StatusCause{invalid("spec", `: "2Gi": failed rule: quantity(self).isLessThan(quantity('1Gi'))`)},
		},
		{
			name: "an int-or-string", obj: `3`,
			schema: with(`{"x-kubernetes-int-or-string":true}`, `{"rule":"type(self) == int ? self > 5 : self.endsWith('%')"}`),
			want:   []meta.StatusCause{invalid("spec", `: 3: failed rule: type(self) == int ? self > 5 : self.endsWith('%')`)},
		},
		{
			name: "null has no rules", schema: with(`{"type":"integer","nullable":true}`, `{"rule":"self > 5"}`), obj: `null`,
		},
		{
			name: "a default is a value", obj: `{"min":3,"max":2}`, // the server fills in the default before it checks
			schema: strings.Replace(pair(ordered), `"integer"`, `"integer","default":3`, 1),
			want:   []meta.StatusCause{invalid("spec", ": failed rule: self.min <= self.max")},
		},
		{
			name: "items of a list", obj: `[7,3]`,
			schema: `{"type":"array","items":` + with(integer, `{"rule":"self > 5"}`) + `}`,
			want:   []meta.StatusCause{invalid("spec[1]", ": 3: failed rule: self > 5")},
		},
		{
			name: "values of a map in a list", obj: `[{"a":7},{"a":3}]`,
			schema: `{"type":"array","items":{"type":"object","additionalProperties":` + with(integer, `{"rule":"self > 5"}`) + `}}`,
			want:   []meta.StatusCause{invalid("spec[1][a]", ": 3: failed rule: self > 5")},
		},
		{
			name: "an object inside of a map", obj: `{"a":{"min":3,"max":2}}`,
			schema: `{"type":"object","additionalProperties":` + pair(ordered) + `}`,
			want:   []meta.StatusCause{invalid("spec[a]", ": failed rule: self.min <= self.max")},
		},
		{
			name: "the type and name of an object inside", obj: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`,
			schema: with(`{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}`,
				`{"rule":"self.kind == 'Pod' && self.metadata.name == 'b'"}`),
			want: []meta.StatusCause{invalid("spec", ": failed rule: self.kind == 'Pod' && self.metadata.name == 'b'")},
		},
		{
			name: "a transition rule of a new object", schema: with(integer, `{"rule":"self >= oldSelf"}`), obj: `3`,
		},
		{
			name: "a transition rule that holds", schema: with(integer, `{"rule":"self >= oldSelf"}`), old: `3`, obj: `4`,
		},
		{
			name: "a transition rule that fails", schema: with(integer, `{"rule":"self >= oldSelf"}`), old: `4`, obj: `3`,
			want: []meta.StatusCause{invalid("spec", ": 3: failed rule: self >= oldSelf")},
		},
		{
			name: "a transition rule is not ratcheted", schema: with(integer, `{"rule":"self != oldSelf"}`), old: `3`, obj: `3`,
			want: []meta.StatusCause{invalid("spec", ": 3: failed rule: self != oldSelf")},
		},
		{
			name: "a transition rule of an item that its key finds",
			old:  `[{"k":"a","n":1},{"k":"b","n":2}]`, obj: `[{"k":"b","n":1},{"k":"c","n":0}]`,
			schema: `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],
				"properties":{"k":{"type":"string"},"n":{"type":"integer","x-kubernetes-validations":[{"rule":"self >= oldSelf"}]}}}}`,
			want: []meta.StatusCause{invalid("spec[0].n", ": 1: failed rule: self >= oldSelf")},
		},
		{
			name: "optionalOldSelf of a new object", obj: `3`,
			schema: with(integer, `{"rule":"oldSelf.hasValue() || self == 1","optionalOldSelf":true}`),
			want:   []meta.StatusCause{invalid("spec", ": 3: failed rule: oldSelf.hasValue() || self == 1")},
		},
		{
			name: "optionalOldSelf of an update", old: `3`, obj: `4`,
			schema: with(integer, `{"rule":"self == oldSelf.orValue(self)","optionalOldSelf":true}`),
			want:   []meta.StatusCause{invalid("spec", ": 4: failed rule: self == oldSelf.orValue(self)")},
		},
		{
			name: "a wrong value that stays is ratcheted", old: `{"n":3}`, obj: `{"n":3,"other":1}`,
			schema: `{"type":"object","properties":{"n":` + with(integer, `{"rule":"self > 5"}`) + `,"other":{"type":"integer"}}}`,
		},
		{
			name: "a wrong value that changes is not ratcheted", old: `{"n":3}`, obj: `{"n":4}`,
			schema: `{"type":"object","properties":{"n":` + with(integer, `{"rule":"self > 5"}`) + `}}`,
			want:   []meta.StatusCause{invalid("spec.n", ": 4: failed rule: self > 5")},
		},
		{
			name: "a rule of an object that changes is not ratcheted", schema: pair(ordered),
			old: `{"min":3,"max":2}`, obj: `{"min":3,"max":1}`,
			want: []meta.StatusCause{invalid("spec", ": failed rule: self.min <= self.max")},
		},
		{
			name: "a wrong item is ratcheted only if a key finds it", old: `[3]`, obj: `[3,7]`,
			schema: `{"type":"array","items":` + with(integer, `{"rule":"self > 5"}`) + `}`,
			want:   []meta.StatusCause{invalid("spec[0]", ": 3: failed rule: self > 5")},
		},
		{
			name: "a rule that costs too much", schema: with(`{"type":"string"}`, costly), obj: letters(500_000),
			want: []meta.StatusCause{invalid("spec", `: "string": 'operation cancelled: actual cost limit exceeded': `+
				"no further validation rules will be run due to call cost exceeds limit for rule: costly")},
		},
		{
			name: "rules that cost too much together", obj: letters(360_000),
			schema: with(`{"type":"string"}`, costly+strings.Repeat(`,`+costly, 11)+`,{"rule":"false"}`),
			want: []meta.StatusCause{invalid("spec", `: "string": validation failed due to running out of cost budget, `+
				"no further validation rules will be run")},
		},
		{
			name: "rules that just do not cost too much together", obj: letters(360_000),
			schema: with(`{"type":"string"}`, costly+strings.Repeat(`,`+costly, 10)),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			rules := compile(t, whole(test.schema))
			obj, old := object(t, test.obj), map[string]any(nil)
			if test.old != "" {
				old = object(t, test.old)
			}
			if got, _ := rules.Check(t.Context(), obj, old); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
			if !reflect.DeepEqual(obj, object(t, test.obj)) || old != nil && !reflect.DeepEqual(old, object(t, test.old)) {
				t.Error("Check changed an object")
			}
		})
	}
}

// The path of a cause is as on a real server, where the root is "<nil>".
func TestARuleOfTheRootKnowsTheName(t *testing.T) {
	rules := compile(t, `{"type":"object","x-kubernetes-validations":[{"rule":"self.metadata.name.startsWith(self.kind)"}]}`)
	want := []meta.StatusCause{invalid("<nil>", ": failed rule: self.metadata.name.startsWith(self.kind)")}
	if got, _ := rules.Check(t.Context(), object(t, "{}"), nil); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The order of members is random, as on a real server.
func TestCausesOfSeveralMembers(t *testing.T) {
	positive := with(integer, `{"rule":"self > 0"}`)
	rules := compile(t, whole(`{"type":"object","properties":{"a":`+positive+`,"b":`+positive+`}}`))
	got, _ := rules.Check(t.Context(), object(t, `{"a":0,"b":-1}`), nil)
	slices.SortFunc(got, func(a, b meta.StatusCause) int { return cmp.Compare(a.Field, b.Field) })
	want := []meta.StatusCause{invalid("spec.a", ": 0: failed rule: self > 0"), invalid("spec.b", ": -1: failed rule: self > 0")}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rules := compile(t, whole(with(words, `{"rule":"self.all(x, x != '')"}`)))
	want := []meta.StatusCause{invalid("spec", `: "array": operation interrupted: context canceled evaluating rule: self.all(x, x != '')`)}
	if got, _ := rules.Check(ctx, object(t, `[`+strings.Repeat(`"a",`, 200)+`"a"]`), nil); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestASchemaWithoutRulesCompilesToNil(t *testing.T) {
	rules, err := cel.Rules().Compile(json.RawMessage(whole(words)))
	if rules != nil || err != nil {
		t.Errorf("got %v, %v, want nil", rules, err)
	}
}

func TestSchemasThatDoNotCompile(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":3}`: `read schema: json: cannot unmarshal number into Go struct field JSONSchemaProps.type of type string`,
		`{"type":"array","items":[{"type":"object"}]}`: `make schema structural: OpenAPIV3Schema 'items' must be a schema, but is an array`,
	} {
		if _, err := cel.Rules().Compile(json.RawMessage(schema)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", schema, err, want)
		}
	}
}

func TestSeveralGoroutinesUseOneSchema(t *testing.T) {
	transition := `{"rule":"self.max >= oldSelf.max","messageExpression":"'was ' + string(oldSelf.max)"}`
	rules := compile(t, whole(pair(ordered+`,`+transition)))
	obj, old := object(t, `{"min":3,"max":2}`), object(t, `{"min":3,"max":4}`)
	want := []meta.StatusCause{invalid("spec", ": failed rule: self.min <= self.max"), invalid("spec", ": was 4")}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if got, _ := rules.Check(t.Context(), obj, old); !reflect.DeepEqual(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	group.Wait()
}

// The library fills a cache when it is first used. Goroutines of different bubbles may do that at once.
func TestRulesWorkInBubbles(t *testing.T) {
	for range 4 {
		t.Run("bubble", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rules := compile(t, whole(with(words, `{"rule":"self.all(x, x != '')"}`)))
				want := []meta.StatusCause{invalid("spec", ": failed rule: self.all(x, x != '')")}
				if got, _ := rules.Check(t.Context(), object(t, `[""]`), nil); !reflect.DeepEqual(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
}

// whole returns the schema of an object with a spec.
func whole(spec string) string { return `{"type":"object","properties":{"spec":` + spec + `}}` }

// compile compiles a schema that has rules.
func compile(t *testing.T, schema string) clienttest.CompiledRules {
	t.Helper()
	rules, err := cel.Rules().Compile(json.RawMessage(schema))
	if err != nil || rules == nil {
		t.Fatalf("compile %s: got %v, %v", schema, rules, err)
	}
	return rules
}

// object returns an object with a spec.
func object(t *testing.T, spec string) (obj map[string]any) {
	t.Helper()
	text := `{"apiVersion":"example.com/v1","kind":"Page","metadata":{"name":"a"},"spec":` + spec + `}`
	if err := kjson.Unmarshal([]byte(text), &obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// An update may keep a value that breaks a rule. The server warns of it.
func TestAValueThatStaysWrongIsAWarning(t *testing.T) {
	rules := compile(t, whole(`{"type":"object","properties":{"n":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 5"}]}}}`))
	causes, warnings := rules.Check(t.Context(), object(t, `{"n":3}`), object(t, `{"n":3}`))
	if want := []string{"spec.n: Invalid value: 3: failed rule: self > 5"}; len(causes) > 0 || !reflect.DeepEqual(warnings, want) {
		t.Errorf("got %v and warnings %q, want %q", causes, warnings, want)
	}
}
