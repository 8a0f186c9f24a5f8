package definitions

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
)

const valid = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"pages.example.com"},"spec":{
	"group":"example.com","scope":"Namespaced","names":{"plural":"pages","kind":"Page"},
	"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
		"spec":{"type":"object","properties":{"color":{"type":"string"},"count":{"type":"integer"}}}}}}}]}}`

func parse(t *testing.T, text string) jsontree.Object {
	t.Helper()
	v, err := jsontree.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	o, _ := v.(jsontree.Object)
	return o
}

// completed returns a completed draft of a whole object.
func completed(t *testing.T, o jsontree.Object) *object.Draft {
	t.Helper()
	d, err := object.Parse(jsontree.Append(nil, o))
	if err != nil {
		t.Fatal(err)
	}
	Complete(d.Content)
	return d
}

// changed returns the valid definition with a merge patch at one place, and the definition that it replaces, if any.
func changed(t *testing.T, at, change string) (d, old *object.Draft) {
	t.Helper()
	o, patch := parse(t, valid), parse(t, change)
	spec, _ := o["spec"].(jsontree.Object)
	version := view(spec).list("versions")[0]
	root := version.in("schema").in("openAPIV3Schema")
	switch at {
	case "metadata", "spec", "status":
		o[at] = jsontree.Merge(o[at], patch)
	case "approved soon":
		o["metadata"] = jsontree.Merge(o["metadata"], parse(t, `{"annotations":{"api-approved.kubernetes.io":"soon"}}`))
		jsontree.Merge(spec, patch)
	case "update", "established":
		jsontree.Merge(spec, patch)
		old = completed(t, parse(t, valid))
		if at == "established" {
			old.Content["status"] = parse(t, `{"conditions":[{"type":"Established","status":"True"}]}`)
		}
	case "version":
		jsontree.Merge(jsontree.Object(version), patch)
	case "root":
		jsontree.Merge(jsontree.Object(root), patch)
	case "color":
		root.in("properties").in("spec").in("properties")["color"] = patch
	case "status subresource":
		jsontree.Merge(jsontree.Object(root), patch)
		version["subresources"] = jsontree.Object{"status": jsontree.Object{}}
	}
	return completed(t, o), old
}

// The answers are those of k8s.io/apiextensions-apiserver v0.37.2, apart from the schema that one message shows.
func TestDefinitionsAreCheckedAsAServerDoes(t *testing.T) {
	short := strings.NewReplacer(labelRule, "<label>", subdomainRule, "<subdomain>",
		"spec.validation.openAPIV3Schema.properties[spec].properties[color]", "<color>", "spec.validation.openAPIV3Schema", "<schema>")
	for _, test := range []struct{ at, change, want string }{
		{"", `{}`, ""},
		{"metadata", `{"name":"other.example.com"}`, `Invalid metadata.name: Invalid value: "other.example.com": must be spec.names.plural+"."+spec.group`},
		{"approved soon", `{"group":"x.k8s.io"}`, `Invalid metadata.name: Invalid value: "pages.example.com": must be spec.names.plural+"."+spec.group
Invalid metadata.annotations[api-approved.kubernetes.io]: Invalid value: "soon": protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`},
		{"spec", `{"group":"x.k8s.io"}`, `Invalid metadata.name: Invalid value: "pages.example.com": must be spec.names.plural+"."+spec.group
Required metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111`},
		{"spec", `{"group":"com"}`, `Invalid metadata.name: Invalid value: "pages.example.com": must be spec.names.plural+"."+spec.group
Invalid spec.group: Invalid value: "com": should be a domain with at least one dot`},
		{"spec", `{"group":"Example.com"}`, `Invalid metadata.name: Invalid value: "pages.example.com": must be spec.names.plural+"."+spec.group
