package conformance

import (
	"testing"

	apierrors "github.com/bowline-go/bowline/errors"
)

// testMetadata checks the server's words and causes about metadata that is not allowed.
func testMetadata(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	s.configMap(t, ns, "a", nil)
	s.widget(t, ns, "a", `{}`)
	create := func(name, metadata, message, causes string) exchange {
		return refused(name, "POST {core}/configmaps", "", `{"metadata":{"name":"b",`+metadata+`}}`, 422, apierrors.Invalid, message).caused(causes)
	}
	owner := func(kind, name string) string {
		return `{"apiVersion":"v1","kind":"` + kind + `","name":"` + name + `","uid":"` + name + `","controller":true}`
	}
	change := func(name, metadata, causes string) exchange {
		return refused(name, "{widgets}/a", asMerge, `{"metadata":{`+metadata+`}}`, 422, apierrors.Invalid, "").caused(causes)
	}
	const (
		old    = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
		owners = "metadata.ownerReferences"
		plain  = `metadata.finalizers: "%s": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`
	)
	first := s.words(in136(owners+"[0]", owners))
	for _, e := range []exchange{
		create("an event as owner", `"ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}]`,
			`{"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: /v1, Kind=Event is disallowed from being an owner`, first),
		create("two controllers", `"ownerReferences":[`+owner("ConfigMap", "x")+","+owner("Secret", "y")+`]`,
			`: Only one reference can have Controller set to true. Found "true" in references for ConfigMap/x and Secret/y`, owners),
		create("three controllers", `"ownerReferences":[`+owner("ConfigMap", "x")+","+owner("Secret", "y")+","+owner("Secret", "z")+`]`,
			`: Only one reference can have Controller set to true. Found "true" in references for ConfigMap/x and Secret/z]`, owners+" "+owners),
		create("two finalizers of the garbage collector", `"finalizers":["orphan","foregroundDeletion"]`,
			`["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set`, "metadata.finalizers"),
		create("a label without a name", `"labels":{"a.b/":"c"}`, "", "metadata.labels metadata.labels"),
		create("a label without a prefix", `"labels":{"/a":"c"}`, `metadata.labels: Invalid value: "/a": prefix part must be non-empty`, "metadata.labels"),
		create("a label with two slashes", `"labels":{"a/b/c":"d"}`, `with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`, "metadata.labels"),
		create("a generation", `"generation":-1`, `metadata.generation: Invalid value: -1: must be greater than or equal to 0`, "metadata.generation"),
		refused("a prefix that is no name", "POST {core}/configmaps", "", `{"metadata":{"generateName":"A-"}}`, 422, apierrors.Invalid, "").
			caused("metadata.name"),
		refused("a grace period", "{core}/configmaps/a", asMerge, `{"metadata":{"deletionGracePeriodSeconds":5}}`, 422, apierrors.Invalid,
			`metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable`),

		{name: "endpoints, which are deprecated", path: "POST {core}/endpoints", body: `{"metadata":{"name":"a"}}`, code: 201, warnings: old},
		applied("a list of them", "GET {core}/endpoints", "", "", "kind", `"EndpointsList"`).warned(old),
		applied("a list of others", "GET {core}/services", "", "", "kind", `"ServiceList"`),

		// For a custom resource, the server lists some causes several times, and its message says each once.
		change("the label of a custom resource", `"labels":{"a":"b c"}`, "metadata.labels metadata.labels metadata.labels"),
		change("its annotation", `"annotations":{"a b":""}`, "metadata.annotations metadata.annotations metadata.annotations"),
		change("its owner", `"ownerReferences":[{"apiVersion":"v1","kind":"X","name":"x"}]`, first+".uid "+first+".uid "+first+".uid"),
		change("its finalizer", `"finalizers":["a b"]`, "metadata.finalizers"),
		change("its uid", `"uid":"x"`, "metadata.uid metadata.uid"),
		change("its end", `"deletionTimestamp":"2026-01-01T00:00:00Z"`, "metadata.deletionTimestamp metadata.deletionTimestamp"),
		refused("the message of that", "{widgets}/a", asMerge, `{"metadata":{"uid":"x"}}`, 422, apierrors.Invalid,
			`Widget.conformance.bowline.example "a" is invalid: metadata.uid: Invalid value: "x": field is immutable`),

		applied("its finalizers", "{widgets}/a", asMerge, `{"metadata":{"finalizers":["x","orphan","bowline.dev","bowline.dev/y"]}}`, "", "").
			warned(`metadata.finalizers: "bowline.dev": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts ` +
				`with other finalizer writers; metadata.finalizers: "x": prefer a domain-qualified finalizer name to avoid accidental conflicts ` +
				`with other finalizer writers`),
		// The server may compare the patch with the object in its cache, and warn of each finalizer that the cached
		// object does not have. So the list first makes the server wait until its cache is current.
		applied("a list of widgets", "GET {widgets}", "", "", "kind", `"WidgetList"`),
		applied("those it has", "{widgets}/a", asMerge, `{"metadata":{"finalizers":["x","bowline.dev"]}}`, "", ""),
		applied("none", "{widgets}/a", asMerge, `{"metadata":{"finalizers":null}}`, "", ""),
	} {
		e.run(t, s, names)
	}
}

