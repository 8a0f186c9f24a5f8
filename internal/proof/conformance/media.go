package conformance

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
)

// Objects are read and written as YAML too.
func testYAML(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	const yaml, asYAML = "yaml", "application/yaml"
	create := func(name, query, body, at, is string) exchange {
		return exchange{name: name, path: "POST {core}/configmaps" + query, media: yaml, body: body, code: 201, at: at, is: is}
	}
	refuse := func(name, query, body string, code int, reason apierrors.Reason, message string) exchange {
		return refused(name, "POST {core}/configmaps"+query, yaml, body, code, reason, message)
	}
	const twice = "metadata:\n  name: b\ndata:\n  k: x\n  k: z\nmore: 1\n"
	for _, e := range []exchange{
		create("create", "", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n  t: \"1\"\n", "data", `{"k":"v","t":"1"}`),
		create("JSON is YAML", "?dryRun=All", `{"metadata":{"name":"b"}}`, "metadata.name", `"b"`),
		create("twice", "?dryRun=All", twice, "data.k", `"z"`).warned(`line 5: key "k" already set in map; unknown field "more"`),
		create("ignored", "?dryRun=All&fieldValidation=Ignore", twice, "data.k", `"z"`),
		create("the first document", "?dryRun=All", "---\nmetadata: {name: l}\n---\nmetadata: {name: m}\n", "metadata.name", `"l"`),
		refuse("strict", "?dryRun=All&fieldValidation=Strict", twice, 400, apierrors.BadRequest,
			"strict decoding error: yaml: unmarshal errors:\n  line 5: key \"k\" already set in map, unknown field \"more\""),
		refuse("a number", "", "metadata: {name: b}\ndata: {k: 1}\n", 400, apierrors.BadRequest,
			`json: cannot unmarshal number into Go struct field ConfigMap.data of type string`),
		refuse("nothing", "", "# nothing", 422, apierrors.Invalid, "metadata.name: Required value: name or generateName is required"),
		refuse("a text", "", "just text", 400, apierrors.BadRequest, "(6a7573742074657874)"),
		{
			name: "a custom resource", path: "POST {widgets}", media: yaml, code: 201, at: "spec", is: `{"any":{"a":true,"b":2,"c":null},"color":"yes"}`,
			body: "apiVersion: conformance.bowline.example/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  color: \"yes\"\n  any: {b: 2.0, a: on, c: ~}\n",
		},
		refused("without a kind", "POST {widgets}", yaml, "metadata:\n  name: c\n", 400, apierrors.BadRequest,
			"Object 'Kind' is missing in 'metadata:\n  name: c\n' (6d657461646174613a0a20206e616d653a20630a)"),
		applied("update", "PUT {core}/configmaps/a", yaml, "metadata:\n  name: a\ndata:\n  k: put\n", "data", `{"k":"put"}`),
		applied("delete, dry", "DELETE {core}/configmaps/a", yaml, "dryRun: [All]\npropagationPolicy: Foreground\n", "metadata.finalizers", `["foregroundDeletion"]`),
		refused("delete by another kind", "DELETE {core}/configmaps/a", yaml, "kind: Nope\n", 400, apierrors.BadRequest,
			`no kind "Nope" is registered for version "meta.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`),
		{
			name: "a review", path: "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", media: yaml,
			body: "spec: {nonResourceAttributes: {path: /}}", code: 201, at: "status.allowed", is: "true",
		},
		refused("text/yaml is none", "POST {core}/configmaps", "x", "x", 415, apierrors.UnsupportedMediaType,
			"the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"),

		exchange{name: "get", path: "GET {core}/configmaps/a", code: 200}.answered(asYAML, "apiVersion: v1\ndata:\n  k: put\nkind: ConfigMap\n"+
			"metadata:\n  creationTimestamp: \"*\"\n  managedFields:\n  - apiVersion: v1\n    fieldsType: FieldsV1\n    fieldsV1:\n      f:data:\n        .: {}\n"+
			"        f:k: {}\n    manager: *\n    operation: Update\n    time: \"*\"\n  name: a\n  namespace: {ns}\n  resourceVersion: \"*\"\n  uid: *\n"),
		exchange{name: "list", path: "GET {widgets}", code: 200}.answered(asYAML, "apiVersion: conformance.bowline.example/v1\nitems:\n- apiVersion: "+
			"conformance.bowline.example/v1\n  kind: Widget\n*  spec:\n    any:\n      a: true\n      b: 2\n      c: null\n    color: \"yes\"\nkind: WidgetList\nmetadata:\n  continue: \"\"\n  resourceVersion: \"*\"\n"),
		exchange{name: "the better one", path: "GET {core}/configmaps/a", code: 200}.answered("application/json;q=0.5,"+asYAML, "apiVersion: v1\n*"),
		exchange{name: "the first one", path: "GET {core}/configmaps/a", code: 200}.answered("application/json,"+asYAML, "{*"),
		exchange{name: "discovery", path: "GET /apis/conformance.bowline.example", code: 200}.answered(asYAML, "apiVersion: v1\nkind: APIGroup\nname: conformance.bowline.example\n*"),
	} {
		e.run(t, s, names)
	}
}