Invalid spec.group: Invalid value: "Example.com": <subdomain>`},
		{"spec", `{"scope":null}`, `Required spec.scope: Required value`},
		{"spec", `{"scope":"Global"}`, `NotSupported spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"`},
		{"spec", `{"preserveUnknownFields":true}`, `Invalid spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead`},
		{"spec", `{"names":{"kind":"a page"}}`, `Invalid spec.names.singular: Invalid value: "a page": <label>
Invalid spec.names.kind: Invalid value: "a page": may have mixed case, but should otherwise match: <label>
Invalid spec.names.listKind: Invalid value: "a pageList": may have mixed case, but should otherwise match: <label>`},
		{"spec", `{"names":{"kind":null}}`, `Required spec.names.singular: Required value
Required spec.names.kind: Required value
Required spec.names.listKind: Required value`},
		{"spec", `{"names":{"listKind":"Page"}}`, `Invalid spec.names.listKind: Invalid value: "Page": kind and listKind may not be the same`},
		{"spec", `{"names":{"singular":"Page","shortNames":["p","P"],"categories":["All"]}}`, `Invalid spec.names.singular: Invalid value: "Page": <label>
Invalid spec.names.shortNames[1]: Invalid value: "P": <label>
Invalid spec.names.categories[0]: Invalid value: "All": <label>`},
		{"spec", `{"conversion":{"strategy":"Magic"}}`, `NotSupported spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"`},
		{"spec", `{"conversion":{"strategy":"Webhook"}}`, `Required spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook
Required spec.conversion.conversionReviewVersions: Required value`},
		{"spec", `{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v2"],"clientConfig":{"url":"http://u@example.com/?a#b"}}}}`, `Invalid spec.conversion.webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]
Invalid spec.conversion.webhookClientConfig.url: Invalid value: "u": user information is not permitted in the URL
Invalid spec.conversion.webhookClientConfig.url: Invalid value: "b": fragments are not permitted in the URL
Invalid spec.conversion.webhookClientConfig.url: Invalid value: "a": query parameters are not permitted in the URL
Invalid spec.conversion.conversionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1`},
		{"spec", `{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1","v1"],"clientConfig":{"service":{"name":"a","path":"a//B","port":0}}}}}`, `Required spec.conversion.webhookClientConfig.service.name: Required value
Invalid spec.conversion.webhookClientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive
Invalid spec.conversion.webhookClientConfig.service.path: Invalid value: "a//B": must start with a '/'
Invalid spec.conversion.webhookClientConfig.service.path: Invalid value: "a//B": segment[0] may not be empty
Invalid spec.conversion.webhookClientConfig.service.path: Invalid value: "a//B": segment[1] may not be empty
Invalid spec.conversion.webhookClientConfig.service.path: Invalid value: "a//B": segment[2]: <subdomain>
Invalid spec.conversion.conversionReviewVersions[1]: Invalid value: "v1": duplicate version`},
		{"spec", `{"conversion":{"strategy":"None","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{}}}}`, `Forbidden spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook
Forbidden spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook`},
		{"status", `{"storedVersions":["v0","v1"]}`, `Invalid status.storedVersions[0]: Invalid value: "v0": missing from spec.versions; v0 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v0 and removes v0 from status.storedVersions`},
		{"status", `{"storedVersions":["v0"],"acceptedNames":{"plural":"Pages"}}`, `Invalid status.acceptedNames.plural: Invalid value: "Pages": <label>
Invalid status.storedVersions: Invalid value: ["v0"]: must have the storage version v1
Invalid status.storedVersions[0]: Invalid value: "v0": missing from spec.versions; v0 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v0 and removes v0 from status.storedVersions`},
		{"version", `{"name":"V1"}`, `Invalid spec.versions[0].name: Invalid value: "V1": <label>
Invalid spec.version: Invalid value: "V1": <label>`},
		{"version", `{"deprecationWarning":"no"}`, `Invalid spec.versions[0].deprecationWarning: Invalid value: "no": can only be set for deprecated versions`},
		{"version", `{"deprecated":true,"deprecationWarning":""}`, `Invalid spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string`},
		{"version", `{"deprecated":true,"deprecationWarning":"a\nb"}`, `Invalid spec.versions[0].deprecationWarning: Invalid value: "a\nb": must only contain printable UTF-8 characters; non-printable character found at index 1`},
		{"version", `{"schema":null}`, `Required spec.versions[0].schema.openAPIV3Schema: Required value`},
		{"version", `{"served":false}`, ""},
		{"version", `{"subresources":{"scale":{"specReplicasPath":"spec.count","statusReplicasPath":".spec.count","labelSelectorPath":".count"}}}`, `Invalid spec.subresources.scale.specReplicasPath: Invalid value: "spec.count": must be a simple json path starting with .
Invalid spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.count": should be a json path under .status
Invalid spec.subresources.scale.labelSelectorPath: Invalid value: ".count": should be a json path under either .spec or .status`},
		{"version", `{"subresources":{"scale":{}}}`, `Required spec.subresources.scale.specReplicasPath: Required value
Required spec.subresources.scale.statusReplicasPath: Required value`},
		{"version", `{"additionalPrinterColumns":[{"type":"object","format":"float64","jsonPath":"a"}]}`, `Required spec.additionalPrinterColumns[0].name: Required value
Invalid spec.additionalPrinterColumns[0].type: Invalid value: "object": must be one of boolean,date,integer,number,string
Invalid spec.additionalPrinterColumns[0].format: Invalid value: "float64": must be one of byte,date,date-time,double,float,int32,int64,password
Invalid spec.additionalPrinterColumns[0].JSONPath: Invalid value: "a": must be a simple json path starting with .`},
		{"version", `{"additionalPrinterColumns":[{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}]}`, ""},
		{"version", `{"selectableFields":[{"jsonPath":".spec.color"},{"jsonPath":".spec.count"}]}`, ""},
		{"version", `{"selectableFields":[{"jsonPath":".spec.color"},{"jsonPath":".spec.color"},{"jsonPath":".spec"},{"jsonPath":".spec.size"},{"jsonPath":".spec['color']"},{"jsonPath":"spec"},{"jsonPath":".spec."},{}]}`, `Duplicate spec.selectableFields[1].jsonPath: Duplicate value: ".spec.color"
Invalid spec.selectableFields[2].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.
Invalid spec.selectableFields[3].jsonPath: Invalid value: ".spec.size": is an invalid path: does not refer to a valid field
Invalid spec.selectableFields[4].jsonPath: Invalid value: ".spec['color']": is an invalid path: array notation is not allowed
Invalid spec.selectableFields[5].jsonPath: Invalid value: "spec": is an invalid path: expected [ or . but got: spec
Invalid spec.selectableFields[6].jsonPath: Invalid value: ".spec.": is an invalid path: unexpected end of JSON path
Required spec.selectableFields[7].jsonPath: Required value`},
		{"root", `{"type":"string"}`, `Invalid <schema>.type: Invalid value: "string": must be object at the root`},
		{"root", `{"nullable":true}`, `Forbidden <schema>.nullable: Forbidden: nullable cannot be true at the root`},
		{"root", `{"additionalProperties":true}`, `Forbidden <schema>.additionalProperties: Forbidden: must not be used at the root`},
		{"root", `{"x-kubernetes-preserve-unknown-fields":false}`, `Invalid <schema>.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`},
		{"root", `{"properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}},"kind":{"type":"integer"}}}`, `Invalid <schema>.properties[kind].type: Invalid value: "integer": must be string
Forbidden <schema>.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`},
		{"root", `{"properties":{"metadata":{"type":"object","default":{"name":"a"}}}}`, `Forbidden <schema>.properties[metadata].default: Forbidden: must not be set in top-level metadata`},
		{"color", `{}`, `Required <color>.type: Required value: must not be empty for specified object fields`},
		{"color", `{"type":"text"}`, `NotSupported <color>.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`},
		{"color", `{"type":"null"}`, `NotSupported <color>.type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"
Forbidden <color>.type: Forbidden: type cannot be set to null, use nullable as an alternative`},
		{"color", `{"type":"array"}`, `Required <color>.items: Required value: must be specified`},
		{"color", `{"type":"array","items":{}}`, `Required <color>.items.type: Required value: must not be empty for specified array items`},
		{"color", `{"type":"array","items":[{"type":"string"}]}`, `Forbidden <color>.items: Forbidden: items must be a schema object and not an array`},
		{"color", `{"type":"array","items":{"type":"string"},"uniqueItems":true}`, `Forbidden <color>.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`},
		{"color", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}`, `Forbidden <color>.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`},
		{"color", `{"type":"string","id":"a","$ref":"b"}`, `Forbidden <color>.id: Forbidden: id is not supported
