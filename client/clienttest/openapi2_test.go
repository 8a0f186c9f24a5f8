package clienttest_test

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

const openapi2Schema = `{"type":"object","properties":{"spec":{"type":"object","required":["color"],"properties":{
	"color":{"type":"string"},"sizes":{"type":"array","items":{"type":"integer"}},"port":{"x-kubernetes-int-or-string":true},
	"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"}}},
	"texts":{"type":"object","additionalProperties":{"type":"string"}},"none":{"type":"string","nullable":true}}}}}`

// The answers to these paths into the document, in both forms, are those of kube-apiserver 1.37 for the same definition.
func TestOpenAPIV2HasTheSameContentInJSONAndProtobuf(t *testing.T) {
	withSchema := widgets()
	withSchema.Schema = json.RawMessage(openapi2Schema)
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{withSchema, {
		Group: "loose.dev", Version: "v1", Kind: "Loose", Resource: "looses",
		Schema: json.RawMessage(`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`),
	}}})
	var doc struct {
		Swagger     string
		Paths       map[string]any
		Definitions map[string]any
	}
	if err := json.Unmarshal([]byte(h.must(t, "GET", "/openapi/v2", "")), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Swagger != "2.0" {
		t.Errorf("swagger is %q, want 2.0", doc.Swagger)
	}
	a := h.do(t, "GET", "/openapi/v2", "", "Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
	const media = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	if a.code != http.StatusOK || a.header.Get("Content-Type") != media {
		t.Fatalf("got %d %s, want 200 and %s", a.code, a.header.Get("Content-Type"), media)
	}
	root := readFields(t, []byte(a.body))
	definitions := readNamed(t, root[9][0], 1)
	if len(definitions) != len(doc.Definitions) {
		t.Errorf("%d definitions in protobuf, %d in JSON", len(definitions), len(doc.Definitions))
	}

	const widget, spec = "dev.example.v1.Widget", "properties.spec"
	for _, test := range []struct{ definition, path, want string }{
		{"io.k8s.api.core.v1.ConfigMap", "properties.data", `{"additionalProperties":{"type":"string"},"type":"object"}`},
		{"io.k8s.api.core.v1.ConfigMap", "x-kubernetes-group-version-kind", `[{"group":"","kind":"ConfigMap","version":"v1"}]`},
		{"io.k8s.api.core.v1.ConfigMap", "properties.metadata", `{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}`},
		{"io.k8s.apimachinery.pkg.api.resource.Quantity", "type", `"string"`},
		{"io.k8s.apimachinery.pkg.util.intstr.IntOrString", "", `{"format":"int-or-string","type":"string"}`},
		{widget, "properties.metadata", `{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}`},
		{widget, spec + ".required", `["color"]`},
		{widget, spec + ".properties.sizes", `{"items":{"type":"integer"},"type":"array"}`},
		{widget, spec + ".properties.port", `{"x-kubernetes-int-or-string":true}`},
		{widget, spec + ".properties.free", `{"x-kubernetes-preserve-unknown-fields":true}`},
		{widget, spec + ".properties.texts", `{"additionalProperties":{"type":"string"},"type":"object"}`},
		{widget, spec + ".properties.none", `{}`},
		{"dev.loose.v1.Loose", "", `{"type":"object","x-kubernetes-group-version-kind":[{"group":"loose.dev","kind":"Loose","version":"v1"}]}`},
	} {
		for form, v := range map[string]any{"JSON": doc.Definitions[test.definition], "protobuf": readSchema(t, definitions[test.definition])} {
			for name := range strings.SplitSeq(test.path, ".") {
				if m, isObject := v.(map[string]any); isObject && name != "" {
					v = m[name]
				}
			}
			got, err := json.Marshal(v)
			if err != nil || string(got) != test.want {
				t.Errorf("%s of %s in %s is %s, %v; want %s", test.path, test.definition, form, got, err, test.want)
			}
		}
	}

	// kubectl looks there for the parameter of a patch.
	const path = "/apis/example.dev/v1/namespaces/{namespace}/widgets/{name}"
	if doc.Paths[path] == nil {
		t.Fatalf("%s is not there", path)
	}
	operation := readFields(t, readFields(t, readNamed(t, root[8][0], 2)[path])[8][0])
	query := operation[8][0]
	for _, field := range []uint64{1, 2, 3} { // parameter, not of the body, of the query
		query = readFields(t, query)[field][0]
	}
	if name := string(readFields(t, query)[4][0]); name != "fieldValidation" {
		t.Errorf("the parameter is %q, want fieldValidation", name)
	}
	if kind := string(readFields(t, readNamed(t, mustField(13, operation), 13)["x-kubernetes-group-version-kind"])[2][0]); kind !=
		`{"group":"example.dev","kind":"Widget","version":"v1"}` {
		t.Errorf("the kind of the patch is %s", kind)
	}
}

func TestOpenAPIV2IsNegotiated(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	get := func(header ...string) answer { return h.do(t, "GET", "/openapi/v2", "", header...) }
	if a := get("Accept", "text/html"); a.code != http.StatusNotAcceptable || a.body != "" {
		t.Errorf("got %d %q, want 406 without a body", a.code, a.body)
	}
	if a := get("Accept", "text/html, */*"); a.code != http.StatusOK || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("got %d %s, want JSON", a.code, a.header.Get("Content-Type"))
	}
	tag := get().header.Get("ETag")
	if a := get("If-None-Match", tag); a.code != http.StatusNotModified {
		t.Errorf("got %d with the tag %s, want 304", a.code, tag)
	}
}

