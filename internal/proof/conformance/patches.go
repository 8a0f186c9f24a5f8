package conformance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// noFit is the server's message for every JSON patch that does not apply.
const noFit = "the server rejected our request due to an error in our request"

// testPatches sends patches of each kind, to objects and to subresources. They are dry runs unless they say otherwise.
func testPatches(t *testing.T, s suite) {
	ns := s.namespace(t)
	made := newConfigMap(ns, "a", map[string]string{"l": "1"})
	made.Finalizers = []string{"bowline.dev/a"}
	made.Data = map[string]string{"k": "v", "html": "<b>"}
	made.Annotations = map[string]string{"a/b": "c~d"}
	made = must[*ConfigMap](t)(s.configMaps.Create(t.Context(), made))
	s.pod(t, ns, "a")
	d := newDeployment(ns, "a")
	d.Spec.Replicas = 1
	must[*Deployment](t)(s.deployments.Create(t.Context(), d))
	s.widget(t, ns, "a", `{"color":"red","size":1,"parts":[{"name":"p","n":1}],"list":[{"a":1}]}`)
	t.Cleanup(func() { // so that the namespace can go
		_, _ = s.configMaps.Patch(t.Context(), meta.KeyOf(made), patch.Merge(json.RawMessage(`{"metadata":{"finalizers":null}}`)))
	})
	names := paths(ns)
	for _, group := range [][]exchange{mediaExchanges(), jsonExchanges(), mergeExchanges(), strategicExchanges(), partExchanges()} {
		for _, e := range group {
			e.run(t, s, names)
		}
	}
	after := must[*ConfigMap](t)(s.configMaps.Get(t.Context(), meta.KeyOf(made)))
	equal(t, "the version after dry runs", after.ResourceVersion, made.ResourceVersion)

	for _, p := range []patch.Patch{
		patch.JSON(patch.Add("/data/x", "1")), patch.Merge(map[string]any{"data": map[string]any{"x": "2"}}),
		patch.Strategic(map[string]any{"data": map[string]any{"x": "3"}}),
	} {
		changed := must[*ConfigMap](t)(s.configMaps.Patch(t.Context(), meta.KeyOf(made), p))
		again := must[*ConfigMap](t)(s.configMaps.Patch(t.Context(), meta.KeyOf(made), p))
		equal(t, "the version after the same patch again", again.ResourceVersion, changed.ResourceVersion)
		_, err := s.configMaps.Patch(t.Context(), meta.KeyOf(made), p.WithResourceVersion(made.ResourceVersion))
		if p.MediaType() == patch.JSONType { // the version is an operation "test" of the patch
			wantReason(t, err, apierrors.Invalid, 422)
		} else {
			wantReason(t, err, apierrors.Conflict, 409)
		}
	}
	equal(t, "the data", must[*ConfigMap](t)(s.configMaps.Get(t.Context(), meta.KeyOf(made))).Data["x"], "3")
}

const (
	configMapA = "{core}/configmaps/a?dryRun=All"
	podA       = "{core}/pods/a?dryRun=All"
	deployA    = "{apps}/deployments/a?dryRun=All"
	scaleA     = "{apps}/deployments/a/scale?dryRun=All"
	widgetA    = "{widgets}/a?dryRun=All"
)

// malformed returns the exchange of a patch that is not JSON, which is refused before anything else is checked.
func malformed(name, path, media, body string) exchange {
	return refused(name, path, media, body, 400, apierrors.BadRequest, "invalid JSON patch")
}