Forbidden <color>.$ref: Forbidden: $ref is not supported`},
		{"color", `{"type":"string","$schema":"a"}`, `Invalid <schema>: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`},
		{"color", `{"type":"string","pattern":"("}`, "Invalid <color>.pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): `(`"},
		{"color", `{"type":"object","anyOf":[{"required":["a"]},{"properties":{"a":{"type":"string"}}}]}`, `Forbidden <color>.anyOf[1].properties[a].type: Forbidden: must be empty to be structural`},
		{"color", `{"type":"object","not":{"properties":{"metadata":{}},"description":"d","default":1,"nullable":true}}`, `Forbidden <color>.not.default: Forbidden: must be undefined to be structural
Forbidden <color>.not.description: Forbidden: must be empty to be structural
Forbidden <color>.not.nullable: Forbidden: must be false to be structural
Forbidden <color>.not.properties[metadata]: Forbidden: must not be specified in a nested context`},
		{"root", `{"allOf":[{"properties":{"spec":{"properties":{"size":{"minimum":1}}}}}]}`, `Required <schema>.properties[spec].properties[size]: Required value: because it is defined in <schema>.allOf[0].properties[spec].properties[size]`},
		{"color", `{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}`, ""},
		{"color", `{"x-kubernetes-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]},{"maxLength":3}]}`, ""},
		{"color", `{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"string"},{"type":"integer"}]}`, `Forbidden <color>.anyOf[0].type: Forbidden: must be empty to be structural
Forbidden <color>.anyOf[1].type: Forbidden: must be empty to be structural`},
		{"color", `{"x-kubernetes-int-or-string":true,"x-kubernetes-preserve-unknown-fields":true}`, `Invalid <color>.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true`},
		{"color", `{"type":"object","x-kubernetes-embedded-resource":true}`, `Required <color>.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`},
		{"color", `{"x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}`, `Required <color>.type: Required value: must be object if x-kubernetes-embedded-resource is true`},
		{"color", `{"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"set"}`, `Invalid <color>.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`},
		{"color", `{"type":"string","x-kubernetes-list-type":"bag","x-kubernetes-map-type":"bag"}`, `Invalid <color>.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified
NotSupported <color>.x-kubernetes-map-type: Unsupported value: "bag": supported values: "atomic", "granular"
Invalid <color>.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified
NotSupported <color>.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"`},
		{"color", `{"type":"array","x-kubernetes-list-type":"map","items":{"type":"string"}}`, `Required <color>.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map
Invalid <color>.items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`},
		{"color", `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","b","b"],"items":{"type":"object","nullable":true,"properties":{"a":{"type":"array","items":{"type":"string"},"nullable":true}}}}`, `Invalid <color>.items.properties[a].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map
Invalid <color>.x-kubernetes-list-map-keys: Invalid value: ["a","b","b"]: entries must all be names of item properties
Invalid <color>.x-kubernetes-list-map-keys: Invalid value: ["a","b","b"]: entries must all be names of item properties
Invalid <color>.x-kubernetes-list-map-keys: Invalid value: ["a","b","b"]: must not contain duplicate entries
Forbidden <color>.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map
Required <color>.items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property
Forbidden <color>.items.properties[a].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable`},
		{"color", `{"type":"array","x-kubernetes-list-map-keys":["a"],"items":{"type":"object"}}`, `Required <color>.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty`},
		{"color", `{"type":"string","default":1}`, `TypeInvalid <color>.default: Invalid value: "integer":  in body must be of type string: "integer"`},
		{"color", `{"type":"string","enum":["a"],"default":"b"}`, `NotSupported <color>.default: Unsupported value: "b": supported values: "a"`},
		{"color", `{"type":"object","properties":{"a":{"type":"string"}},"default":{"b":1}}`, `Invalid <color>.default: Invalid value: {"b":1}: must not have unknown fields`},
		{"color", `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"kind":"a b"}}`, `Required <color>.default.apiVersion: Required value
Invalid <color>.default.kind: Invalid value: "a b": may have mixed case, but should otherwise match: <label>`},
		{"color", `{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","default":"a/b"}}}}}`, `Invalid <color>.properties[metadata].properties[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain '/'`},
		{"color", `{"type":"string","x-kubernetes-validations":[{"rule":" "},{"rule":"true","message":"a\nb","reason":"Wrong","messageExpression":" ","fieldPath":".a"}]}`, `Required <color>.x-kubernetes-validations[0].rule: Required value: rule is not specified
Invalid <color>.x-kubernetes-validations[1].message: Invalid value: "a\nb": must not contain line breaks
Required <color>.x-kubernetes-validations[1].messageExpression: Required value: messageExpression must be non-empty if specified
NotSupported <color>.x-kubernetes-validations[1].reason: Unsupported value: "Wrong": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"
Invalid <color>.x-kubernetes-validations[1].fieldPath: Invalid value: ".a": must be a valid path`},
		{"status subresource", `{"type":"object","minProperties":1}`, `Invalid <schema>: Invalid value: {"minProperties":1,"properties":{"spec":{"properties":{"color":{"type":"string"},"count":{"type":"integer"}},"type":"object"}},"type":"object"}: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled`},
		{"update", `{"group":"b.example.com","scope":"Cluster","names":{"plural":"sites","kind":"Site"}}`, `Invalid spec.group: Invalid value: "b.example.com": field is immutable
Invalid spec.names.plural: Invalid value: "sites": field is immutable`},
		{"established", `{"group":"b.example.com","scope":"Cluster","names":{"plural":"sites","kind":"Site"}}`, `Invalid spec.scope: Invalid value: "Cluster": field is immutable
Invalid spec.names.kind: Invalid value: "Site": field is immutable
Invalid spec.group: Invalid value: "b.example.com": field is immutable
Invalid spec.names.plural: Invalid value: "sites": field is immutable`},
		{"update", `{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://example.com","caBundle":"YQ=="}}}}`, ""},
		{"established", `{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://example.com","caBundle":"YQ=="}}}}`, `Invalid spec.conversion.webhookClientConfig.caBundle: Invalid value: "YQ==": unable to load root certificates: unable to parse bytes as PEM block`},
	} {
		d, old := changed(t, test.at, test.change)
		var lines []string
		for _, c := range Check(d, old) {
			lines = append(lines, short.Replace(strings.TrimPrefix(c.Reason, "FieldValue")+" "+c.Field+": "+c.Message))
		}
		if got := strings.Join(lines, "\n"); got != test.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", test.at, test.change, got, test.want)
		}
	}
}