// Requests that no client should send, and their answers.
func testOddRequests(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	a := s.configMap(t, ns, "a", nil)
	s.widget(t, ns, "a", `{}`)
	const core, configMaps = "POST {core}/configmaps", "{core}/configmaps"
	const refusedAs = `ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal `
	unread := func(name, body, message string) exchange {
		return refused(name, core, "", body, 400, apierrors.BadRequest, message)
	}
	for _, e := range []exchange{
		refused("a version of what is created", core, "", `{"metadata":{"name":"b","resourceVersion":"7"}}`, 500, apierrors.InternalError,
			"resourceVersion should not be set on objects to be created"),
		{
			name: "of a dry run", path: core + "?dryRun=All", body: `{"metadata":{"name":"b","resourceVersion":"7"}}`, code: 201,
			at: "metadata.resourceVersion", is: `"7"`,
		},
		{name: "which is 0", path: core, body: `{"metadata":{"name":"c","resourceVersion":"0"}}`, code: 201},
		{name: "which is none", path: core, body: `{"metadata":{"name":"d","resourceVersion":"x"}}`, code: 201},
		refused("of a dry run of what is there", core+"?dryRun=All", "", `{"metadata":{"name":"a","resourceVersion":"7"}}`, 409,
			apierrors.AlreadyExists, `configmaps "a" already exists`),
		refused("dryRun without a value", core+"?dryRun=", "", `{"metadata":{"name":"e"}}`, 422, apierrors.Invalid,
			`dryRun: Unsupported value: [""]: supported values: "All"`),
		refused("another uid", "PUT {core}/configmaps/a", "", `{"metadata":{"name":"a","uid":"x"}}`, 409, apierrors.Conflict,
			`Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/`+ns+
				`/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: `+a.UID),
		refused("the uid of what is not there", "PUT /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l", "",
			`{"metadata":{"name":"l","uid":"x"}}`, 409, apierrors.Conflict, `Precondition failed: UID in precondition: x, UID in object meta: `),

		refused("null", core, "", `null`, 422, apierrors.Invalid, `ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required`),
		unread("metadata of another type", `{"metadata":"x"}`, refusedAs+"string into Go struct field ConfigMap.metadata of type v1.ObjectMeta"),
		unread("a name of another type", `{"metadata":{"name":1}}`, refusedAs+"number into Go struct field ObjectMeta.metadata.name of type string"),
		unread("a label of another type", `{"metadata":{"labels":{"a":1}}}`, refusedAs+"number into Go struct field ObjectMeta.metadata.labels of type string"),
		unread("a time that is none", `{"metadata":{"creationTimestamp":"x"}}`, `as a ConfigMap: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`),
		unread("an apiVersion that is none", `{"apiVersion":"a/b/c","kind":"ConfigMap"}`, `unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)`),
		refused("a custom resource from null", "POST {widgets}", "", `null`, 400, apierrors.BadRequest, `Object 'Kind' is missing in 'null' (6e756c6c)`),
		refused("deletion by another kind", "DELETE {core}/configmaps/a", "", `{"kind":"Secret","apiVersion":"v1"}`, 400, apierrors.BadRequest,
			`no kind "Secret" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`),
		refused("deletion by another type", "DELETE {core}/configmaps/a", "", `{"gracePeriodSeconds":"x"}`, 400, apierrors.BadRequest,
			`json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64`),

		refused("a subresource that is none", "GET {widgets}/a/nope", "", "", 404, apierrors.NotFound, `widgets.conformance.bowline.example "a" not found`),
		refused("create a status", "POST {widgets}/a/status", "", `{}`, 405, apierrors.MethodNotAllowed,
			`create is not supported on resources of kind "widgets.conformance.bowline.example"`),
		refused("update without a name", "PUT {widgets}", "", `{}`, 400, apierrors.BadRequest, `name must be provided`),

		applied("the old path of a watch", "GET /api/v1/watch/namespaces/{ns}/configmaps/a?timeoutSeconds=1", "", "", "type", `"ADDED"`),
		applied("of a namespace", "GET /api/v1/watch/namespaces/{ns}?timeoutSeconds=1", "", "", "object.metadata.name", `"`+ns+`"`),
		applied("of a custom resource", "GET /apis/conformance.bowline.example/v1/watch/namespaces/{ns}/widgets?timeoutSeconds=1", "", "", "type", `"ADDED"`),
		refused("a create there", "POST /api/v1/watch/namespaces/{ns}/configmaps", "", `{}`, 405, apierrors.MethodNotAllowed, ""),
		// A real server may also end without an answer, because the time is over before it starts.
		applied("a watch whose time is over", "GET "+configMaps+"?watch=1&timeoutSeconds=-1", "", "", "", ""),
		refused("a watch that continues", "GET "+configMaps+"?watch=1&continue=x", "", "", 422, apierrors.Invalid,
			"resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"),
		applied("a list whose time is over", "GET "+configMaps+"?timeoutSeconds=-1", "", "", "kind", `"ConfigMapList"`),
		exchange{name: "the root", path: "GET /", code: 200}.answered("", `*"/api/v1",*"/apis/apps/v1",*"/healthz",*"/version"*`),
		exchange{name: "the index", path: "GET /index.html", code: 200}.answered("", `*"/apis"*`),
	} {
		e.run(t, s, names)
	}
}