// mediaExchanges are about the type of a patch and its parameters (behaviours 325 and 327).
func mediaExchanges() []exchange {
	const none, some = "415: Unsupported Media Type", "the body of the request was in an unknown format - accepted media types include: " +
		"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
	const options = `PatchOptions.meta.k8s.io "" is invalid: `
	long := strings.Repeat("z", 129)
	return []exchange{
		refused("JSON that is no patch", configMapA, "json", `{}`, 415, "UnsupportedMediaType", none),
		refused("of a scale", scaleA, "json", `{}`, 415, "UnsupportedMediaType", none),
		refused("of a resize", "{core}/pods/a/resize", "json", `{}`, 415, "UnsupportedMediaType", none),
		refused("of a custom resource", widgetA, "json", `{}`, 415, "UnsupportedMediaType", some),
		refused("strategic of a custom resource", widgetA, asStrategic, `{}`, 415, "UnsupportedMediaType", some),
		refused("strategic of its status", "{widgets}/a/status", asStrategic, `{}`, 415, "UnsupportedMediaType", some),
		refused("strategic of one that is not there", "{widgets}/none", asStrategic, `{}`, 415, "UnsupportedMediaType", some),
		applied("with a charset", configMapA, asMerge+"; charset=utf-8", `{}`, "data.k", `"v"`),
		malformed("nothing to patch, and no patch", "{core}/configmaps/none", asJSON, `{`).
			in136(404, apierrors.NotFound, `configmaps "none" not found`),
		refused("nothing to patch", "{core}/configmaps/none", asJSON, `{}`, 404, apierrors.NotFound, `configmaps "none" not found`),
		refused("a status of nothing", "{core}/pods/none/status", asJSON, `[]`, 404, apierrors.NotFound, `pods "none" not found`),
		malformed("a scale of nothing, and no patch", "{apps}/deployments/none/scale", asStrategic, `{`).
			in136(404, apierrors.NotFound, `deployments.apps "none" not found`),
		refused("a scale of nothing", "{apps}/deployments/none/scale", asStrategic, `{}`, 404, apierrors.NotFound, `deployments.apps "none" not found`),
		refused("of a collection", "{core}/configmaps", asMerge, `{}`, 405, apierrors.MethodNotAllowed, ""),
		refused("of an eviction", "{core}/pods/a/eviction", asJSON, `[]`, 405, apierrors.MethodNotAllowed, ""),
		refused("force without an apply", configMapA+"&force=true", asMerge, `{}`, 422, apierrors.Invalid,
			options+"force: Forbidden: may not be specified for non-apply patch"),
		refused("all parameters wrong", "{core}/configmaps/a?dryRun=x&force=1&fieldValidation=x&fieldManager="+long, asJSON, `[]`, 422, apierrors.Invalid,
			options+`[force: Forbidden: may not be specified for non-apply patch, fieldManager: Too long: may not be more than 128 bytes, `+
				`dryRun: Unsupported value: ["x"]: supported values: "All", fieldValidation: Unsupported value: "x": `+
				`supported values: "", "Ignore", "Strict", "Warn"]`),
		refused("a manager that cannot be printed", configMapA+"&fieldManager=a%01b", asMerge, `{}`, 422, apierrors.Invalid,
			options+`fieldManager: Invalid value: "a\x01b": invalid character U+0001 (at position 1)`),
		refused("a manager that is too long for an update", "PUT {core}/configmaps/a?fieldManager="+long, "", `{"metadata":{"name":"a"}}`,
			422, apierrors.Invalid, `UpdateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes`),
		refused("an apply without a manager", "{core}/configmaps/a", "apply-patch+yaml", `{}`, 422, apierrors.Invalid,
			options+"fieldManager: Required value: is required for apply patch"),
	}
}