// The forms in which a server shows objects, in their current and their old version, and forms that it refuses.
func testForms(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	s.configMap(t, ns, "a", nil)
	form := func(media, kind, version string) string { return media + ";as=" + kind + ";g=meta.k8s.io;v=" + version }
	const json, one, list = "application/json", "PartialObjectMetadata", "PartialObjectMetadataList"
	const a, all, watch = "GET {core}/configmaps/a", "GET {core}/configmaps", "GET {core}/configmaps?watch=1&timeoutSeconds=1"
	shown := func(name, path, accept, text string) exchange {
		return exchange{name: name, path: path, code: 200}.answered(accept, text)
	}
	not := func(name, path, accept, message string) exchange {
		e := refused(name, path, "", "", 406, apierrors.NotAcceptable, message)
		e.accept = accept
		return e
	}
	const media = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
	const only, unknown = "only the following media types are accepted: " + media, "406: Not Acceptable\n\nAvailable representations: " + media
	for _, e := range []exchange{
		shown("metadata", a, form(json, one, "v1beta1"), `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":{"name":"a",*`),
		shown("a list", all, form(json, list, "v1beta1"), `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1beta1",*`+
			`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":{"name":"a",*`),
		shown("a watch", watch, form(json, one, "v1beta1"), `{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1",*`),
		shown("a table", a, form(json, "Table", "v1beta1"), `{"kind":"Table","apiVersion":"meta.k8s.io/v1beta1",*`+
			`"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1",*`),
		not("another version", a, form(json, one, "v1alpha1"), only),
		not("another form", a, form(json, "Nope", "v1"), only),
		not("a version without a form", a, json+";v=v1", only),
		not("a group without a form", a, json+";g=meta.k8s.io", only),
		not("another media type", a, "text/html", unknown),
		not("of a list", all, "text/html", unknown+", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"),
		not("of a custom resource", "GET {widgets}", "text/html", only),
		not("a watch in YAML", watch, "application/yaml", ""),
		not("rows with another object", watch, form(json, "Nope", "v1"), only),
	} {
		e.run(t, s, names)
	}
	e := refused("objects in rows", watch+"&includeObject=x", "", "", 400, apierrors.BadRequest,
		"Unable to convert to Table as requested: includeObject: Invalid value: \"x\": must be 'Metadata', 'Object', 'None', or empty")
	e.accept = form(json, "Table", "v1")
	e.run(t, s, names)
}

// A compiled-in type writes some members even if they are empty.
func testWritten(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	for _, e := range []exchange{
		exchange{name: "an event", path: "POST {core}/events", code: 201, body: `{"metadata":{"name":"a"},"involvedObject":{"namespace":"{ns}"}}`}.
			answered("", `*"eventTime":null*`),
		applied("its source", "GET {core}/events/a", "", "", "source", "{}"),
		applied("its component", "GET {core}/events/a", "", "", "reportingComponent", `""`),
		exchange{name: "a lease", path: "POST /apis/coordination.k8s.io/v1/namespaces/{ns}/leases", code: 201, body: `{"metadata":{"name":"a"}}`}.
			answered("", `*"spec":{}}*`),
		{
			name: "a container", path: "POST {core}/pods", code: 201, at: "spec.containers.resources", is: "[{}]",
			body: `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b"}]}}`,
		},
		{
			name: "a service", path: "POST {core}/services", code: 201, at: "status", is: `{"loadBalancer":{}}`,
			body: `{"metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}}`,
		},
		applied("the same again", "{core}/services/a", asMerge, `{"metadata":{"labels":{"a":"b"}}}`, "status", `{"loadBalancer":{}}`),
		{
			name: "a deployment", path: "POST {apps}/deployments", code: 201, at: "status", is: "{}",
			body: `{"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},` +
				`"spec":{"containers":[{"name":"a","image":"b"}]}}}}`,
		},
	} {
		e.run(t, s, names)
	}
}

// No release up to Kubernetes 1.37 knows the parameter (KEP-5958), and all ignore it.
func testDropIsIgnored(t *testing.T, s suite) {
	ns := s.namespace(t)
	s.configMap(t, ns, "a", nil)
	const drop = ";drop=metadata.managedFields"
	for _, accept := range []string{
		"application/json" + drop,
		"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" + drop,
		"application/json;as=Table;v=v1;g=meta.k8s.io" + drop + ",application/json" + drop,
		"application/vnd.kubernetes.protobuf" + drop + ", application/json" + drop,
		"application/json;drop=metadata.managedFields+metadata.annotations",
	} {
		for _, query := range []url.Values{{}, {"watch": {"1"}, "timeoutSeconds": {"1"}}} {
			if strings.Contains(accept, "List") && query.Has("watch") {
				continue
			}
			text := s.read(t, "/api/v1/namespaces/"+ns+"/configmaps", query, accept)
			if !strings.Contains(text, "f:data") {
				t.Errorf("with %s and %v there are no managedFields in %q", accept, query, text)
			}
		}
	}
}

// read returns the body of an answer.
func (s suite) read(t *testing.T, path string, query url.Values, accept string) string {
	t.Helper()
	resp := must[*http.Response](t)(s.client.Raw(t.Context(), client.RawRequest{Path: path, Query: query, Header: http.Header{"Accept": {accept}}}))
	defer func() { _ = resp.Body.Close() }()
	return string(must[[]byte](t)(io.ReadAll(resp.Body)))
}
