package conformance

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// testUnknownFields sends members that the kind does not have, in every way to write an object.
func testUnknownFields(t *testing.T, s suite) {
	ns := s.namespace(t)
	s.configMap(t, ns, "a", nil)
	s.pod(t, ns, "a")
	must[*Deployment](t)(s.deployments.Create(t.Context(), newDeployment(ns, "a")))
	must[*Namespace](t)(client.For(s.client, accounts).Create(t.Context(), &Namespace{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "a"}}))
	s.widget(t, ns, "a", `{"color":"red","size":1}`)
	names := paths(ns)
	for _, e := range unknownFields() {
		e.run(t, s, names)
	}
	for _, e := range wrongTypes() {
		e.run(t, s, names)
	}
	for _, e := range strictFields() {
		e.path += map[bool]string{true: "&", false: "?"}[strings.Contains(e.path, "?")] + "fieldValidation=Strict"
		e.run(t, s, names)
	}
}

// unknownFields are members that are dropped, with a warning for each.
func unknownFields() []exchange {
	const lenient = "&fieldValidation=Ignore"
	warned := func(name, path, media, body, at, is string, wrong ...string) exchange {
		e := applied(name, path, media, body, at, is).warned(fields("; ", wrong))
		if strings.HasPrefix(path, "POST") {
			e.code = 201
		}
		return e
	}
	const twice = `{"data":{"k":"1","k":"2"},"zz":1,"aa":{"b":1},"metadata":{"foo":1}}`
	const widget = `{"apiVersion":"conformance.bowline.example/v1","kind":"Widget","metadata":{"name":"b","foo":1},"zz":1,` +
		`"spec":{"x":{"y":1},"color":"r","b":1,"parts":[{"name":"a","q":1}],"byName":{"k":{"z":1}},"any":{"k":1}},"aa":1}`
	return []exchange{
		warned("create", "POST {core}/configmaps?dryRun=All", "", `{"metadata":{"name":"b","foo":1},"zz":1,"data":{"a":"1","a":"2"},"aa":{"b":1,"b":2}}`,
			"zz", "null", "unknown metadata.foo", "unknown zz", "duplicate data.a", "unknown aa"),
		warned("create of a review", "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews?dryRun=All", "",
			`{"spec":{"z":1,"nonResourceAttributes":{"path":"/","x":1}}}`, "spec.nonResourceAttributes", `{"path":"/"}`,
			"unknown spec.z", "unknown spec.nonResourceAttributes.x"),
		warned("create of a custom resource", "POST {widgets}?dryRun=All", "", widget,
			"spec", `{"any":{"k":1},"byName":{"k":{}},"color":"r","parts":[{"name":"a"}]}`,
			"unknown metadata.foo", "unknown aa", "unknown spec.b", "unknown spec.byName.k.z", "unknown spec.parts[0].q", "unknown spec.x", "unknown zz"),
		warned("names in other letters", "POST {core}/configmaps?dryRun=All", "", `{"metadata":{"name":"b","Labels":{"a":"b"},"ownerReferences":[],"NAME":"c"},"Data":{"a":"1"}}`,
			"metadata.labels", "null", "unknown metadata.Labels", "unknown metadata.NAME", "unknown Data"),
		warned("names in other letters, of a custom resource", "POST {widgets}?dryRun=All", "",
			`{"apiVersion":"conformance.bowline.example/v1","kind":"Widget","metadata":{"name":"b","Labels":{"a":"b"}},"spec":{"color":"r"}}`,
			"metadata.labels", "null", "unknown metadata.Labels"),
		warned("nulls in a list, and a name in other letters", "POST {core}/serviceaccounts?dryRun=All", "",
			`{"metadata":{"name":"b"},"imagePullSecrets":[{"name":null},{"name":"x"}],"Secrets":[]}`, "imagePullSecrets", `[{},{"name":"x"}]`, "unknown Secrets"),
		warned("nulls as elements, and a name in other letters", "POST {core}/serviceaccounts?dryRun=All", "",
			`{"metadata":{"name":"b"},"secrets":[null,{"name":"x","namespace":null}],"Secrets":[]}`, "secrets", `[{},{"name":"x"}]`, "unknown Secrets"),
		warned("update", "PUT "+configMapA, "", `{"metadata":{"name":"a"},"zz":1}`, "zz", "null", "unknown zz"),
		warned("update of a status", "PUT {apps}/deployments/a/status?dryRun=All", "", `{"metadata":{"name":"a"},"status":{"replicas":1,"x":1},"spec":{"y":1}}`,
			"status.x", "null", "unknown status.x", "unknown spec.y"),
		warned("merge", configMapA, asMerge, twice, "data", `{"k":"2"}`, "duplicate data.k", "unknown aa", "unknown metadata.foo", "unknown zz"),
		applied("merge, leniently", configMapA+lenient, asMerge, twice, "aa", "null"),
		warned("strategic", configMapA, asStrategic, twice, "data", `{"k":"2"}`, "duplicate data.k", "unknown aa", "unknown metadata.foo", "unknown zz"),
		applied("strategic, leniently", configMapA+lenient, asStrategic, twice, "aa", "null"),
		warned("a path without a slash", configMapA, asJSON, field("add", "data/x", `"1"`), "data", `{"k":"v"}`, "unknown x"),
		warned("a name that is empty", configMapA, asJSON, field("add", "/", `"1"`), "data", `{"k":"v"}`, "unknown "),
		applied("JSON, leniently", configMapA+lenient, asJSON, `[{"op":"add","path":"/x","value":1,"op":"add","zz":1}]`, "x", "null"),
		warned("merge of a scale", scaleA, asMerge, `{"spec":{"x":1}}`, "spec.x", "null", "unknown spec.x"),
		warned("a debugger", "{core}/pods/a/ephemeralcontainers?dryRun=All", asStrategic, `{"spec":{"ephemeralContainers":[{"name":"e","image":"i","foo":1}]}}`,
			"spec.ephemeralContainers.foo", "[null]", "unknown spec.ephemeralContainers[0].foo"),
		warned("merge of a custom resource", widgetA, asMerge, `{"spec":{"color":"b","color":"c","x":1,"a":{"y":1},"any":{"z":1}},"zz":1,`+
			`"metadata":{"foo":1,"bar":{"x":1}},"status":{"x":1}}`, "spec", `{"any":{"z":1},"color":"c","size":1}`,
			"duplicate spec.color", "unknown metadata.bar", "unknown metadata.foo", "unknown spec.a", "unknown spec.x", "unknown status.x", "unknown zz"),
		applied("merge of a custom resource, leniently", widgetA+lenient, asMerge, `{"spec":{"x":1},"zz":1,"metadata":{"foo":1}}`, "spec", `{"color":"red","size":1}`),
		warned("merge of its status", "{widgets}/a/status?dryRun=All", asMerge, `{"status":{"x":1,"ok":true},"spec":{"y":1}}`, "status", `{"ok":true}`,
			"unknown spec.y", "unknown status.x"),
	}
}