// jsonExchanges are the server's answers to JSON patches, which differ from RFC 6902 in places.
func jsonExchanges() []exchange {
	const finalizers = "/metadata/finalizers"
	fits := func(name, body, at, is string) exchange { return applied(name, configMapA, asJSON, body, at, is) }
	bad := func(name, body, message string) exchange {
		return refused(name, configMapA, asJSON, body, 400, apierrors.BadRequest, message)
	}
	unfit := func(name, body string) exchange {
		return refused(name, configMapA, asJSON, body, 422, apierrors.Invalid, noFit)
	}
	tests := func(n int) string {
		return "[" + strings.Repeat(`{"op":"test","path":"/data/k","value":"v"},`, n-1) + `{"op":"test","path":"/data/k","value":"v"}]`
	}
	return []exchange{
		fits("add", field("add", "/data/x", `"1"`), "data.x", `"1"`),
		fits("no operations", `[]`, "data.k", `"v"`),
		fits("null", `null`, "data.k", `"v"`),
		bad("an object", `{}`, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
		malformed("half a list", configMapA, asJSON, `[`).in136(400, apierrors.BadRequest, "error decoding patch: unexpected end of JSON input"),
		malformed("nothing", configMapA, asJSON, ``).in136(400, apierrors.BadRequest, "error decoding patch: unexpected end of JSON input"),
		bad("a number for an operation", `[1]`, "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
		bad("a number for a name", `[{"op":1,"path":"/data/x"}]`, "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"),
		refused("an object, leniently", configMapA+"&fieldValidation=Ignore", asJSON, `{}`, 400, apierrors.BadRequest,
			"json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
		unfit("null for an operation", `[null]`),
		unfit("an operation that does not exist", field("nop", "/data/x", "1")),
		unfit("no operation", `[{"path":"/data/x"}]`),
		unfit("no path", `[{"op":"add","value":"1"}]`),
		fits("no value", `[{"op":"add","path":"/data/x"}]`, "data.x", `""`),
		fits("replace of what is not there", field("replace", "/data/none", `"1"`), "data.none", `"1"`),
		unfit("replace below what is not there", field("replace", "/none/none", `"1"`)),
		unfit("remove of what is not there", field("remove", "/data/none", "null")),
		fits("add at the end", field("add", finalizers+"/-", `"bowline.dev/b"`), "metadata.finalizers", `["bowline.dev/a","bowline.dev/b"]`),
		fits("add at the start", field("add", finalizers+"/0", `"bowline.dev/b"`), "metadata.finalizers", `["bowline.dev/b","bowline.dev/a"]`),
		fits("a leading zero", field("add", finalizers+"/00", `"bowline.dev/b"`), "metadata.finalizers", `["bowline.dev/b","bowline.dev/a"]`),
		fits("add from the end", field("add", finalizers+"/-1", `"bowline.dev/b"`), "metadata.finalizers", `["bowline.dev/a","bowline.dev/b"]`),
		fits("replace from the end", field("replace", finalizers+"/-1", `"bowline.dev/b"`), "metadata.finalizers", `["bowline.dev/b"]`),
		fits("remove from the end", field("remove", finalizers+"/-1", `null`), "metadata.finalizers", `null`),
		unfit("an index out of range", field("add", finalizers+"/2", `"bowline.dev/b"`)),
		unfit("replace behind the end", field("replace", finalizers+"/-", `"bowline.dev/b"`)),
		unfit("a failed test", field("test", "/data/k", `"w"`)),
		fits("a test", field("test", "/metadata/annotations/a~1b", `"c~d"`), "data.k", `"v"`),
		fits("a test of an object", field("test", "/data", `{"k":"v", "html":"\u003cb\u003e"}`), "data.k", `"v"`),
		fits("a test for nothing", field("test", "/data/none", `null`), "data.k", `"v"`),
		unfit("a test that is written otherwise", field("test", "/data/html", `"<b>"`)),
		unfit("a failed test after a change", `[{"op":"add","path":"/data/x","value":"1"},{"op":"test","path":"/data/x","value":"2"}]`),
		fits("copy", `[{"op":"copy","from":"/data/k","path":"/data/c"}]`, "data.c", `"v"`),
		fits("copy from nowhere", `[{"op":"copy","from":"/data/none","path":"/data/c"}]`, "data.c", `""`),
		fits("move", `[{"op":"move","from":"/data/k","path":"/data/c"}]`, "data", `{"c":"v","html":"\u003cb\u003e"}`),
		unfit("move from nowhere", `[{"op":"move","from":"/data/none","path":"/data/c"}]`),
		unfit("move into itself", `[{"op":"move","from":"/data","path":"/data/c"}]`),
		unfit("remove of the whole", `[{"op":"remove","path":""}]`),
		unfit("add of the whole", field("add", "", `{}`)),
		refused("a list for the whole", configMapA, asJSON, field("replace", "", `[]`), 422, apierrors.Invalid, ""),
		unfit("through a scalar", field("add", "/data/k/b", `"1"`)),
		refused("a number for a text", configMapA, asJSON, field("add", "/data/x", `1`), 422, apierrors.Invalid,
			"json: cannot unmarshal number into Go struct field ConfigMap.data of type string"),
		refused("too many operations", configMapA, asJSON, tests(10_001), 413, apierrors.RequestEntityTooLarge,
			"Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"),
		fits("as many operations as there may be", tests(10_000), "data.k", `"v"`),
		unfit("copies that add too much", `[{"op":"add","path":"/data/x","value":"`+strings.Repeat("y", 100_000)+`"}`+
			strings.Repeat(`,{"op":"copy","from":"/data/x","path":"/data/y"}`, 32)+`]`),
		bad("another name", field("replace", "/metadata/name", `"b"`), "the name of the object (b) does not match the name on the URL (a)"),
		bad("no name", field("remove", "/metadata/name", `null`), "the name of the object (a based on URL) was undeterminable: name must be provided"),
		bad("another namespace, and another name", `[{"op":"replace","path":"/metadata/namespace","value":"b"},{"op":"replace","path":"/metadata/name","value":"b"}]`,
			"the namespace of the provided object does not match the namespace sent on the request"),
		fits("no namespace", field("remove", "/metadata/namespace", `null`), "metadata.name", `"a"`),
		refused("another uid", configMapA, asJSON, field("replace", "/metadata/uid", `"b"`), 422, apierrors.Invalid,
			`metadata.uid: Invalid value: "b": field is immutable`),
		fits("no uid", field("remove", "/metadata/uid", `null`), "metadata.name", `"a"`),
		refused("an old version", configMapA, asJSON, field("replace", "/metadata/resourceVersion", `"1"`), 409, apierrors.Conflict,
			"the object has been modified; please apply your changes to the latest version and try again"),
		refused("no version", configMapA, asJSON, field("replace", "/metadata/resourceVersion", `"x"`), 500, apierrors.InternalError,
			`strconv.ParseUint: parsing "x": invalid syntax`),
		fits("whatever the version", field("remove", "/metadata/resourceVersion", `null`), "metadata.name", `"a"`),
		refused("a custom resource whatever the version", widgetA, asJSON, field("remove", "/metadata/resourceVersion", `null`), 422, apierrors.Invalid,
			"metadata.resourceVersion: Invalid value: 0: must be specified for an update"),
		refused("another kind", configMapA, asJSON, field("replace", "/kind", `"Nope"`), 422, apierrors.Invalid,
			`no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`),
		refused("another kind of a custom resource", widgetA, asJSON, field("replace", "/kind", `"Nope"`), 422, apierrors.Invalid,
			`Nope.conformance.bowline.example "a" is invalid: kind: Invalid value: "Nope": must be Widget`),
		fits("no kind", field("remove", "/kind", `null`), "kind", `"ConfigMap"`),
		bad("no version of the API", field("remove", "/apiVersion", `null`), "the name of the object (a based on URL) was undeterminable: name must be provided"),
		refused("being deleted", configMapA, asJSON, field("add", "/metadata/deletionTimestamp", `"2020-01-01T00:00:00Z"`), 422, apierrors.Invalid,
			`metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable`),
		applied("a custom resource", widgetA, asJSON, `[{"op":"test","path":"/spec/list","value":[{"a": 1}]},{"op":"add","path":"/spec/list/0","value":{"b":null}}]`,
			"spec.list", `[{"b":null},{"a":1}]`),
	}
}

// mergeExchanges are the server's answers to merge patches.
func mergeExchanges() []exchange {
	bad := func(name, body, message string) exchange {
		return refused(name, configMapA, asMerge, body, 400, apierrors.BadRequest, message)
	}
	lenient := func(name, body string) exchange {
		return refused(name, configMapA+"&fieldValidation=Ignore", asMerge, body, 400, apierrors.BadRequest, "Invalid JSON Patch")
	}
	const object = "error decoding patch: json: cannot unmarshal %s into Go value of type map[string]interface {}"
	of := func(kind string) string { return strings.ReplaceAll(object, "%s", kind) }
	return []exchange{
		applied("add and remove", configMapA, asMerge, `{"data":{"k":null,"x":"1"}}`, "data", `{"html":"\u003cb\u003e","x":"1"}`),
		malformed("half an object", configMapA, asMerge, `{`).in136(400, apierrors.BadRequest, "error decoding patch: unexpected end of JSON input"),
		malformed("nothing", configMapA, asMerge, ``).in136(400, apierrors.BadRequest, "error decoding patch: unexpected end of JSON input"),
		bad("a list", `[]`, of("array")), bad("a text", `"s"`, of("string")), bad("a number", `1`, of("number")),
		bad("null", `null`, "Invalid JSON Patch"),
		malformed("half an object, leniently", configMapA+"&fieldValidation=Ignore", asMerge, `{`).
			in136(400, apierrors.BadRequest, "Invalid JSON Patch"),
		lenient("null, leniently", `null`), lenient("a text, leniently", `"s"`),
		refused("a list, leniently", configMapA+"&fieldValidation=Ignore", asMerge, `[1]`, 422, apierrors.Invalid,
			`patch: Invalid value: "[1]": couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type `+
				`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`),
		bad("no metadata", `{"metadata":null}`, "the name of the object (a based on URL) was undeterminable: name must be provided"),
		bad("another name", `{"metadata":{"name":"b"}}`, "the name of the object (b) does not match the name on the URL (a)"),
		bad("another namespace", `{"metadata":{"namespace":"b"}}`, "the namespace of the provided object does not match the namespace sent on the request"),
		refused("another uid", configMapA, asMerge, `{"metadata":{"uid":"b"}}`, 422, apierrors.Invalid, `metadata.uid: Invalid value: "b": field is immutable`),
		refused("an old version", configMapA, asMerge, `{"metadata":{"resourceVersion":"1"}}`, 409, apierrors.Conflict,
			`Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again`),
		refused("a custom resource whatever the version", widgetA, asMerge, `{"metadata":{"resourceVersion":null}}`, 422, apierrors.Invalid,
			"metadata.resourceVersion: Invalid value: 0: must be specified for an update"),
		applied("no kind", configMapA, asMerge, `{"kind":null}`, "kind", `"ConfigMap"`),
		applied("null where it is nothing", widgetA, asJSON, field("add", "/spec", `{"color":"x","size":null,"byName":{"a":null,"b":{}},"any":{"n":null}}`),
			"spec", `{"any":{"n":null},"byName":{"b":{}},"color":"x"}`),
		applied("owners that are there twice", podA, asMerge, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"b","uid":"u"},`+
			`{"apiVersion":"v1","kind":"A","name":"b","uid":"u"}]}}`, "metadata.ownerReferences.uid", `["u"]`).
			warned(".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references " +
				"in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u"),
		applied("nulls in a list that is new", widgetA, asMerge, `{"spec":{"list":[{"b":null,"c":{"d":null}}]}}`, "spec.list", `[{"c":{}}]`),
		applied("an object for a list", widgetA, asMerge, `{"spec":{"any":{"x":{"y":null},"z":[{"n":null}]}}}`, "spec.any", `{"x":{},"z":[{}]}`),
	}
}

// strategicExchanges are the server's answers to strategic merge patches. A kube-apiserver's errors show Go values,
// and clienttest's do not, so their texts are not compared.
func strategicExchanges() []exchange {
	bad := func(name, body, message string) exchange {
		return refused(name, configMapA, asStrategic, body, 400, apierrors.BadRequest, message)
	}
	fails := func(name, path, body string) exchange {
		return refused(name, path, asStrategic, body, 500, apierrors.InternalError, "")
	}
	pods := func(body string) string { return `{"spec":{"template":{"spec":` + body + `}}}` }
	const podSpec = "spec.template.spec."
	return []exchange{
		applied("add and remove", configMapA, asStrategic, `{"data":{"k":null,"x":"1"}}`, "data", `{"html":"\u003cb\u003e","x":"1"}`),
		applied("null", configMapA, asStrategic, `null`, "data.k", `"v"`),
		malformed("half an object", configMapA, asStrategic, `{`).in136(400, apierrors.BadRequest, "unexpected end of JSON input"),
		malformed("nothing", configMapA, asStrategic, ``).in136(400, apierrors.BadRequest, "unexpected end of JSON input"),
		bad("a list", `[]`, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
		applied("replace", configMapA, asStrategic, `{"data":{"$patch":"replace","z":"1"}}`, "data", `{"z":"1"}`),
		applied("delete", configMapA, asStrategic, `{"data":{"$patch":"delete"}}`, "data", `null`),
		fails("an unknown directive", configMapA, `{"data":{"$patch":"bogus"}}`),
		bad("delete of the whole", `{"$patch":"delete"}`, "the name of the object (a based on URL) was undeterminable: name must be provided"),
		applied("a set", configMapA, asStrategic, `{"metadata":{"finalizers":["bowline.dev/b"]}}`, "metadata.finalizers", `["bowline.dev/b","bowline.dev/a"]`),
		applied("out of a set", configMapA, asStrategic, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["bowline.dev/a"]}}`, "metadata.finalizers", `null`),
		applied("the order of a set", configMapA, asStrategic,
			`{"metadata":{"$setElementOrder/finalizers":["bowline.dev/a","bowline.dev/b"],"finalizers":["bowline.dev/b"]}}`,
			"metadata.finalizers", `["bowline.dev/a","bowline.dev/b"]`),
		fails("another order", configMapA, `{"metadata":{"$setElementOrder/finalizers":["bowline.dev/b"],"finalizers":["bowline.dev/c"]}}`),
		bad("another name", `{"metadata":{"name":"b"}}`, "the name of the object (b) does not match the name on the URL (a)"),
		bad("another namespace", `{"metadata":{"namespace":"b"}}`, "the namespace of the provided object does not match the namespace sent on the request"),
		refused("another uid", configMapA, asStrategic, `{"metadata":{"uid":"b"}}`, 422, apierrors.Invalid, `metadata.uid: Invalid value: "b": field is immutable`),
		refused("an old version", configMapA, asStrategic, `{"metadata":{"resourceVersion":"1"}}`, 409, apierrors.Conflict, "*"),
		applied("whatever the version", configMapA, asStrategic, `{"metadata":{"resourceVersion":null}}`, "kind", `"ConfigMap"`),
		applied("another kind", configMapA, asStrategic, `{"kind":"Secret","apiVersion":"v2"}`, "kind", `"ConfigMap"`),
		applied("by the merge key", deployA, asStrategic, pods(`{"containers":[{"name":"main","args":["x"]},{"name":"more","image":"i"}]}`),
			podSpec+"containers.name", `["main","more"]`),
		applied("what the patch leaves out", deployA, asStrategic, pods(`{"containers":[{"name":"main","args":["x"]}]}`),
			podSpec+"containers.image", `["example.invalid/main:1"]`),
		fails("without the merge key", deployA, pods(`{"containers":[{"image":"i"}]}`)),
		fails("lists in a list", deployA, pods(`{"containers":[[1]]}`)),
		fails("a text in a list of objects", deployA, pods(`{"containers":["x"]}`)),
		applied("delete of an item", deployA, asStrategic, pods(`{"containers":[{"name":"main","$patch":"delete"},{"name":"more","image":"i"}]}`),
			podSpec+"containers.name", `["more"]`),
		applied("delete of none", deployA, asStrategic, pods(`{"containers":[{"name":"none","$patch":"delete"}]}`), podSpec+"containers.name", `["main"]`),
		applied("replace of a list", deployA, asStrategic, pods(`{"containers":[{"$patch":"replace"},{"name":"more","image":"i"}]}`),
			podSpec+"containers.name", `["more"]`),
		applied("the order of a list", deployA, asStrategic,
			pods(`{"$setElementOrder/containers":[{"name":"more"},{"name":"main"}],"containers":[{"name":"more","image":"i"}]}`),
			podSpec+"containers.name", `["more","main"]`),
		fails("an order that is none", deployA, pods(`{"$setElementOrder/containers":"x"}`)),
		applied("retained members", deployA, asStrategic, `{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`, "spec.strategy", `{"type":"Recreate"}`),
		refused("retained members that are none", deployA, asStrategic, `{"spec":{"strategy":{"$retainKeys":"x","type":"Recreate"}}}`, 400,
			apierrors.BadRequest, "invalid patch format of retainKeys"),
	}
}

