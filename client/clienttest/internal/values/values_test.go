package values

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

func object(t *testing.T, text string) jsontree.Object {
	t.Helper()
	v, err := jsontree.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := v.(jsontree.Object)
	return m
}

func parse(t *testing.T, schema string) *Schema {
	t.Helper()
	s, err := Parse(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// causes returns the causes for an object {"v": now}, one in a line. The object replaces {"v": old} unless old is empty.
func causes(t *testing.T, schema, now, old string) string {
	t.Helper()
	s := parse(t, `{"type":"object","properties":{"v":`+schema+`}}`)
	var was jsontree.Object
	if old != "" {
		was = object(t, `{"v":`+old+`}`)
	}
	var lines []string
	for _, c := range s.Check(object(t, `{"v":`+now+`}`), was) {
		lines = append(lines, fmt.Sprintf("%s %s: %s", strings.TrimPrefix(c.Reason, "FieldValue"), c.Field, c.Message))
	}
	return strings.Join(lines, "\n")
}

// internal/proof/e2e compares random schemas and values with a kube-apiserver.
func TestValuesAreCheckedAsAServerDoes(t *testing.T) {
	for _, test := range []struct{ schema, value, want string }{
		{`{"type":"string"}`, `"a"`, ""},
		{`{"type":"string"}`, `1`, `TypeInvalid v: Invalid value: "integer": v in body must be of type string: "integer"`},
		{`{"type":"string"}`, `null`, `TypeInvalid v: Invalid value: "null": v in body must be of type string: "null"`},
		{`{"type":"string","nullable":true}`, `null`, ""},
		{`{"type":"integer"}`, `2.5`, `Invalid <nil>: Invalid value: "": Checked value must be of type integer (default format) in v` + "\n" +
			`TypeInvalid v: Invalid value: "number": v in body must be of type integer: "number"`},
		{`{"type":"integer"}`, `2.0`, ""},
		{`{"type":"number"}`, `2`, ""},
		{`{"type":"integer","format":"int32"}`, `4294967296`, `Invalid <nil>: Invalid value: "": Checked value must be of type integer with format int32 in v`},
		{`{"x-kubernetes-int-or-string":true}`, `"10%"`, ""},
		{`{"x-kubernetes-int-or-string":true}`, `true`, `TypeInvalid v: Invalid value: "boolean": v in body must be of type integer,string: "boolean"`},
		{`{"type":"string","maxLength":2}`, `"éé"`, ""},
		{`{"type":"string","maxLength":1}`, `"éé"`, "TooLong v: Too long: may not be more than 1 byte"},
		{`{"type":"string","minLength":2}`, `"é"`, `Invalid v: Invalid value: "é": v in body should be at least 2 chars long`},
		{`{"type":"string","pattern":"^a"}`, `"b"`, `Invalid v: Invalid value: "b": v in body should match '^a'`},
		{`{"type":"string","enum":["a","b"]}`, `"c"`, `NotSupported v: Unsupported value: "c": supported values: "a", "b"`},
		{`{"type":"number","enum":[1]}`, `1.0`, ""},
		{`{"type":"integer","minimum":2}`, `1`, `Invalid v: Invalid value: 1: v in body should be greater than or equal to 2`},
		{`{"type":"integer","minimum":2,"exclusiveMinimum":true}`, `2`, `Invalid v: Invalid value: 2: v in body should be greater than 2`},
		{`{"type":"number","maximum":2.5}`, `3.5`, `Invalid v: Invalid value: 3.5: v in body should be less than or equal to 2.5`},
		{`{"type":"integer","multipleOf":3}`, `4`, `Invalid v: Invalid value: 4: v in body should be a multiple of 3`},
		{`{"type":"number","multipleOf":0.1}`, `0.3`, ""},
		{`{"type":"array","items":{"type":"string"}}`, `["a",1]`, `TypeInvalid v[1]: Invalid value: "integer": v[1] in body must be of type string: "integer"`},
		{`{"type":"array","maxItems":1,"items":{"type":"string"}}`, `["a","b"]`, "TooMany v: Too many: 2: must have at most 1 item"},
		{`{"type":"array","minItems":1,"items":{"type":"string"}}`, `[]`, `Invalid v: Invalid value: 0: v in body should have at least 1 items`},
		{`{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}`, `["a","b","a"]`, `Duplicate v[2]: Duplicate value: "a"`},
		{
			`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],"items":{"type":"object","properties":{"a":{"type":"string"}}}}`,
			`[{"a":"x"},{},{"a":"x"}]`, `Duplicate v[2]: Duplicate value: {"a":"x"}`,
		},
		{`{"type":"object","required":["a","b"],"properties":{"a":{"type":"string"}}}`, `{"a":"x"}`, "Required v.b: Required value"},
		{`{"type":"object","additionalProperties":{"type":"integer"}}`, `{"a":"x"}`, `TypeInvalid v.a: Invalid value: "string": v.a in body must be of type integer: "string"`},
		{`{"type":"object","maxProperties":1}`, `{"a":1,"b":1}`, "TooMany v: Too many: 2: must have at most 1 item"},
		{`{"type":"object","minProperties":1}`, `{}`, `Invalid v: Invalid value: 0: v in body should have at least 1 properties`},
		{`{"type":"string","format":"date"}`, `"2024-1-2"`, `TypeInvalid v: Invalid value: "2024-1-2": v in body must be of type date: "2024-1-2"`},
		{`{"type":"string","format":"date"}`, `true`, `TypeInvalid v: Invalid value: "": v in body must be of type date: ""`},
		{`{"type":"string","format":"unknown"}`, `"x"`, ""},
		{`{"type":"string","anyOf":[{"pattern":"a"},{"pattern":"b"}]}`, `"b"`, ""},
		{
			`{"type":"string","anyOf":[{"pattern":"a"},{"pattern":"b"}]}`, `"c"`,
			`Invalid <nil>: Invalid value: "": "v" must validate at least one schema (anyOf)` + "\n" + `Invalid v: Invalid value: "c": v in body should match 'a'`,
		},
		{
			`{"type":"string","oneOf":[{"pattern":"a"},{"pattern":"b"}]}`, `"ab"`,
			`Invalid <nil>: Invalid value: "": "v" must validate one and only one schema (oneOf). Found 2 valid alternatives`,
		},
		{
			`{"type":"string","allOf":[{"pattern":"a"},{"pattern":"b"}]}`, `"a"`,
			`Invalid <nil>: Invalid value: "": "v" must validate all the schemas (allOf)` + "\n" + `Invalid v: Invalid value: "a": v in body should match 'b'`,
		},
		{`{"type":"string","not":{"pattern":"a"}}`, `"a"`, `Invalid <nil>: Invalid value: "": "v" must not validate the schema (not)`},
		{
			`{"type":"object","x-kubernetes-embedded-resource":true}`, `{"apiVersion":"a/b/c"}`,
			`Invalid v.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c` + "\n" + "Required v.kind: Required value",
		},
	} {
		if got := causes(t, test.schema, test.value, ""); got != test.want {
			t.Errorf("%s as %s: got\n%s\nwant\n%s", test.value, test.schema, got, test.want)
		}
	}
}

func TestOldInvalidValuesMayStay(t *testing.T) {
	const parts = `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{
		"k":{"type":"string"},"n":{"type":"integer","maximum":1}}}}`
	for _, test := range []struct {
		name, schema, old, now string
		wrong                  bool
	}{
		{"the same value", `{"type":"integer","maximum":1}`, `2`, `2`, false},
		{"another wrong value", `{"type":"integer","maximum":1}`, `2`, `3`, true},
		{"a member beside a changed one", `{"type":"object","properties":{"a":{"type":"integer","maximum":1},"b":{"type":"string"}}}`, `{"a":2,"b":"x"}`, `{"a":2,"b":"y"}`, false},
		{"an element with its key", parts, `[{"k":"a","n":2}]`, `[{"k":"b","n":1},{"k":"a","n":2}]`, false},
		{"an element with another key", parts, `[{"k":"a","n":2}]`, `[{"k":"b","n":2}]`, true},
		{"an element of a list without keys", `{"type":"array","items":{"type":"integer","maximum":1}}`, `[2]`, `[2,1]`, true},
		{"a missing member of an unchanged object", `{"type":"object","required":["a"],"properties":{"b":{"type":"string"}}}`, `{"b":"x"}`, `{"b":"x"}`, false},
		{"a missing member of a changed object", `{"type":"object","required":["a"],"properties":{"b":{"type":"string"}}}`, `{"b":"x"}`, `{"b":"y"}`, true},
		{"an unchanged object with a member without a schema", `{"type":"object","required":["a"]}`, `{"b":"x"}`, `{"b":"x"}`, true},
		{"a list whose elements were twice there too", `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}`, `["a","a"]`, `["b","b"]`, false},
		{"a list whose elements were not", `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}`, `["a"]`, `["a","a"]`, true},
	} {
		if got := causes(t, test.schema, test.now, test.old); (got != "") != test.wrong {
			t.Errorf("%s: got %q", test.name, got)
		}
	}
}

func TestAnUpdateOfTheStatusChecksTheStatus(t *testing.T) {
	s := parse(t, `{"type":"object","properties":{"spec":{"type":"integer"},"status":{"type":"object","required":["a"],"properties":{"b":{"type":"integer"}}}}}`)
	got := s.CheckStatus(object(t, `{"spec":"wrong","status":{"b":"x"}}`), object(t, `{"spec":"wrong"}`))
	if len(got) != 2 || got[0].Field != "status.a" || got[1].Field != "status.b" || !strings.HasPrefix(got[1].Message, `Invalid value: "string": b in body`) {
		t.Errorf("got %+v", got)
	}
	if got := s.CheckStatus(object(t, `{"spec":"wrong"}`), object(t, `{"spec":"wrong"}`)); len(got) != 0 {
		t.Errorf("without a status: %+v", got)
	}
}

func TestTextsHaveTheFormatsOfAServer(t *testing.T) {
	for format, test := range map[string]struct{ right, wrong []string }{
		"uri":            {[]string{"http://a/b", "/b"}, []string{"", "a b"}},
		"email":          {[]string{"x@y.z", "X <x@y.z>"}, []string{"x"}},
		"hostname":       {[]string{"a", "a.b.example"}, []string{"", "-a", "a_b", strings.Repeat("a", 64) + ".example"}},
		"ipv4":           {[]string{"10.0.0.1", "010.0.0.1"}, []string{"10.0.0", "256.0.0.1", "::1"}},
		"ipv6":           {[]string{"::1"}, []string{"10.0.0.1", "::1%eth0"}},
		"cidr":           {[]string{"10.0.0.0/8", "::/128"}, []string{"10.0.0.0", "10.0.0.0/33", "::/129"}},
		"mac":            {[]string{"aa:bb:cc:dd:ee:ff"}, []string{"aa:bb"}},
		"uuid":           {[]string{"e58ed763-928c-4155-bee9-fdbaaadc15f3"}, []string{"e58ed763"}},
		"uuid3":          {[]string{"e58ed763-928c-3155-bee9-fdbaaadc15f3"}, []string{"e58ed763-928c-4155-bee9-fdbaaadc15f3"}},
		"uuid4":          {[]string{"e58ed763-928c-4155-bee9-fdbaaadc15f3"}, []string{"e58ed763-928c-3155-bee9-fdbaaadc15f3"}},
		"uuid5":          {[]string{"e58ed763-928c-5155-bee9-fdbaaadc15f3"}, []string{"e58ed763-928c-4155-bee9-fdbaaadc15f3"}},
		"isbn":           {[]string{"0-321-75104-3", "978-0321751041"}, []string{"0-321-75104-4"}},
		"isbn10":         {[]string{"0-321-75104-3", "080442957X"}, []string{"978-0321751041", "08044295X7"}},
		"isbn13":         {[]string{"978-0321751041"}, []string{"978-0321751042", "0-321-75104-3"}},
		"creditcard":     {[]string{"4111 1111 1111 1111"}, []string{"4111 1111 1111 1112", "1"}},
		"ssn":            {[]string{"123-45-6789"}, []string{"123456789"}},
		"hexcolor":       {[]string{"#fff", "ffffff"}, []string{"#ffff"}},
		"rgbcolor":       {[]string{"rgb(1, 2, 255)"}, []string{"rgb(1,2,256)"}},
		"byte":           {[]string{"YWJj", "YWI="}, []string{"", "YWI"}},
		"password":       {[]string{"", "x"}, nil},
		"date":           {[]string{"2024-01-02"}, []string{"2024-1-2"}},
		"date-time":      {[]string{"2024-01-02T03:04:05Z", "2024-01-02t03:04:05.5+01:00"}, []string{"2024-01-02", "2024-01-02T24:00:00Z"}},
		"duration":       {[]string{"5m", "3 days", "2 w"}, []string{"", "5 parsecs"}},
		"bsonobjectid":   {[]string{"0123456789abcdef01234567"}, []string{"0123"}},
		"k8s-short-name": {[]string{"a-1"}, []string{"A", "a.b", strings.Repeat("a", 64)}},
		"k8s-long-name":  {[]string{"a.b-c"}, []string{"a..b", strings.Repeat("a", 254)}},
	} {
		for _, text := range slices.Concat(test.right, test.wrong) {
			quoted, _ := json.Marshal(text)
			got := causes(t, `{"type":"string","format":"`+format+`"}`, string(quoted), "")
			if (got == "") != slices.Contains(test.right, text) {
				t.Errorf("%q as %s: got %q", text, format, got)
			}
		}
	}
}

func TestSchemasThatCannotBeReadAreRefused(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":5}`: "cannot unmarshal number",
		`{"properties":{"a":{"items":{"pattern":"("}}}}`: "Schema.properties.a.items.pattern: error parsing regexp",
		`{"anyOf":[null]}`: "Schema.anyOf[0] must be an object",
		`{"additionalProperties":{"not":{"enum":1}}}`: "cannot unmarshal number",
	} {
		if _, err := Parse(json.RawMessage(schema)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", schema, err, want)
		}
	}
}

// A hostile object has as many problems as it has members.
func TestManyProblemsTakeNoLongerThanTheirNumber(t *testing.T) {
	const n = 200_000
	s := parse(t, `{"type":"object","properties":{"v":{"type":"array","items":{"type":"string"}}}}`)
	if got := s.Check(object(t, `{"v":[0`+strings.Repeat(",0", n-1)+`]}`), nil); len(got) != n {
		t.Errorf("got %d causes", len(got))
	}
}

func TestALongListWithKeysIsCheckedAtOnce(t *testing.T) {
	const n = 50_000
	s := parse(t, `{"type":"object","properties":{"v":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
		"items":{"type":"object","properties":{"k":{"type":"integer"},"n":{"type":"integer","maximum":1}}}}}}`)
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"k":%d,"n":2}`, i)
	}
	all := b.String()[1:]
	if got := s.Check(object(t, `{"v":[`+all+`,{"k":-1,"n":2}]}`), object(t, `{"v":[`+all+`]}`)); len(got) != 1 || got[0].Field != fmt.Sprintf("v[%d].n", n) {
		t.Errorf("got %d causes", len(got))
	}
}

func TestRulesNamesTheSchemasThatHaveRules(t *testing.T) {
	s := parse(t, `{"type":"object","x-kubernetes-validations":[{"rule":"true"},{"rule":"true"}],"properties":{
		"a":{"type":"array","items":{"type":"string","x-kubernetes-validations":[{"rule":"true"}]}},
		"b":{"type":"object","additionalProperties":{"type":"string","x-kubernetes-validations":[{"rule":"true"}]}},"c":{"type":"string"}}}`)
	if got, want := s.Rules(), []string{"Schema", "Schema.properties.a.items", "Schema.properties.b.additionalProperties"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