// A custom resource keeps numbers as integers, or as floating-point numbers in their shortest form.
func testNumbers(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	s.widget(t, ns, "a", `{"size":3.0,"any":{"a":1e3,"b":1.50,"c":9007199254740993,"d":1E-2,"e":1e21,"f":-0,"g":-0.0,"h":123456789012345678901234567890}}`)
	for _, e := range []exchange{
		applied("an integer", "GET {widgets}/a", "", "", "spec.size", "3"),
		exchange{name: "the others", path: "GET {widgets}/a", code: 200}.answered("",
			`*"any":{"a":1000,"b":1.5,"c":9007199254740993,"d":0.01,"e":1e+21,"f":0,"g":0,"h":1.2345678901234568e+29},"size":3}}*`),
		applied("by a merge patch", "{widgets}/a", asMerge, `{"spec":{"any":null,"size":2e1}}`, "spec", `{"size":20}`),
		applied("by a JSON patch", "{widgets}/a", asJSON, field("add", "/spec/any", `{"n":2.0}`), "spec", `{"any":{"n":2},"size":20}`),
		applied("by an apply", "{widgets}/a?fieldManager=m&force=true", "apply-patch+yaml",
			`{"apiVersion":"conformance.bowline.example/v1","kind":"Widget","spec":{"any":{"o":5.0}}}`, "spec", `{"any":{"n":2,"o":5},"size":20}`),

		refused("one that is too large", "POST {widgets}", "",
			`{"apiVersion":"conformance.bowline.example/v1","kind":"Widget","metadata":{"name":"b"},"spec":{"any":{"n":[-1e400]}}}`, 400,
			apierrors.BadRequest, `Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number -1e400 into Go value of type float64`),
		refused("by a merge patch", "{widgets}/a", asMerge, `{"spec":{"any":1e400}}`, 400, apierrors.BadRequest,
			`error decoding patch: json: cannot unmarshal number 1e400 into Go value of type float64`),
		refused("by a JSON patch", "{widgets}/a", asJSON, field("add", "/spec/any", `1e400`), 400, apierrors.BadRequest,
			`error decoding patch: json: cannot unmarshal number 1e400 into Go struct field jsonPatchOp.value of type float64`),
	} {
		e.run(t, s, names)
	}
}

func testTimeout(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	const invalid = `invalid timeout specified in the request URL - time: invalid duration "x"`
	for _, e := range []exchange{
		refused("no duration", "GET {core}/configmaps?timeout=x", "", "", 400, apierrors.BadRequest, invalid),
		refused("no duration of a write", "POST {core}/configmaps?timeout=x", "", `{"metadata":{"name":"a"}}`, 400, apierrors.BadRequest, invalid),
		refused("no duration of another path", "GET /version?timeout=x", "", "", 400, apierrors.BadRequest, invalid),
		applied("a duration", "GET {core}/configmaps?timeout=5s", "", "", "kind", `"ConfigMapList"`),
		applied("no limit", "GET {core}/configmaps?timeout=0s", "", "", "kind", `"ConfigMapList"`),
		applied("less than none", "GET {core}/configmaps?timeout=-1s", "", "", "kind", `"ConfigMapList"`),
		applied("a long time", "GET {core}/configmaps?timeout=100h", "", "", "kind", `"ConfigMapList"`),
		refused("a time that passes", "GET {core}/configmaps?timeout=1s&resourceVersion=99999999999", "", "", 504, apierrors.Timeout,
			`the answer is not a Status but text/plain; charset=utf-8: {"metadata":{}*"code":504}`),
	} {
		e.run(t, s, names)
	}
}