// AcceptedNames of a status are checked, whatever else the status says.
func TestAnUpdateOfTheStatusChecksNames(t *testing.T) {
	d, _ := changed(t, "status", `{"acceptedNames":{"plural":"Pages"},"storedVersions":["v0"]}`)
	if causes := CheckStatus(d); len(causes) != 1 || causes[0].Field != "status.acceptedNames.plural" {
		t.Errorf("causes %v", causes)
	}
}

func TestDefaultsAreCompleted(t *testing.T) {
	for _, test := range []struct{ sent, want string }{
		{`{}`, `{}`},
		{
			`{"spec":{"names":{"kind":"Page"},"versions":[{"name":"v1"},{"name":"v2","storage":true}]}}`,
			`{"spec":{"names":{"kind":"Page","singular":"page","listKind":"PageList"},"conversion":{"strategy":"None"},
				"versions":[{"name":"v1"},{"name":"v2","storage":true}]},"status":{"storedVersions":["v2"]}}`,
		},
		{
			`{"spec":{"conversion":{"webhook":{"clientConfig":{"service":{}}}},"versions":[{"name":"v1","storage":true}]},"status":{"storedVersions":["v0"]}}`,
			`{"spec":{"conversion":{"webhook":{"clientConfig":{"service":{"port":443}}}},"versions":[{"name":"v1","storage":true}]},"status":{"storedVersions":["v0"]}}`,
		},
	} {
		o := parse(t, test.sent)
		Complete(o)
		if want := parse(t, test.want); !jsontree.Equal(o, want) {
			t.Errorf("%s became %s", test.sent, jsontree.Append(nil, o))
		}
	}
	o := parse(t, `{"spec":{"versions":[{"name":"v1","storage":true}]},"status":{"storedVersions":["v0"]}}`)
	AddStoredVersion(o)
	AddStoredVersion(o)
	if got := view(o).in("status").texts("storedVersions"); !slices.Equal(got, []string{"v0", "v1"}) {
		t.Errorf("stored versions %v", got)
	}
}