// readFields returns the fields of a message: of each number, the texts or messages, or a byte for a number.
func readFields(t *testing.T, b []byte) map[uint64][][]byte {
	t.Helper()
	fields := map[uint64][][]byte{}
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		value, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 {
			t.Fatalf("the message is cut off at %q", b)
		}
		b = b[n+m:]
		switch key & 7 {
		case 0:
			fields[key>>3] = append(fields[key>>3], []byte{byte(value)})
		case 2:
			fields[key>>3] = append(fields[key>>3], b[:value])
			b = b[value:]
		default:
			t.Fatalf("field %d has the wire type %d", key>>3, key&7)
		}
	}
	return fields
}

// readNamed returns the values of the pairs that a message repeats in a field, by their names.
func readNamed(t *testing.T, b []byte, field uint64) map[string][]byte {
	t.Helper()
	named := map[string][]byte{}
	for _, pair := range readFields(t, b)[field] {
		f := readFields(t, pair)
		named[string(f[1][0])] = f[2][0]
	}
	return named
}

// mustField returns a message with one repeated field of another.
func mustField(field uint64, fields map[uint64][][]byte) []byte {
	var b []byte
	for _, value := range fields[field] {
		b = binary.AppendUvarint(b, field<<3|2)
		b = binary.AppendUvarint(b, uint64(len(value)))
		b = append(b, value...)
	}
	return b
}

// readSchema returns a schema as the JSON form has it.
func readSchema(t *testing.T, b []byte) any {
	t.Helper()
	schema := map[string]any{}
	fields := readFields(t, b)
	for number, name := range map[uint64]string{1: "$ref", 2: "format"} {
		if fields[number] != nil {
			schema[name] = string(fields[number][0])
		}
	}
	for _, name := range fields[19] {
		required, _ := schema["required"].([]string)
		schema["required"] = append(required, string(name))
	}
	if fields[21] != nil {
		more := readFields(t, fields[21][0])
		schema["additionalProperties"] = true
		if more[1] != nil {
			schema["additionalProperties"] = readSchema(t, more[1][0])
		}
	}
	if fields[22] != nil {
		schema["type"] = string(readFields(t, fields[22][0])[1][0])
	}
	if fields[23] != nil {
		schema["items"] = readSchema(t, readFields(t, fields[23][0])[1][0])
	}
	if fields[25] != nil {
		properties := map[string]any{}
		for name, p := range readNamed(t, fields[25][0], 1) {
			properties[name] = readSchema(t, p)
		}
		schema["properties"] = properties
	}
	for name, value := range readNamed(t, mustField(31, fields), 31) {
		var v any
		if err := json.Unmarshal(readFields(t, value)[2][0], &v); err != nil {
			t.Fatal(err)
		}
		schema[name] = v
	}
	return schema
}