// strictFields are the same members, with strict validation, which refuses them.
func strictFields() []exchange {
	handled := func(kind, name, path, body string, wrong ...string) exchange {
		return refused(name, path, "", body, 400, apierrors.BadRequest,
			kind+` in version "v1" cannot be handled as a `+kind+": strict decoding error: "+fields(", ", wrong))
	}
	patched := func(name, path, media, body string, wrong ...string) exchange {
		return refused(name, path, media, body, 422, apierrors.Invalid, ` "" is invalid: patch: Invalid value: *: strict decoding error: `+fields(", ", wrong))
	}
	return []exchange{
		handled("ConfigMap", "create", "POST {core}/configmaps?dryRun=All", `{"metadata":{"name":"b","foo":1},"zz":1,"data":{"a":"1","a":"2"},"aa":{"b":1,"b":2}}`,
			"unknown metadata.foo", "unknown zz", "duplicate data.a", "unknown aa"),
		handled("Pod", "create of a pod", "POST {core}/pods?dryRun=All", `{"metadata":{"name":"b","managedFields":[{"manager":"x","fieldsV1":{"a":1,"a":{}},"y":1}],`+
			`"ownerReferences":[{"apiVersion":"v1","kind":"A","name":"b","uid":"u","x":1}]},`+
			`"spec":{"containers":[{"name":"a","image":"i","foo":{"a":1},"ports":[{"containerPort":1,"x":1}],"foo":2,"Image":"x","resources":{"limits":{"cpu":"1","a":1}}}],`+
			`"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi","y":1},"z":1}]},"status":{"foo":1}}`,
			"unknown metadata.managedFields[0].y", "unknown metadata.ownerReferences[0].x",
			"unknown spec.containers[0].foo", "unknown spec.containers[0].ports[0].x", "unknown spec.containers[0].Image",
			"unknown spec.volumes[0].emptyDir.y", "unknown spec.volumes[0].z", "unknown status.foo"),
		handled("Widget", "create of a custom resource", "POST {widgets}?dryRun=All", `{"apiVersion":"conformance.bowline.example/v1","kind":"Widget",`+
			`"metadata":{"name":"b","foo":1,"labels":{"a":"1","a":"2"}},"zz":1,"spec":{"x":{"y":1},"color":"r","color":"b","b":1,`+
			`"parts":[{"name":"a","q":1}],"byName":{"k":{"z":1}},"any":{"k":1}},"aa":1}`,
			"duplicate metadata.labels.a", "duplicate spec.color", "unknown metadata.foo", "unknown aa", "unknown spec.b", "unknown spec.byName.k.z",
			"unknown spec.parts[0].q", "unknown spec.x", "unknown zz"),
		handled("ConfigMap", "update", "PUT "+configMapA, `{"metadata":{"name":"a"},"zz":1}`, "unknown zz"),
		handled("Deployment", "update of a status", "PUT {apps}/deployments/a/status?dryRun=All", `{"metadata":{"name":"a"},"status":{"x":1},"spec":{"y":1}}`,
			"unknown status.x", "unknown spec.y"),
		handled("Scale", "update of a scale", "PUT "+scaleA, `{"metadata":{"name":"a"},"spec":{"x":1}}`, "unknown spec.x"),
		handled("Eviction", "an eviction", "POST {core}/pods/a/eviction?dryRun=All", `{"metadata":{"name":"a","x":1},"y":1,"deleteOptions":{"z":1}}`,
			"unknown metadata.x", "unknown y", "unknown deleteOptions.z"),
		handled("Binding", "a binding", "POST {core}/pods/a/binding?dryRun=All", `{"metadata":{"name":"a","x":1},"y":1,"target":{"z":1,"name":"n"}}`,
			"unknown metadata.x", "unknown y", "unknown target.z"),
		handled("TokenRequest", "a token", "POST {core}/serviceaccounts/a/token", `{"spec":{"z":1,"audiences":[]}}`, "unknown spec.z"),
		handled("SelfSubjectAccessReview", "a review", "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews?dryRun=All",
			`{"spec":{"z":1,"nonResourceAttributes":{"path":"/","x":1}}}`, "unknown spec.z", "unknown spec.nonResourceAttributes.x"),
		patched("merge", podA, asMerge, `{"spec":{"zz":[{"name":"m","foo":1,"bar":1}],"x":{"y":1,"y":2},"affinity":{"c":1,"b":{}}},"b":1,"a":null}`,
			"duplicate spec.x.y", "unknown b", "unknown spec.affinity.b", "unknown spec.affinity.c", "unknown spec.x", "unknown spec.zz"),
		patched("strategic", podA, asStrategic, `{"spec":{"containers":[{"name":"main","foo":1,"bar":1}],"x":{"y":1}}}`,
			"unknown spec.containers[0].bar", "unknown spec.containers[0].foo", "unknown spec.x"),
		patched("JSON", configMapA, asJSON, `[{"op":"add","path":"/x","value":1},{"op":"add","path":"/b","value":{"a":1,"a":2}},{"op":"add","path":"/metadata/x","value":1}]`,
			"json patch duplicate [1].value.a", "unknown b", "unknown metadata.x", "unknown x"),
		patched("members of an operation", configMapA, asJSON, `[{"op":"add","path":"/data/x","value":"1","op":"add","zz":1},{"op":"test","path":"/data/k","value":"v","Op":"x"}]`,
			"json patch duplicate [0].op", "json patch unknown [0].zz", "json patch unknown [1].Op"),
		patched("merge of a scale", scaleA, asMerge, `{"spec":{"x":1}}`, "unknown spec.x"),
		patched("strategic of a scale", scaleA, asStrategic, `{"spec":{"x":1}}`, "unknown spec.x"),
		patched("JSON of a scale", scaleA, asJSON, field("add", "/spec/x", "1"), "unknown spec.x"),
		patched("merge of a custom resource", widgetA, asMerge, `{"spec":{"color":"b","color":"c","x":1},"zz":1,"metadata":{"foo":1},"status":{"x":1}}`,
			"duplicate spec.color", "unknown metadata.foo", "unknown spec.x", "unknown status.x", "unknown zz"),
		patched("JSON of a custom resource", widgetA, asJSON, `[{"op":"add","path":"/spec/x","value":1,"y":2}]`, "json patch unknown [0].y", "unknown spec.x"),
		patched("merge of its status", "{widgets}/a/status?dryRun=All", asMerge, `{"status":{"x":1,"ok":true},"spec":{"y":1}}`, "unknown spec.y", "unknown status.x"),
	}
}

