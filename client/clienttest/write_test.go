package clienttest_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/clienttest"
)

// refusal is a request that the server must refuse. The words are those of kube-apiserver v1.37.1.
type refusal struct {
	name         string
	method, path string
	body         string
	code         int
	reason       string
	message      string   // in whole, or its start where it ends with "..."
	causes       []string // "field: reason"
	kind, group  string   // of details
	contentType  string
}

func (r refusal) check(t *testing.T, h *harness) {
	t.Helper()
	var header []string
	if r.contentType != "" {
		header = []string{"Content-Type", r.contentType}
	}
	a := h.do(t, r.method, r.path, r.body, header...)
	if a.code != r.code {
		t.Fatalf("got %d %s, want %d", a.code, a.body, r.code)
	}
	s := a.status(t)
	if s.APIVersion != "v1" || s.Status != "Failure" || s.Code != r.code || s.Reason != r.reason {
		t.Errorf("got %s, want a failure with code %d and reason %q", a.body, r.code, r.reason)
	}
	if start, found := strings.CutSuffix(r.message, "..."); s.Message != r.message && !(found && strings.HasPrefix(s.Message, start)) {
		t.Errorf("got the message %q, want %q", s.Message, r.message)
	}
	if s.Details == nil {
		if r.kind != "" || len(r.causes) > 0 {
			t.Errorf("there are no details: %s", a.body)
		}
		return
	}
	if r.kind != "" && (s.Details.Kind != r.kind || s.Details.Group != r.group) {
		t.Errorf("the details are about %q of %q, want %q of %q", s.Details.Kind, s.Details.Group, r.kind, r.group)
	}
	var causes []string
	for _, c := range s.Details.Causes {
		causes = append(causes, c.Field+": "+c.Reason)
	}
	if fmt.Sprint(causes) != fmt.Sprint(r.causes) {
		t.Errorf("got the causes %q, want %q", causes, r.causes)
	}
}

