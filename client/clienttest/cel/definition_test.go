package cel_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/cel"
	"github.com/bowline-go/bowline/client/meta"
)

const (
	// nested is a rule of words whose estimated cost is too high, because the list and the words may be long.
	nested = `{"rule":"self.all(a, self.all(b, a == b))"}`

	validations = "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]"
)

// limits is the advice in a cause that an estimated cost is too high.
const limits = " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength " +
	"where arrays, maps, and strings are declared)"

func TestDefinitions(t *testing.T) {
	for _, test := range []struct {
		name     string
		old, obj string // a definition without an old one is new
		want     []meta.StatusCause
	}{
		{
			name: "rules that are right", obj: definition(version("v1", pair(ordered+`,{"rule":"self.max >= oldSelf.max"}`))),
		},
		{
			name: "a rule that does not compile", obj: definition(version("v1", with(integer, `{"rule":"self.x"}`))),
			want: []meta.StatusCause{invalid(validations+".rule", printed("self.x", "")+"compilation failed: ERROR: <input>:1:5: "+
				"type 'int' does not support field selection\n | self.x\n | ....^")},
		},
		{
			name: "a rule that is no bool", obj: definition(version("v1", with(integer, `{"rule":"self"}`))),
			want: []meta.StatusCause{invalid(validations+".rule", printed("self", "")+"cel expression must evaluate to a bool")},
		},
		{
			name: "no rule", obj: definition(version("v1", with(integer, `{"rule":" "}`))),
			want: []meta.StatusCause{{Reason: "FieldValueRequired", Field: validations + ".rule", Message: "Required value: rule is not specified"}},
		},
		{
			name: "a messageExpression that is no string",
			obj:  definition(version("v1", with(integer, `{"rule":"self > 0","messageExpression":"self"}`))),
			want: []meta.StatusCause{invalid(validations+".messageExpression",
				printed(`self \u003e 0`, "self")+"messageExpression must evaluate to a string")},
		},
		{
			name: "a reason that does not exist",
			obj:  definition(version("v1", with(integer, `{"rule":"self > 0","reason":"Other"}`))),
			want: []meta.StatusCause{{
				Reason: "FieldValueNotSupported", Field: validations + ".reason", Message: `Unsupported value: "Other": supported values: ` +
					`"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
			}},
		},
		{
			name: "a fieldPath that does not exist",
			obj:  definition(version("v1", pair(`{"rule":"self.min > 0","fieldPath":".mid"}`))),
			want: []meta.StatusCause{invalid(validations+".fieldPath", `: ".mid": must be a valid path`)},
		},
		{
			name: "oldSelf of items without a key",
			obj:  definition(version("v1", `{"type":"array","items":`+with(integer, `{"rule":"self >= oldSelf"}`)+`}`)),
			want: []meta.StatusCause{invalid("spec.validation.openAPIV3Schema.properties[spec].items.x-kubernetes-validations[0].rule",
				`: "self >= oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema `+
					"within spec.validation.openAPIV3Schema.properties[spec]")},
		},
		{
			name: "optionalOldSelf without oldSelf",
			obj:  definition(version("v1", with(integer, `{"rule":"self > 0","optionalOldSelf":true}`))),
			want: []meta.StatusCause{invalid(validations+".optionalOldSelf", `: true: may not be set if oldSelf is not used in rule`)},
		},
		{
			name: "a rule of a high estimated cost", obj: definition(version("v1", with(words, nested))),
			want: []meta.StatusCause{
				forbidden(validations+".rule", "estimated rule cost exceeds budget by factor of more than 100x"+limits),
				forbidden(validations+".rule", "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"),
				forbidden("spec.validation.openAPIV3Schema", "x-kubernetes-validations "+
					"estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x"+limits),
			},
		},
		{
			name: "a rule whose estimated cost has bounds",
			obj:  definition(version("v1", with(short(10), nested))),
		},
		{
			name: "a rule that its own default breaks", obj: definition(version("v1",
				`{"type":"object","properties":{"n":{"type":"integer","default":0,"x-kubernetes-validations":[{"rule":"self > 0"}]}}}`)),
			want: []meta.StatusCause{invalid("spec.validation.openAPIV3Schema.properties[spec].properties[n].default", ": 0: failed rule: self > 0")},
		},
		{
			name: "a rule of one of several versions",
			obj:  definition(version("v1", integer), version("v2", with(integer, `{"rule":"self"}`))),
			want: []meta.StatusCause{invalid("spec.versions[1].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule",
				printed("self", "")+"cel expression must evaluate to a bool")},
		},
		{
			name: "not only rules",
			obj:  strings.Replace(definition(version("v1", integer)), `"pages.example.com"`, `"pages"`, 1),
			want: []meta.StatusCause{invalid("metadata.name", `: "pages": must be spec.names.plural+"."+spec.group`)},
		},
		{
			name: "a group that needs an approval",
			obj:  strings.ReplaceAll(definition(version("v1", integer)), "example.com", "example.k8s.io"),
			want: []meta.StatusCause{{
				Reason: "FieldValueRequired", Field: "metadata.annotations[api-approved.kubernetes.io]",
				Message: `Required value: protected groups must have approval annotation "api-approved.kubernetes.io", ` +
					"see https://github.com/kubernetes/enhancements/pull/1111",
			}},
		},
		{
			name: "a group that has an approval",
			obj: strings.Replace(strings.ReplaceAll(definition(version("v1", integer)), "example.com", "example.k8s.io"),
				`"labels"`, `"annotations":{"api-approved.kubernetes.io":"unapproved, a test"},"labels"`, 1),
		},
		{
			name: "an update with another stored version",
			old:  definition(version("v1", integer)),
			obj:  strings.Replace(definition(version("v2", integer), version("v1", integer)), `"storedVersions":["v2"]`, `"storedVersions":[]`, 1),
		},
		{
			name: "an update without a version that was stored",
			old:  definition(version("v1", integer)),
			obj:  definition(version("v2", integer)),
			want: []meta.StatusCause{invalid("status.storedVersions[0]", `: "v1": missing from spec.versions; v1 was previously a storage version, `+
				"and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 "+
				"and removes v1 from status.storedVersions")},
		},
		{
			name: "an update of the kind of an established definition",
			old:  strings.Replace(definition(version("v1", integer)), `"conditions":[]`, `"conditions":[{"type":"Established","status":"True"}]`, 1),
			obj:  strings.Replace(definition(version("v1", integer)), `"Page"`, `"Leaf"`, 1),
			want: []meta.StatusCause{invalid("spec.names.kind", `: "Leaf": field is immutable`)},
		},
		{
			name: "an update to a rule that does not compile",
			old:  definition(version("v1", with(integer, `{"rule":"self > 0"}`))),
			obj:  definition(version("v1", with(integer, `{"rule":"self"}`))),
			want: []meta.StatusCause{invalid(validations+".rule", printed("self", "")+"cel expression must evaluate to a bool")},
		},
		{
			name: "an update that makes a rule expensive",
			old:  definition(version("v1", with(short(10), nested))),
			obj:  definition(version("v1", with(short(2000), nested))),
			want: []meta.StatusCause{forbidden(validations+".rule", "estimated rule cost exceeds budget by factor of 3.6x"+limits)},
		},
		{
			name: "an update of a version whose rules are expensive",
			old:  definition(version("v1", with(short(2000), nested))),
			obj:  strings.Replace(definition(version("v1", with(short(2000), nested))), `"served":true`, `"served":false`, 1),
		},
		{
			name: "no definition", obj: `{"spec":{"group":3}}`,
			want: []meta.StatusCause{{
				Reason: "InternalError", Field: "<nil>",
				Message: "Internal error: json: cannot unmarshal number into Go struct field CustomResourceDefinitionSpec.spec.group of type string",
			}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var old json.RawMessage
			if test.old != "" {
				old = json.RawMessage(test.old)
			}
			if got := cel.Rules().CheckDefinition(t.Context(), json.RawMessage(test.obj), old); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
		})
	}
}

// definition returns a definition of pages. The first version is the stored one.
func definition(versions ...string) string {
	versions[0] = strings.Replace(versions[0], `"storage":false`, `"storage":true`, 1)
	stored := strings.SplitN(versions[0], `"`, 5)[3]
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
		"metadata":{"name":"pages.example.com","labels":{"wrong":"-"}},
		"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"pages","kind":"Page"},
			"versions":[` + strings.Join(versions, ",") + `]},
		"status":{"acceptedNames":{"plural":"pages","kind":"Page"},"conditions":[],"storedVersions":["` + stored + `"]}}`
}

// short is a list of at most n short words.
func short(n int) string {
	return fmt.Sprintf(`{"type":"array","maxItems":%d,"items":{"type":"string","maxLength":10}}`, n)
}

// printed returns a rule as a cause prints it: in the internal form of a real server.
func printed(rule, messageExpression string) string {
	return `: {"Rule":"` + rule + `","Message":"","MessageExpression":"` + messageExpression +
		`","Reason":null,"FieldPath":"","OptionalOldSelf":null}: `
}

// version returns a version of a definition, with the schema of its spec.
func version(name, schema string) string {
	return `{"name":"` + name + `","served":true,"storage":false,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":` + schema + `}}}}`
}