func TestADefinitionIsReadCompletely(t *testing.T) {
	d := completed(t, parse(t, `{"metadata":{"name":"pages.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"pages","kind":"Page","shortNames":["pg"],"categories":["all"]},
		"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
			"clientConfig":{"caBundle":"YQ==","service":{"namespace":"n","name":"s","path":"/p"}}}},
		"versions":[{"name":"v1","served":true,"storage":true,"deprecated":true,"deprecationWarning":"w",
			"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-validations":[{"rule":"true"},{"rule":"true"}],
				"properties":{"a":{"type":"array","items":{"type":"string","x-kubernetes-validations":[{"rule":"true"}]}}}}},
			"subresources":{"status":{},"scale":{"specReplicasPath":".spec.a","statusReplicasPath":".status.a"}},
			"additionalPrinterColumns":[{"name":"Age","type":"date","priority":1,"jsonPath":".a"}],
			"selectableFields":[{"jsonPath":".spec.a"}]},{"name":"v2"}]},
		"status":{"acceptedNames":{"plural":"pages"},"conditions":[{"type":"Established","status":"True","reason":"r","message":"m"}]}}`))
	want := &Definition{
		Name: "pages.example.com", Group: "example.com", Namespaced: true,
		Names: Names{"pages", "page", []string{"pg"}, "Page", "PageList", []string{"all"}},
		Versions: []Version{{
			Name: "v1", Served: true, Storage: true, Deprecated: true, DeprecationWarning: "w", Status: true,
			Scale: &Scale{".spec.a", ".status.a", ""}, Columns: []Column{{Name: "Age", Type: "date", Priority: 1, JSONPath: ".a"}},
			SelectableFields: []string{".spec.a"},
		}, {Name: "v2"}},
		Conversion: Conversion{
			"Webhook", []byte("a"), []byte(`{"caBundle":"YQ==","service":{"name":"s","namespace":"n","path":"/p","port":443}}`), []string{"v1"},
		},
		Accepted: Names{Plural: "pages"}, Conditions: []Condition{{"Established", "True", "r", "m"}},
	}
	got := Read(d)
	got.Versions[0].Schema = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got, want)
	}
}

// FuzzCheck checks that no content is a reason to panic.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(valid), []byte(`{}`))
	f.Add([]byte(`{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"default":{"metadata":1},"items":[{}],"properties":{"a":null}}},"selectableFields":[{"jsonPath":".a"}]},1]}}`), []byte(`{"spec":1}`))
	f.Add([]byte(`{"spec":{"names":[],"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"service":1}}},"versions":[{"additionalPrinterColumns":[null]}]}}`), []byte(valid))
	f.Fuzz(func(t *testing.T, now, before []byte) {
		d, err := object.Parse(now)
		if err != nil {
			return
		}
		old, err := object.Parse(before)
		if err != nil {
			old = nil
		}
		Complete(d.Content)
		AddStoredVersion(d.Content)
		Check(d, old)
		CheckStatus(d)
		def := Read(d)
		def.Accept([]*Definition{def})
	})
}