func TestInvalidWritesAreRefused(t *testing.T) {
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
	h.create(t, "a")
	h.create(t, "leaving", `"finalizers":["x.io/a"]`)
	h.must(t, http.MethodDelete, configMaps+"/leaving", "")
	const (
		post, put, patch = http.MethodPost, http.MethodPut, http.MethodPatch
		widget           = `{"apiVersion":"example.dev/v1","kind":"Widget","metadata":{"name":"w"}}`
		modified         = `Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes ` +
			`to the latest version and try again`
	)
	h.must(t, post, widgetPath, widget)
	for _, test := range []refusal{
		{
			name: "create what is there", method: post, path: configMaps, body: `{"metadata":{"name":"a"}}`,
			code: 409, reason: "AlreadyExists", message: `configmaps "a" already exists`, kind: "configmaps",
		},
		{
			name: "create in a namespace that is not there", method: post, path: "/api/v1/namespaces/nope/configmaps",
			body: `{"metadata":{"name":"a"}}`, code: 404, reason: "NotFound", message: `namespaces "nope" not found`, kind: "namespaces",
		},
		{
			name: "create with a resource version", method: post, path: configMaps, body: `{"metadata":{"name":"b","resourceVersion":"5"}}`,
			code: 500, message: "resourceVersion should not be set on objects to be created",
		},
		{
			name: "create without a name", method: post, path: configMaps, body: `{"metadata":{}}`, code: 422, reason: "Invalid",
			message: `ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required`,
			causes:  []string{"metadata.name: FieldValueRequired"}, kind: "ConfigMap",
		},
		{
			name: "create with a bad name", method: post, path: configMaps, body: `{"metadata":{"name":"B_c"}}`, code: 422, reason: "Invalid",
			message: `ConfigMap "B_c" is invalid: metadata.name: Invalid value: "B_c": a lowercase RFC 1123 subdomain must consist of...`,
			causes:  []string{"metadata.name: FieldValueInvalid"}, kind: "ConfigMap",
		},
		{
			name: "create with a long name", method: post, path: configMaps, body: `{"metadata":{"name":"` + strings.Repeat("a", 254) + `"}}`,
			code: 422, reason: "Invalid", message: `ConfigMap "aaaa...`, causes: []string{"metadata.name: FieldValueInvalid"},
		},
		{
			name: "create a namespace with a dot", method: post, path: "/api/v1/namespaces", body: `{"metadata":{"name":"a.b"}}`, code: 422,
			reason: "Invalid", message: `Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots`,
			causes: []string{"metadata.name: FieldValueInvalid"},
		},
		{
			name: "create with bad labels, finalizers and owners", method: post, path: configMaps, code: 422, reason: "Invalid",
			body: `{"metadata":{"name":"b","labels":{"a b":"x y"},"annotations":{"/":""},"finalizers":["plain"],` +
				`"ownerReferences":[{"apiVersion":"v1","kind":"X","name":"","uid":"1"}]}}`,
			message: `ConfigMap "b" is invalid: [metadata.labels: Invalid value: "a b": name part must consist of...`,
			causes: []string{
				"metadata.labels: FieldValueInvalid", "metadata.labels: FieldValueInvalid", "metadata.annotations: FieldValueInvalid",
				"metadata.annotations: FieldValueInvalid", "metadata.annotations: FieldValueInvalid",
				"metadata.ownerReferences[0].name: FieldValueRequired", "metadata.finalizers[0]: FieldValueInvalid",
			},
		},
		{
			name: "create with another namespace in the body", method: post, path: configMaps, body: `{"metadata":{"name":"b","namespace":"x"}}`,
			code: 400, reason: "BadRequest", message: "the namespace of the provided object does not match the namespace sent on the request",
		},
		{
			name: "create another kind", method: post, path: configMaps, body: `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}`,
			code: 400, reason: "BadRequest", message: `Pod in version "v1" cannot be handled as a ConfigMap: ...`,
		},
		{
			name: "create another version", method: post, path: configMaps, body: `{"kind":"ConfigMap","apiVersion":"v2"}`,
			code: 400, reason: "BadRequest", message: `ConfigMap in version "v2" cannot be handled as a ConfigMap: ...`,
		},
		{
			name: "create a custom object without a kind", method: post, path: widgetPath, body: `{"metadata":{"name":"w"}}`,
			code: 400, reason: "BadRequest", message: "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in " +
				`'{"metadata":{"name":"w"}}' ({"metadata":{"name":"w"}})`,
		},
		{
			name: "create a custom object of another version", method: post, path: widgetPath,
			body: `{"kind":"Widget","apiVersion":"example.dev/v2"}`, code: 400, reason: "BadRequest",
			message: "the API version in the data (example.dev/v2) does not match the expected API version (example.dev/v1)",
		},
		{
			name: "create a custom object of another kind", method: post, path: widgetPath,
			body: `{"kind":"X","apiVersion":"example.dev/v1","metadata":{"name":"x"}}`, code: 422, reason: "Invalid",
			message: `X.example.dev "x" is invalid: kind: Invalid value: "X": must be Widget`,
			causes:  []string{"kind: FieldValueInvalid"}, kind: "X", group: "example.dev",
		},
		{
			name: "create from JSON that is cut", method: post, path: configMaps, body: `{"metadata":{"name":"b"`, code: 400, reason: "BadRequest",
			message: "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: " +
				`unexpected end of JSON input ({"metadata":{"name":"b")`,
		},
		{
			name: "create from JSON with something behind it", method: post, path: configMaps, body: `{"metadata":{"name":"b"}} x`,
			code: 400, reason: "BadRequest", message: "the object provided is unrecognized (must be of type ConfigMap): couldn't get " +
				`version/kind; json parse error: invalid character 'x' after top-level value ({"metadata":{"name":"b"}} x)`,
		},
		{
			name: "create from an array", method: post, path: configMaps, body: `[]`, code: 400, reason: "BadRequest",
			message: "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: ...",
		},
		{
			name: "create from null", method: post, path: configMaps, body: `null`, code: 422, reason: "Invalid",
			message: `ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required`,
			causes:  []string{"metadata.name: FieldValueRequired"},
		},
		{
			name: "create from nothing", method: post, path: configMaps, code: 400, reason: "BadRequest", message: "the object provided is " +
				"unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
		},
		{
			name: "create with a label that is no text", method: post, path: configMaps,
			body: `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"b","labels":{"a":1}}}`, code: 400, reason: "BadRequest",
			message: `ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ...`,
		},
		{
			name: "create with data that is no text", method: post, path: configMaps,
			body: `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"b"},"data":{"a":1}}`, code: 400, reason: "BadRequest",
			message: `ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ` +
				`ConfigMap.data of type string`,
		},
		{
			name: "create from another media type", method: post, path: configMaps, body: `{}`, contentType: "text/plain", code: 415,
			reason: "UnsupportedMediaType", message: "the body of the request was in an unknown format - accepted media types include: ...",
		},
		{
			name: "create from protobuf that is none", method: post, path: configMaps, body: `{}`, contentType: "application/vnd.kubernetes.protobuf",
			code: 400, reason: "BadRequest", message: "the object provided is unrecognized (must be of type ConfigMap): ...",
		},
		{
			name: "create with too much", method: post, path: configMaps, body: `{"data":{"a":"` + strings.Repeat("x", 3<<20) + `"}}`,
			code: 413, reason: "RequestEntityTooLarge", message: "Request entity too large: limit is 3145728",
		},
		{
			name: "create with a bad dryRun", method: post, path: configMaps + "?dryRun=Some", body: `{"metadata":{"name":"b"}}`,
			code: 422, reason: "Invalid", kind: "CreateOptions", group: "meta.k8s.io", causes: []string{"dryRun: FieldValueNotSupported"},
			message: `CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"`,
		},
		{
			name: "create with a bad fieldValidation", method: post, path: configMaps + "?fieldValidation=No", body: `{"metadata":{"name":"b"}}`,
			code: 422, reason: "Invalid", causes: []string{"fieldValidation: FieldValueNotSupported"}, kind: "CreateOptions", group: "meta.k8s.io",
			message: `CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "No": supported values: "", "Ignore", "Strict", "Warn"`,
		},
		{
			name: "update with another name", method: put, path: configMaps + "/a", body: `{"metadata":{"name":"z"}}`, code: 400,
			reason: "BadRequest", message: "the name of the object (z) does not match the name on the URL (a)",
		},
		{
			name: "update without a name", method: put, path: configMaps + "/a", body: `{"metadata":{}}`, code: 400, reason: "BadRequest",
			message: "the name of the object (a based on URL) was undeterminable: name must be provided",
		},
		{
			name: "update with another namespace", method: put, path: configMaps + "/a", body: `{"metadata":{"name":"a","namespace":"z"}}`,
			code: 400, reason: "BadRequest", message: "the namespace of the provided object does not match the namespace sent on the request",
		},
		{
			name: "update what is not there", method: put, path: configMaps + "/nope", body: `{"metadata":{"name":"nope"}}`, code: 404,
			reason: "NotFound", message: `configmaps "nope" not found`, kind: "configmaps",
		},
		{
			name: "update at an old version", method: put, path: configMaps + "/a", body: `{"metadata":{"name":"a","resourceVersion":"1"}}`,
			code: 409, reason: "Conflict", message: modified, kind: "configmaps",
		},
		{
			name: "update at a version that is none", method: put, path: configMaps + "/a", body: `{"metadata":{"name":"a","resourceVersion":"x"}}`,
			code: 500, message: `strconv.ParseUint: parsing "x": invalid syntax`,
		},
		{
			name: "update of another uid", method: put, path: configMaps + "/a", body: `{"metadata":{"name":"a","uid":"1"}}`, code: 409,
			reason: "Conflict", message: `Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a, ...`,
		},
		{
			name: "update of a custom object without a version", method: put, path: widgetPath + "/w", body: widget, code: 422,
			reason: "Invalid", message: `widgets.example.dev "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
			causes: []string{"metadata.resourceVersion: FieldValueInvalid"}, kind: "widgets", group: "example.dev",
		},
		{
			name: "update with bad labels", method: put, path: configMaps + "/a", body: `{"metadata":{"name":"a","labels":{"a":"-"}}}`, code: 422,
			reason: "Invalid", message: `ConfigMap "a" is invalid: metadata.labels: ...`, causes: []string{"metadata.labels: FieldValueInvalid"},
		},
		{
			name: "update that deletes", method: put, path: configMaps + "/a",
			body: `{"metadata":{"name":"a","deletionTimestamp":"2020-01-01T00:00:00Z"}}`, code: 422, reason: "Invalid",
			message: `ConfigMap "a" is invalid: metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable`,
			causes:  []string{"metadata.deletionTimestamp: FieldValueInvalid"},
		},
		{
			name: "patch what is not there", method: patch, path: configMaps + "/nope", body: `{}`, code: 404, reason: "NotFound",
			message: `configmaps "nope" not found`, kind: "configmaps",
		},
		{
			name: "patch at an old version", method: patch, path: configMaps + "/a", body: `{"metadata":{"resourceVersion":"1"}}`, code: 409,
			reason: "Conflict", message: modified, kind: "configmaps",
		},
		{
			name: "patch the uid", method: patch, path: configMaps + "/a", body: `{"metadata":{"uid":"1"}}`, code: 422, reason: "Invalid",
			message: `ConfigMap "a" is invalid: metadata.uid: Invalid value: "1": field is immutable`, causes: []string{"metadata.uid: FieldValueInvalid"},
		},
		{
			name: "patch the name", method: patch, path: configMaps + "/a", body: `{"metadata":{"name":"b"}}`, code: 400, reason: "BadRequest",
			message: "the name of the object (b) does not match the name on the URL (a)",
		},
		{
			name: "patch the namespace", method: patch, path: configMaps + "/a", body: `{"metadata":{"namespace":"b"}}`, code: 400,
			reason: "BadRequest", message: "the namespace of the provided object does not match the namespace sent on the request",
		},
		{
			name: "patch into something else", method: patch, path: configMaps + "/a", body: `{"data":{"a":1}}`, code: 422, reason: "Invalid",
			message: ` "" is invalid: patch: Invalid value: ...`, causes: []string{"patch: FieldValueInvalid"},
		},
		{
			name: "patch another kind", method: patch, path: configMaps + "/a", body: `{"kind":"Pod"}`, code: 422, reason: "Invalid",
			message: ` "" is invalid: patch: Invalid value: ...`, causes: []string{"patch: FieldValueInvalid"},
		},
		{
			name: "patch a custom object's version", method: patch, path: widgetPath + "/w", body: `{"apiVersion":"example.dev/v3"}`, code: 422,
			reason: "Invalid", message: `Widget.example.dev "w" is invalid: apiVersion: Invalid value: "example.dev/v3": must be example.dev/v1`,
			causes: []string{"apiVersion: FieldValueInvalid"},
		},
		{
			name: "patch that is an array", method: patch, path: configMaps + "/a", body: `[]`, code: 400, reason: "BadRequest",
			message: "error decoding patch: json: cannot unmarshal array into ...",
		},
		{
			name: "patch that is no JSON", method: patch, path: configMaps + "/a", body: `xx`, code: 400, reason: "BadRequest",
			message: "invalid JSON patch",
		},
		{
			name: "patch of another type", method: patch, path: configMaps + "/a", body: `[]`, contentType: "application/json",
			code: 415, reason: "UnsupportedMediaType", message: "415: Unsupported Media Type",
		},
		{
			name: "a new finalizer on an object that is being deleted", method: patch, path: configMaps + "/leaving",
			body: `{"metadata":{"finalizers":["x.io/a","x.io/c","x.io/b"]}}`, code: 422, reason: "Invalid",
			message: `ConfigMap "leaving" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is ` +
				`being deleted, found new finalizers []string{"x.io/b", "x.io/c"}`,
			causes: []string{"metadata.finalizers: FieldValueForbidden"},
		},
		{
			name: "the status of what has none", method: put, path: configMaps + "/a/status", body: `{}`, code: 404, reason: "NotFound",
			message: "the server could not find the requested resource",
		},
		{
			name: "a resource that is not there", method: post, path: "/api/v1/foos", body: `{}`, code: 404, reason: "NotFound",
			message: "the server could not find the requested resource",
		},
		{
			name: "a cluster-wide resource in a namespace", method: post, path: "/api/v1/namespaces/default/nodes", body: `{}`, code: 404,
			reason: "NotFound", message: "the server could not find the requested resource",
		},
		{
			name: "PUT on a collection", method: put, path: configMaps, body: `{}`, code: 405, reason: "MethodNotAllowed",
			message: "the server does not allow this method on the requested resource",
		},
		{
			name: "POST with a name", method: post, path: configMaps + "/a", body: `{}`, code: 405, reason: "MethodNotAllowed",
			message: "the server does not allow this method on the requested resource",
		},
		{
			name: "create without a namespace", method: post, path: "/api/v1/configmaps", body: `{}`, code: 405, reason: "MethodNotAllowed",
			message: "the server does not allow this method on the requested resource",
		},
	} {
		t.Run(test.name, func(t *testing.T) { test.check(t, h) })
	}
	if got := names(t, h.must(t, http.MethodGet, configMaps, "")); fmt.Sprint(got) != "[a leaving]" {
		t.Errorf("after all of that there are %v", got)
	}
}

func TestPathsOutsideOfTheAPIAreNotStatuses(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	for _, path := range []string{"/nope", "/apis/nope", "/apis/nope.dev/v1", "/apis/nope.dev/v1/things", "/openapi/v3/nope"} {
		if a := h.do(t, http.MethodGet, path, ""); a.code != 404 || a.body != "404 page not found\n" {
			t.Errorf("%s: got %d %s", path, a.code, a.body)
		}
	}
}

func TestCreate(t *testing.T) {
	run := func(name string, f func(t *testing.T, h *harness)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f(t, newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}}))
			})
		})
	}
	run("a config map is written as the real server writes it", func(t *testing.T, h *harness) {
		a := h.do(t, http.MethodPost, configMaps, `{"data":{"k":"<&>"},"metadata":{"finalizers":[],"annotations":{"n":"9007199254740993"},
				"labels":{"b":"2","a":"1"},"name":"x","uid":"mine","creationTimestamp":null,"selfLink":"s"},"binaryData":{}}`)
		want := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","namespace":"default","uid":"UID","resourceVersion":"4",` +
			`"creationTimestamp":"2000-01-01T00:00:00Z","labels":{"a":"1","b":"2"},"annotations":{"n":"9007199254740993"},` +
			`"managedFields":[{"manager":"harness","operation":"Update","apiVersion":"v1","time":"2000-01-01T00:00:00Z",` +
			`"fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:k":{}},"f:metadata":{"f:annotations":{".":{},"f:n":{}},` +
			`"f:labels":{".":{},"f:a":{},"f:b":{}}}}}]},"data":{"k":"\u003c\u0026\u003e"}}` + "\n"
		if got := hideUID(a.body); a.code != 201 || got != want {
			t.Errorf("got %d\n%s, want 201\n%s", a.code, got, want)
		}
		if got, want := a.header.Get("Content-Length"), fmt.Sprint(len(a.body)); got != want {
			t.Errorf("Content-Length is %s, want %s", got, want)
		}
	})
	run("a custom object keeps its members and numbers, and its members are sorted", func(t *testing.T, h *harness) {
		a := h.do(t, http.MethodPost, widgetPath+"?fieldManager=me", `{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"w",
				"labels":{"resourceVersion":"7"}},"spec":{"int":9007199254740993,"float":1.5,"null":null,"empty":{}},"status":{"gone":true}}`)
		want := `{"apiVersion":"example.dev/v1","kind":"Widget","metadata":{"creationTimestamp":"2000-01-01T00:00:00Z","generation":1,` +
			`"labels":{"resourceVersion":"7"},"managedFields":[{"manager":"me","operation":"Update","apiVersion":"example.dev/v1",` +
			`"time":"2000-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:resourceVersion":{}}},` +
			`"f:spec":{".":{},"f:empty":{},"f:float":{},"f:int":{},"f:null":{}}}}],"name":"w","namespace":"default","resourceVersion":"4",` +
			`"uid":"UID"},"spec":{"empty":{},"float":1.5,"int":9007199254740993,"null":null}}` + "\n"
		if got := hideUID(a.body); a.code != 201 || got != want {
			t.Errorf("got %d\n%s, want 201\n%s", a.code, got, want)
		}
	})
	run("generateName makes a name that is free", func(t *testing.T, h *harness) {
		seen := map[string]bool{}
		for range 50 {
			name := at(h.must(t, http.MethodPost, configMaps, `{"metadata":{"generateName":"`+strings.Repeat("g", 70)+`-"}}`), "metadata", "name")
			if !regexp.MustCompile(`^g{58}[b-z0-9]{5}$`).MatchString(name) || seen[name] {
				t.Fatalf("got the name %q", name)
			}
			seen[name] = true
		}
		if got := at(h.must(t, http.MethodPost, configMaps, `{"metadata":{"generateName":"g-","name":"own"}}`), "metadata", "name"); got != "own" {
			t.Errorf("got the name %q beside generateName, want own", got)
		}
	})
	run("the server's own fields are not taken from the client", func(t *testing.T, h *harness) {
		got := h.must(t, http.MethodPost, widgetPath, `{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"x","generation":7,
				"deletionTimestamp":"2020-01-01T00:00:00Z","deletionGracePeriodSeconds":5,"managedFields":[{"manager":"other"}]}}`)
		for name, want := range map[string]string{
			"generation": "1", "deletionTimestamp": "", "deletionGracePeriodSeconds": "", "managedFields": "",
		} {
			if got := at(got, "metadata", name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	})
	run("kinds have their defaults", func(t *testing.T, h *harness) {
		secret := h.must(t, http.MethodPost, "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"},"stringData":{"a":"b"}}`)
		pod := h.must(t, http.MethodPost, "/api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"b"}]},"status":{"phase":"Running"}}`)
		for _, got := range []struct{ got, want string }{
			{at(secret, "type"), "Opaque"},
			{at(secret, "data", "a"), "Yg=="},
			{at(secret, "stringData"), ""},
			{at(pod, "status", "phase"), "Pending"},
			{at(pod, "metadata", "generation"), "1"},
		} {
			if got.got != got.want {
				t.Errorf("got %q, want %q", got.got, got.want)
			}
		}
	})
	run("a dry run stores nothing", func(t *testing.T, h *harness) {
		before := h.version(t)
		got := h.must(t, http.MethodPost, configMaps+"?dryRun=All", `{"metadata":{"name":"dry"}}`)
		if at(got, "metadata", "resourceVersion") != "" || at(got, "metadata", "uid") == "" {
			t.Errorf("got %s", got)
		}
		if a := h.do(t, http.MethodGet, configMaps+"/dry", ""); a.code != 404 {
			t.Errorf("it is there: %s", a.body)
		}
		if after := h.version(t); after != before {
			t.Errorf("the version went from %s to %s", before, after)
		}
	})
}