// partExchanges are patches of subresources.
func partExchanges() []exchange {
	const modified = "the object has been modified; please apply your changes to the latest version and try again"
	replicas := func(media, body, is string) exchange {
		return applied("replicas", scaleA, media, body, "spec.replicas", is)
	}
	old := func(path, media string) exchange {
		return refused("an old version of "+path, path+"?dryRun=All", media, `{"metadata":{"resourceVersion":"1"}}`, 409, apierrors.Conflict, modified)
	}
	return []exchange{
		replicas(asJSON, `[{"op":"test","path":"/kind","value":"Scale"},{"op":"test","path":"/apiVersion","value":"autoscaling/v1"},`+
			`{"op":"test","path":"/status/selector","value":"app=a"},{"op":"replace","path":"/spec/replicas","value":4}]`, "4"),
		replicas(asMerge, `{"spec":{"replicas":3}}`, "3"),
		replicas(asStrategic, `{"spec":{"replicas":2}}`, "2"),
		refused("a negative number", scaleA, asJSON, field("replace", "/spec/replicas", "-4"), 422, apierrors.Invalid,
			`Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -4: must be greater than or equal to 0`),
		refused("another name", scaleA, asMerge, `{"metadata":{"name":"b"}}`, 400, apierrors.BadRequest,
			"the name of the object (b) does not match the name on the URL (a)"),
		refused("another name and namespace", scaleA, asMerge, `{"metadata":{"name":"b","namespace":"b"}}`, 400, apierrors.BadRequest,
			"the namespace of the provided object does not match the namespace sent on the request"),
		refused("another kind", scaleA, asMerge, `{"kind":"X"}`, 422, apierrors.Invalid,
			`no kind "X" is registered for version "autoscaling/v1" in scheme "pkg/runtime/scheme.go:111"`),
		applied("no kind of a scale", scaleA, asMerge, `{"kind":null}`, "kind", `"Scale"`),
		refused("no version of a scale", scaleA, asMerge, `{"apiVersion":null}`, 400, apierrors.BadRequest,
			"the name of the object (a based on URL) was undeterminable: name must be provided"),
		refused("another uid", scaleA, asMerge, `{"metadata":{"uid":"b"}}`, 409, apierrors.Conflict,
			`Operation cannot be fulfilled on deployments/scale.apps "a": Precondition failed: UID in precondition: b*`),
		old("{core}/pods/a/status", asMerge), old("{core}/pods/a/resize", asStrategic), old("{core}/pods/a/ephemeralcontainers", asStrategic),
		old("{apps}/deployments/a/scale", asMerge), old("{apps}/deployments/a/scale", asStrategic), old("{widgets}/a/status", asMerge),
		applied("a status", "{core}/pods/a/status?dryRun=All", asStrategic, `{"status":{"conditions":[{"type":"X","status":"True"}]},"spec":{"nodeName":"n"}}`,
			"spec.nodeName", "null"),
		applied("a status by JSON patch", "{core}/pods/a/status?dryRun=All", asJSON, field("add", "/status/message", `"hi"`), "status.message", `"hi"`),
		applied("a status of a custom resource", "{widgets}/a/status?dryRun=All", asMerge, `{"status":{"ok":true},"spec":{"size":7}}`, "spec.size", `1`),
		applied("a debugger", "{core}/pods/a/ephemeralcontainers?dryRun=All", asStrategic, `{"spec":{"ephemeralContainers":[{"name":"e","image":"i"}]}}`,
			"spec.ephemeralContainers.name", `["e"]`),
	}
}