// wrongTypes are values that a field cannot have.
func wrongTypes() []exchange {
	const labels = `"metadata":{"name":"b"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},`
	of := func(name, path, media, body, why string) exchange {
		return refused(name, path, media, body, 422, apierrors.Invalid, ` "" is invalid: patch: Invalid value: *: `+why)
	}
	deployment := func(spec, why string) exchange {
		return refused("a deployment", "POST {apps}/deployments?dryRun=All", "", "{"+labels+spec+"}}", 400, apierrors.BadRequest,
			`Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal `+why)
	}
	return []exchange{
		deployment(`"spec":{"containers":{"name":"a"}}}`, `object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container`),
		deployment(`"spec":{"containers":["a"]}}`, `string into Go struct field PodSpec.spec.template.spec.containers of type v1.Container`),
		deployment(`"spec":"x"}`, `string into Go struct field PodTemplateSpec.spec.template.spec of type v1.PodSpec`),
		deployment(`"spec":{}},"replicas":"x"`, `string into Go struct field DeploymentSpec.spec.replicas of type int32`),
		deployment(`"spec":{}},"replicas":1.5`, `number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32`),
		deployment(`"spec":{}},"replicas":3000000000`, `number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32`),
		deployment(`"spec":{}},"paused":[]`, `array into Go struct field DeploymentSpec.spec.paused of type bool`),
		deployment(`"spec":{"nodeSelector":{"a":true}}}`, `bool into Go struct field PodSpec.spec.template.spec.nodeSelector of type string`),
		deployment(`"spec":{"nodeSelector":"a"}}`, `string into Go struct field PodSpec.spec.template.spec.nodeSelector of type map[string]string`),
		deployment(`"spec":{"containers":[{"args":[1]}]}}`, `number into Go struct field Container.spec.template.spec.containers.args of type string`),
		refused("an update", "PUT "+deployA, "", `{"metadata":{"name":"a"},"spec":1}`, 400, apierrors.BadRequest,
			`json: cannot unmarshal number into Go struct field Deployment.spec of type v1.DeploymentSpec`),
		refused("what is no base64", "POST {core}/secrets?dryRun=All", "", `{"metadata":{"name":"b"},"data":{"a":"!!"}}`, 400, apierrors.BadRequest,
			"illegal base64 data at input byte 0"),
		of("merge", deployA, asMerge, `{"spec":{"replicas":"x"}}`, "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"),
		of("a scale", scaleA, asMerge, `{"spec":{"replicas":"x"}}`, "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32"),
		of("a large scale", scaleA, asJSON, field("replace", "/spec/replicas", "3000000000"),
			"json: cannot unmarshal number 3000000000 into Go struct field ScaleSpec.spec.replicas of type int32"),
		refused("an update of a scale", "PUT "+scaleA, "", `{"metadata":{"name":"a"},"spec":{"replicas":true}}`, 400, apierrors.BadRequest,
			`Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal bool into Go struct field ScaleSpec.spec.replicas of type int32`),
		refused("a token", "POST {core}/serviceaccounts/a/token", "", `{"spec":{"audiences":"x"}}`, 400, apierrors.BadRequest,
			"json: cannot unmarshal string into Go struct field TokenRequestSpec.spec.audiences of type []string"),
		refused("an eviction", "POST {core}/pods/a/eviction", "", `{"metadata":{"name":"a"},"deleteOptions":[]}`, 400, apierrors.BadRequest,
			"json: cannot unmarshal array into Go struct field Eviction.deleteOptions of type v1.DeleteOptions"),
		of("JSON", deployA, asJSON, field("replace", "/spec/replicas", "true"), "json: cannot unmarshal bool into Go struct field DeploymentSpec.spec.replicas of type int32"),
		refused("strategic", deployA, asStrategic, `{"spec":{"replicas":"x"}}`, 422, apierrors.Invalid, ""),
		refused("strategic of an object", deployA, asStrategic, `{"spec":"x"}`, 422, apierrors.Invalid, ""),
		refused("strategic of a list", podA, asStrategic, `{"spec":{"containers":{"name":"x"}}}`, 422, apierrors.Invalid, ""),
		refused("strategic of a text", configMapA, asStrategic, `{"data":{"k":1}}`, 422, apierrors.Invalid, ""),
	}
}

// fields returns a server's text about members, each of which is given by the words before "field" and its path.
func fields(between string, wrong []string) string {
	words := make([]string, 0, len(wrong))
	for _, w := range wrong {
		i := strings.LastIndex(w, " ")
		words = append(words, w[:i]+` field "`+w[i+1:]+`"`)
	}
	return strings.Join(words, between)
}