func hideUID(s string) string {
	return regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`).ReplaceAllString(s, "UID")
}

func TestUpdate(t *testing.T) {
	put := func(name, metadata, data string) (string, string) {
		return configMaps + "/" + name, `{"metadata":{"name":"` + name + `"` + metadata + `},"data":` + data + `}`
	}
	t.Run("changes the object and nothing of what it is", func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		created := h.create(t, "a", `"labels":{"x":"1"}`)
		version := at(created, "metadata", "resourceVersion")
		path, body := put("a", `,"resourceVersion":"`+version+`","creationTimestamp":"2020-01-01T00:00:00Z","generation":9`, `{"k":"2"}`)
		updated := h.must(t, http.MethodPut, path, body)
		for _, name := range []string{"uid", "creationTimestamp", "generation", "namespace"} {
			if got, want := at(updated, "metadata", name), at(created, "metadata", name); got != want {
				t.Errorf("%s went from %q to %q", name, want, got)
			}
		}
		if at(updated, "data", "k") != "2" || at(updated, "metadata", "labels") != "" || at(updated, "metadata", "resourceVersion") == version {
			t.Errorf("got %s", updated)
		}
		if got := h.must(t, http.MethodGet, path, ""); got != updated {
			t.Errorf("get gives %s, the update gave %s", got, updated)
		}
	})
	t.Run("that changes nothing gives no version and no event", func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		created := h.create(t, "a", `"labels":{"x":"1"}`)
		before := h.version(t)
		path, body := put("a", `,"labels":{"x":"1"},"annotations":{}`, `{"k":"v"}`)
		if got := h.must(t, http.MethodPut, path+"?fieldManager=other", body); got != created {
			t.Errorf("got %s, want %s", got, created)
		}
		h.must(t, http.MethodPatch, path, `{"data":{"k":"v"}}`)
		h.must(t, http.MethodPatch, path, `{}`)
		if after := h.version(t); after != before {
			t.Errorf("the version went from %s to %s", before, after)
		}
	})
	t.Run("without a version is taken as it is where the kind allows it", func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		h.create(t, "a")
		for _, version := range []string{``, `,"resourceVersion":""`, `,"resourceVersion":"0"`} {
			path, body := put("a", version, `{"k":"`+fmt.Sprint(len(version))+`"}`)
			h.must(t, http.MethodPut, path, body)
		}
	})
	t.Run("creates where the kind allows it", func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		const lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l"
		if a := h.do(t, http.MethodPut, lease, `{"metadata":{"name":"l","resourceVersion":"77"},"spec":{"holderIdentity":"a"}}`); a.code != 201 {
			t.Errorf("got %d %s", a.code, a.body)
		}
		if a := h.do(t, http.MethodPut, lease, `{"metadata":{"name":"l"},"spec":{"holderIdentity":"b"}}`); a.code != 422 {
			t.Errorf("an update without a version: got %d %s", a.code, a.body)
		}
	})
	t.Run("in a dry run changes nothing", func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		created := h.create(t, "a")
		path, body := put("a", ``, `{"k":"2"}`)
		for _, method := range []string{http.MethodPut, http.MethodPatch} {
			got := h.must(t, method, path+"?dryRun=All", body)
			if at(got, "data", "k") != "2" || at(got, "metadata", "resourceVersion") != at(created, "metadata", "resourceVersion") {
				t.Errorf("got %s", got)
			}
		}
		if got := h.must(t, http.MethodGet, path, ""); got != created {
			t.Errorf("it is %s now", got)
		}
	})
}

func TestTheGenerationCountsWhatIsWanted(t *testing.T) {
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{
		widgets(), {Group: "example.dev", Version: "v1", Kind: "Plain", Resource: "plains"},
	}})
	const plainPath = "/apis/example.dev/v1/namespaces/default/plains"
	h.must(t, http.MethodPost, widgetPath, `{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"x"},"spec":{"a":1}}`)
	h.must(t, http.MethodPost, plainPath, `{"kind":"Plain","apiVersion":"example.dev/v1","metadata":{"name":"x"},"spec":{"a":1},"status":{"a":1}}`)
	for _, test := range []struct{ name, path, body, want string }{
		{"a label does not count", widgetPath + "/x", `{"metadata":{"labels":{"a":"b"}}}`, "1"},
		{"the spec counts", widgetPath + "/x", `{"spec":{"a":2}}`, "2"},
		{"the same spec does not", widgetPath + "/x", `{"spec":{"a":2}}`, "2"},
		{"any other member does", widgetPath + "/x", `{"more":true}`, "3"},
		{"status past its subresource is ignored", widgetPath + "/x", `{"status":{"a":2}}`, "3"},
		{"status does not count", widgetPath + "/x/status", `{"status":{"a":2}}`, "3"},
		{"status that is no subresource counts", plainPath + "/x", `{"status":{"a":2}}`, "2"},
	} {
		if got := at(h.must(t, http.MethodPatch, test.path, test.body), "metadata", "generation"); got != test.want {
			t.Errorf("%s: the generation is %s, want %s", test.name, got, test.want)
		}
	}
}

func TestStatusSubresource(t *testing.T) {
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
	const path = widgetPath + "/w"
	created := h.must(t, http.MethodPost, widgetPath, `{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"w"},"spec":{"a":1}}`)
	patched := h.must(t, http.MethodPatch, path+"/status",
		`{"metadata":{"labels":{"a":"b"}},"spec":{"a":2},"status":{"phase":"Ready"}}`)
	if at(patched, "spec", "a") != "1" || at(patched, "status", "phase") != "Ready" || at(patched, "metadata", "labels") != "" {
		t.Errorf("a patch of status gives %s", patched)
	}
	if got := h.must(t, http.MethodGet, path+"/status", ""); got != patched {
		t.Errorf("get gives %s, want %s", got, patched)
	}
	version := at(patched, "metadata", "resourceVersion")
	body := func(version, rest string) string {
		return `{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"w","resourceVersion":"` + version + `"}` + rest + `}`
	}
	updated := h.must(t, http.MethodPut, path, body(version, `,"spec":{"a":3},"status":{"phase":"Lost"}`))
	if at(updated, "spec", "a") != "3" || at(updated, "status", "phase") != "Ready" {
		t.Errorf("an update gives %s", updated)
	}
	if a := h.do(t, http.MethodPut, path+"/status", body(version, `,"status":{}`)); a.code != 409 {
		t.Errorf("an update of status at an old version: got %d %s", a.code, a.body)
	}
	version = at(updated, "metadata", "resourceVersion")
	if got := h.must(t, http.MethodPut, path+"/status", body(version, ``)); at(got, "status") != "" || at(got, "spec", "a") != "3" {
		t.Errorf("an update of status without one gives %s", got)
	}
	if at(created, "metadata", "uid") != at(h.must(t, http.MethodGet, path, ""), "metadata", "uid") {
		t.Error("the uid has changed")
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		if a := h.do(t, method, path+"/status", `{}`); a.code != 405 {
			t.Errorf("%s of status: got %d %s", method, a.code, a.body)
		}
	}
}
