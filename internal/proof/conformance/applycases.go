package conformance

// ownershipsOfMaps are about the owners of fields in an object that consists of maps of text. The results are those of
// kube-apiserver.
var ownershipsOfMaps = []ownership{
	{
		name: "what an apply creates is its owner's", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
		},
		object: `{"data":{"k":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "what a create makes is its owner's, with the maps and lists themselves", kind: "ConfigMap",
		writes: []write{
			{"a", "create", `{"metadata":{"name":"a","labels":{"x":"y"},"annotations":{"n":"o"},"finalizers":["a.b/c"],"ownerReferences":[{"apiVersion":"v1","kind":"X","name":"x","uid":"u"}]},"data":{"k":"1"},"binaryData":{"b":"AA=="},"immutable":false}`, ""},
		},
		object: `{"binaryData":{"b":"AA=="},"data":{"k":"1"},"immutable":false,"metadata":{"annotations":{"n":"o"},"finalizers":["a.b/c"],"labels":{"x":"y"},"ownerReferences":[{"apiVersion":"v1","kind":"X","name":"x","uid":"u"}]}}`,
		owners: []string{
			`a Update: {"f:binaryData":{".":{},"f:b":{}},"f:data":{".":{},"f:k":{}},"f:immutable":{},"f:metadata":{"f:annotations":{".":{},"f:n":{}},"f:finalizers":{".":{},"v:\"a.b/c\"":{}},"f:labels":{".":{},"f:x":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"u\"}":{}}}}`,
		},
	},
	{
		name: "who applies the value that is there owns it as well", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"b", "apply", `{"data":{"k":"1"}}`, ""},
		},
		object: `{"data":{"k":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:k":{}}}`,
			`b Apply (no time): {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "what one of two owners leaves stays", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1","l":"1"}}`, ""},
			{"b", "apply", `{"data":{"k":"1"}}`, ""},
			{"a", "apply", `{"data":{"l":"1"}}`, ""},
		},
		object: `{"data":{"k":"1","l":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:l":{}}}`,
			`b Apply (no time): {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "what the last owner leaves goes", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1","l":"1"}}`, ""},
			{"b", "apply", `{"data":{"k":"1"}}`, ""},
			{"a", "apply", `{"data":{"l":"1"}}`, ""},
			{"b", "apply", "{}", ""},
		},
		object: `{"data":{"l":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:l":{}}}`,
		},
	},
	{
		name: "what another one owns is a conflict if it would change", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1","l":"1"}}`, ""},
			{"b", "apply", `{"data":{"k":"2"}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "a": .data.k`},
			{"b", "apply", `{"data":{"k":"2","l":"2"}}`, "409 Conflict: Apply failed with 2 conflicts: conflicts with \"a\":\n- .data.k\n- .data.l"},
		},
		object: `{"data":{"k":"1","l":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:k":{},"f:l":{}}}`,
		},
	},
	{
		name: "a conflict names every owner and every field", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"b", "merge", `{"data":{"l":"1","m":"1"}}`, ""},
			{"c", "apply", `{"data":{"k":"2","l":"2"}}`, "409 Conflict: Apply failed with 2 conflicts: conflicts with \"a\":\n- .data.k\nconflicts with \"b\" using v1:\n- .data.l"},
			{"c", "apply", `{"data":{"k":"1","l":"1","m":"2"}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "b" using v1: .data.m`},
		},
		object: `{"data":{"k":"1","l":"1","m":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:k":{}}}`,
			`b Update: {"f:data":{"f:l":{},"f:m":{}}}`,
		},
	},
	{
		name: "who forces owns alone", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1","l":"1"}}`, ""},
			{"b", "force", `{"data":{"k":"2"}}`, ""},
		},
		object: `{"data":{"k":"2","l":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:l":{}}}`,
			`b Apply: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "who has lost everything is no owner any more", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"b", "force", `{"data":{"k":"2"}}`, ""},
		},
		object: `{"data":{"k":"2"}}`,
		owners: []string{
			`b Apply: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "an update takes what it changes", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1","l":"1"}}`, ""},
			{"b", "update", `{"data":{"k":"2","l":"1"}}`, ""},
		},
		object: `{"data":{"k":"2","l":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:l":{}}}`,
			`b Update: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "nobody owns what an update has removed", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1","l":"1"}}`, ""},
			{"b", "update", `{"data":{"k":"1"}}`, ""},
		},
		object: `{"data":{"k":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "who owns nothing any more has no entry", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"b", "update", "{}", ""},
		},
		object: "{}",
	},
	{
		name: "one who applies and patches is two owners", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1","l":"1"}}`, ""},
			{"a", "merge", `{"data":{"k":"2"}}`, ""},
			{"a", "apply", `{"data":{"k":"1","l":"1"}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "a" using v1: .data.k`},
		},
		object: `{"data":{"k":"2","l":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:l":{}}}`,
			`a Update: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "what another one has added stays in a map that its owner leaves", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"b", "merge", `{"data":{"l":"2"}}`, ""},
			{"a", "apply", "{}", ""},
		},
		object: `{"data":{"l":"2"}}`,
		owners: []string{
			`b Update: {"f:data":{"f:l":{}}}`,
		},
	},
	{
		name: "an updater's map stays without what was applied to it", kind: "ConfigMap",
		writes: []write{
			{"b", "create", `{"data":{"l":"2"}}`, ""},
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"a", "apply", "{}", ""},
		},
		object: `{"data":{"l":"2"}}`,
		owners: []string{
			`b Update: {"f:data":{".":{},"f:l":{}}}`,
		},
	},
	{
		name: "an updater's map goes with the last that was applied to it", kind: "ConfigMap",
		writes: []write{
			{"b", "create", `{"data":{"l":"2"}}`, ""},
			{"a", "force", `{"data":{"l":"1"}}`, ""},
			{"a", "apply", "{}", ""},
		},
		object: "{}",
		owners: []string{
			`b Update: {"f:data":{}}`,
		},
	},
	{
		name: "who applies nothing owns nothing", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", "{}", ""},
		},
		object: "{}",
	},
	{
		name: "an empty map is owned", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{}}`, ""},
		},
		object: "{}",
		owners: []string{
			`a Apply: {"f:data":{}}`,
		},
	},
	{
		name: "null in place of a map is owned", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":null}`, ""},
		},
		object: "{}",
		owners: []string{
			`a Apply: {"f:data":{}}`,
		},
	},
	{
		name: "null in a map of text is empty text", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":null,"l":"1"}}`, ""},
		},
		object: `{"data":{"k":"","l":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:k":{},"f:l":{}}}`,
		},
	},
	{
		name: "null is a value like others", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"b", "apply", `{"data":{"k":null}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "a": .data.k`},
			{"b", "force", `{"data":{"k":null}}`, ""},
		},
		object: `{"data":{"k":""}}`,
		owners: []string{
			`b Apply: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "null and empty maps change nothing in what others have", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"b", "apply", `{"data":null}`, ""},
			{"c", "apply", `{"data":{}}`, ""},
		},
		object: `{"data":{"k":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:k":{}}}`,
			`b Apply (no time): {"f:data":{}}`,
			`c Apply (no time): {"f:data":{}}`,
		},
	},
	{
		name: "empty maps of metadata are owned, and empty lists are not", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"metadata":{"name":"a","labels":{},"annotations":null,"finalizers":[],"ownerReferences":[],"creationTimestamp":null}}`, ""},
		},
		object: "{}",
		owners: []string{
			`a Apply: {"f:metadata":{"f:annotations":{},"f:labels":{}}}`,
		},
	},
	{
		name: "the elements of a set are owned", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"metadata":{"name":"a","finalizers":["x.y/1","x.y/2"]}}`, ""},
			{"b", "apply", `{"metadata":{"name":"a","finalizers":["x.y/3","x.y/2"]}}`, ""},
			{"a", "apply", `{"metadata":{"name":"a","finalizers":["x.y/4"]}}`, ""},
		},
		object: `{"metadata":{"finalizers":["x.y/3","x.y/2","x.y/4"]}}`,
		owners: []string{
			`a Apply: {"f:metadata":{"f:finalizers":{"v:\"x.y/4\"":{}}}}`,
			`b Apply: {"f:metadata":{"f:finalizers":{"v:\"x.y/2\"":{},"v:\"x.y/3\"":{}}}}`,
		},
	},
	{
		name: "the elements of a list with keys are owned, whole where they are atomic", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"X","name":"x","uid":"u"}]}}`, ""},
			{"b", "apply", `{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"X","name":"x","uid":"v"},{"apiVersion":"v1","kind":"X","name":"z","uid":"u"}]}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "a": .metadata.ownerReferences[uid="u"]`},
		},
		object: `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"X","name":"x","uid":"u"}]}}`,
		owners: []string{
			`a Apply: {"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"u\"}":{}}}}`,
		},
	},
	{
		name: "an empty entry drops all owners, and nobody is noted then", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"b", "merge", `{"metadata":{"managedFields":[{}]}}`, ""},
			{"b", "merge", `{"data":{"l":"1"}}`, ""},
		},
		object: `{"data":{"k":"1","l":"1"}}`,
	},
	{
		name: "an empty list drops all owners", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"b", "merge", `{"metadata":{"managedFields":[]}}`, ""},
		},
		object: `{"data":{"k":"1"}}`,
	},
	{
		name: "null drops no owners", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"b", "merge", `{"metadata":{"managedFields":null},"data":{"x":"1"}}`, ""},
		},
		object: `{"data":{"k":"1","x":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:k":{}}}`,
			`b Update: {"f:data":{"f:x":{}}}`,
		},
	},
	{
		name: "the first apply finds an owner of all that was there before", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"1"}}`, ""},
			{"b", "merge", `{"metadata":{"managedFields":[{}]}}`, ""},
			{"b", "apply", `{"data":{"k":"1","l":"1"}}`, ""},
			{"c", "apply", `{"data":{"k":"2"}}`, "409 Conflict: Apply failed with 2 conflicts: conflicts with \"b\":\n- .data.k\nconflicts with \"before-first-apply\" using v1:\n- .data.k"},
		},
		object: `{"data":{"k":"1","l":"1"},"metadata":{"labels":{"x":"y"}}}`,
		owners: []string{
			`b Apply: {"f:data":{"f:k":{},"f:l":{}}}`,
			`before-first-apply Update: {"f:data":{".":{},"f:k":{}},"f:metadata":{"f:labels":{".":{},"f:x":{}}}}`,
		},
	},
	{
		name: "an update can replace the owners", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"b", "merge", `{"metadata":{"managedFields":[{"manager":"z","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}]}}`, ""},
		},
		object: `{"data":{"k":"1"}}`,
		owners: []string{
			`z Apply (no time): {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "an update that replaces the owners takes what it changes from those", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1","l":"1"}}`, ""},
			{"b", "merge", `{"data":{"l":"2"},"metadata":{"managedFields":[{"manager":"z","operation":"Apply","apiVersion":"v1","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{},"f:l":{}}}}]}}`, ""},
		},
		object: `{"data":{"k":"1","l":"2"}}`,
		owners: []string{
			`b Update: {"f:data":{"f:l":{}}}`,
			`z Apply: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "owners of a version that is not served go with the next write", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1","l":"1"}}`, ""},
			{"b", "merge", `{"metadata":{"managedFields":[{"manager":"z","operation":"Apply","apiVersion":"v7","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{},"f:l":{}}}},{"manager":"y","operation":"Apply","apiVersion":"v1","time":"2020-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{},"f:l":{}}}}]}}`, ""},
		},
		object: `{"data":{"k":"1","l":"1"}}`,
		owners: []string{
			`y Apply: {"f:data":{"f:k":{},"f:l":{}}}`,
		},
	},
	{
		name: "owners that cannot be read are passed over", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
			{"b", "merge", `{"data":{"l":"2"},"metadata":{"managedFields":[{"manager":"z","operation":"Mix","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}]}}`, ""},
		},
		object: `{"data":{"k":"1","l":"2"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:k":{}}}`,
			`b Update: {"f:data":{"f:l":{}}}`,
		},
	},
	{
		name: "owners cannot be applied", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"metadata":{"name":"a","managedFields":[]},"data":{"k":"1"}}`, "400 BadRequest: metadata.managedFields must be nil"},
			{"a", "apply", `{"metadata":{"name":"a","managedFields":[{"manager":"x"}]},"data":{"k":"1"}}`, "400 BadRequest: metadata.managedFields must be nil"},
			{"a", "apply", `{"metadata":{"name":"a","managedFields":null},"data":{"k":"1"}}`, ""},
		},
		object: `{"data":{"k":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "a configuration must be of the object that it is applied to", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"metadata":{"name":"a","uid":"x"}}`, `409 Conflict: Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid x, and no existing object was found`},
			{"a", "apply", `{"metadata":{"name":"a","resourceVersion":"1"}}`, ""},
			{"a", "apply", `{"metadata":{"name":"a"},"data":{"k":"1"}}`, ""},
			{"a", "apply", `{"metadata":{"name":"a","uid":"x"}}`, `422 Invalid: ConfigMap "a" is invalid: metadata.uid: Invalid value: "x": field is immutable`},
			{"a", "apply", `{"metadata":{"name":"a","resourceVersion":"1"}}`, `409 Conflict: Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again`},
			{"a", "apply", `{"metadata":{"name":"a","resourceVersion":"x"}}`, `500 InternalError: strconv.ParseUint: parsing "x": invalid syntax`},
			{"a", "apply", `{"metadata":{"name":"b"}}`, "400 BadRequest: the name of the object (b) does not match the name on the URL (a)"},
			{"a", "apply", `{"metadata":{"name":"a","namespace":"default"}}`, "400 BadRequest: the namespace of the provided object does not match the namespace sent on the request"},
			{"a", "apply", `{"metadata":{}}`, ""},
			{"a", "apply", `as it is: {"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`, "400 BadRequest: invalid object type: /v1, Kind=Secret"},
			{"a", "apply", `as it is: {"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"a"}}`, "400 BadRequest: invalid object type: /v2, Kind=ConfigMap"},
			{"a", "apply", `as it is: {"metadata":{"name":"a"}}`, "400 BadRequest: invalid object type: /, Kind="},
			{"a", "apply", `as it is: {"apiVersion":"a/b/c","kind":"ConfigMap","metadata":{"name":"a"}}`, "400 BadRequest: invalid object type: /, Kind="},
			{"a", "apply", "as it is: {}", "400 BadRequest: invalid object type: /, Kind="},
			{"a", "apply", "as it is: []", notDecoded("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}")},
			{"a", "apply", "as it is: null", "400 BadRequest: invalid object type: /, Kind="},
			{"a", "apply", "as it is: x", notDecoded("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type map[string]interface {}")},
			{"a", "apply", "as it is: 5", notDecoded("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go value of type map[string]interface {}")},
			{"a", "apply", "as it is: ", "400 BadRequest: invalid object type: /, Kind="},
			{"a", "apply", `as it is: {"a`, notDecoded("error converting YAML to JSON: yaml: found unexpected end of stream")},
			{"a", "apply", "as it is: a: b: c", notYAML("yaml: mapping values are not allowed in this context")},
			{"a", "apply", "as it is: a: b\n  c: d\n", notYAML("yaml: line 2: mapping values are not allowed in this context")},
			{"a", "apply", "as it is: \ta: b\n", notYAML("yaml: found character that cannot start any token")},
			{"", "apply", "{}", `422 Invalid: PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`},
			{"\t", "apply", "{}", `422 Invalid: PatchOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "\t": invalid character U+0009 (at position 0)`},
			{"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789", "apply", "{}", `422 Invalid: PatchOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes`},
		},
		object: "{}",
	},
	{
		name: "a configuration must be as the schema says", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"data":{"k":1}}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:1}"},
			{"a", "apply", `{"data":{"k":true}}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:true}"},
			{"a", "apply", `{"data":{"k":{"a":1}}}`, `500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":1}}`},
			{"a", "apply", `{"data":{"k":[1]}}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:[]interface {}{1}}"},
			{"a", "apply", `{"data":"k"}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data: expected map, got &{k}"},
			{"a", "apply", `{"data":["k"]}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data: expected map, got &{[k]}"},
			{"a", "apply", `{"immutable":"k"}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .immutable: expected boolean, got &{k}"},
			{"a", "apply", `{"immutable":1}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .immutable: expected boolean, got &{1}"},
			{"a", "apply", `{"spec":{}}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .spec: field not declared in schema"},
			{"a", "apply", `{"metadata":{"name":"a","finalizers":"x"}}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.finalizers: expected list, got &{x}"},
			{"a", "apply", `{"metadata":{"name":"a","finalizers":["x.y/z","x.y/z"]}}`, `500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.finalizers: duplicate entries for key [="x.y/z"]`},
			{"a", "apply", `{"metadata":{"name":"a","finalizers":[null]}}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.finalizers: element 0: associative list without keys has an element that's an explicit null"},
			{"a", "apply", `{"metadata":{"name":"a","finalizers":[{}]}}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.finalizers: element 0: associative list without keys has an element that's a map type"},
			{"a", "apply", `{"metadata":{"name":"a","finalizers":[[]]}}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.finalizers: element 0: not supported: associative list with lists as elements"},
			{"a", "apply", `{"metadata":{"name":"a","ownerReferences":[{}]}}`, emptyOwner("apiVersion", "kind", "name", "uid")},
			{"a", "apply", `{"metadata":{"name":"a","ownerReferences":[null]}}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.ownerReferences: element 0: associative list with keys may not have a null element"},
			{"a", "apply", `{"metadata":{"name":"a","ownerReferences":["x"]}}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.ownerReferences: element 0: associative list with keys may not have non-map elements"},
			{"a", "apply", `{"metadata":{"name":"a","ownerReferences":[{"uid":"x"},{"uid":"x"}]}}`, `500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.ownerReferences: duplicate entries for key [uid="x"]`},
			{"a", "apply", `{"metadata":{"name":"a","ownerReferences":[{"uid":"x"}]}}`, emptyOwner("apiVersion", "kind", "name")},
			{
				"a", "apply", `{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"a/b/c","kind":"K","name":"n","uid":"x"}]}}`,
				in136(`422 Invalid: ConfigMap "a" is invalid: metadata.ownerReferences[0].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>`,
					`422 Invalid: ConfigMap "a" is invalid: metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty`),
			},
			{"a", "apply", `{"metadata":{"name":"a","generation":"x"}}`, "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.generation: expected numeric (int or float), got string"},
			{"a", "apply", `{"metadata":{"name":"a","labels":{"a b":"c"}}}`, `422 Invalid: ConfigMap "a" is invalid: metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
			{"a", "apply", `{"data":{"k":"1"}}`, ""},
		},
		object: `{"data":{"k":"1"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "a configuration can be YAML", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", "as it is: # comment\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {\"yes\": \"on\", 1: '2'}}\ndata:\n  k: |\n    text\n  l: &x \"5\"\n  m: *x\n", ""},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: yes}", "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:true}"},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: 0x10}", "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:16}"},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: 2020-01-01}", ""},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: !!binary aGk=}", ""},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: a}\n---\ndata: {k: b}\n", ""},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: a, k: b}\n", ""},
		},
		object: `{"data":{"k":"b"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "kubectl takes over what it has applied by itself", kind: "ConfigMap",
		writes: []write{
			{"kubectl-client-side-apply", "create", `{"metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"1\",\"l\":\"1\"}}"}},"data":{"k":"1","l":"1","m":"1"}}`, ""},
			{"kubectl", "apply", `{"data":{"k":"2","m":"2"}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.m`},
			{"other", "apply", `{"data":{"k":"2"}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.k`},
			{"kubectl", "apply", `{"data":{"k":"2"}}`, ""},
		},
		object: `{"data":{"k":"2","l":"1","m":"1"},"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"v1\",\"data\":{\"k\":\"2\"},\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}\n"}}}`,
		owners: []string{
			`kubectl Apply: {"f:data":{"f:k":{}}}`,
			`kubectl-client-side-apply Update: {"f:data":{".":{},"f:l":{},"f:m":{}},"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}}}`,
		},
	},
	{
		name: "the oldest of many updaters become one", kind: "ConfigMap",
		writes: []write{
			{"z", "apply", `{"data":{"z":"1"}}`, ""},
			{"a", "merge", `{"data":{"a":"1"}}`, ""},
			{"b", "merge", `{"data":{"b":"1"}}`, ""},
			{"c", "merge", `{"data":{"c":"1"}}`, ""},
			{"d", "merge", `{"data":{"d":"1"}}`, ""},
			{"e", "merge", `{"data":{"e":"1"}}`, ""},
			{"f", "merge", `{"data":{"f":"1"}}`, ""},
			{"g", "merge", `{"data":{"g":"1"}}`, ""},
			{"h", "merge", `{"data":{"h":"1"}}`, ""},
			{"i", "merge", `{"data":{"i":"1"}}`, ""},
			{"j", "merge", `{"data":{"j":"1"}}`, ""},
			{"k", "merge", `{"data":{"k":"1"}}`, ""},
		},
		object: `{"data":{"a":"1","b":"1","c":"1","d":"1","e":"1","f":"1","g":"1","h":"1","i":"1","j":"1","k":"1","z":"1"}}`,
		owners: []string{
			`ancient-changes Update: {"f:data":{"f:a":{},"f:b":{}}}`,
			`c Update: {"f:data":{"f:c":{}}}`,
			`d Update: {"f:data":{"f:d":{}}}`,
			`e Update: {"f:data":{"f:e":{}}}`,
			`f Update: {"f:data":{"f:f":{}}}`,
			`g Update: {"f:data":{"f:g":{}}}`,
			`h Update: {"f:data":{"f:h":{}}}`,
			`i Update: {"f:data":{"f:i":{}}}`,
			`j Update: {"f:data":{"f:j":{}}}`,
			`k Update: {"f:data":{"f:k":{}}}`,
			`z Apply: {"f:data":{"f:z":{}}}`,
		},
	},
	{
		name: "what one has updated adds up", kind: "ConfigMap",
		writes: []write{
			{"a", "create", `{"data":{"k":"1"}}`, ""},
			{"a", "merge", `{"data":{"l":"1"}}`, ""},
			{"b", "merge", `{"data":{"m":"1","k":"1"}}`, ""},
			{"a", "merge", `{"data":{"m":null}}`, ""},
		},
		object: `{"data":{"k":"1","l":"1"}}`,
		owners: []string{
			`a Update: {"f:data":{".":{},"f:k":{},"f:l":{}}}`,
		},
	},
	{
		name: "kubectl's note of what it has applied follows", kind: "ConfigMap",
		writes: []write{
			{"kubectl", "apply", `{"metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"x","n":"o"}},"data":{"k":"<1>"}}`, ""},
			{"kubectl", "apply", `{"metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"x"}},"data":{"k":"2"}}`, ""},
			{"other", "merge", `{"data":{"k":"3"}}`, ""},
			{"kubectl", "apply", `{"metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"x"}},"data":{"k":"2"}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "other" using v1: .data.k`},
		},
		object: `{"data":{"k":"3"},"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"v1\",\"data\":{\"k\":\"2\"},\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{},\"name\":\"a\"}}\n"}}}`,
		owners: []string{
			`kubectl Apply: {"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}}`,
			`other Update: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "empty maps are not kept, and empty text is", kind: "ConfigMap",
		writes: []write{
			{"a", "create", `{"metadata":{"name":"a","labels":{}},"data":{}}`, ""},
			{"b", "merge", `{"metadata":{"labels":{"x":"y"}},"data":{"k":""}}`, ""},
			{"c", "apply", `{"metadata":{"name":"a","labels":{"x":""}},"data":{"k":null}}`, "409 Conflict: Apply failed with 2 conflicts: conflicts with \"before-first-apply\" using v1:\n- .data.k\n- .metadata.labels.x"},
			{"c", "merge", `{"metadata":{"labels":{"x":null}},"data":{"k":null}}`, ""},
		},
		object: "{}",
	},
	{
		name: "keys and text of every kind", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", `{"metadata":{"name":"a","annotations":{"a.b/c\"d":"x"}}}`, `422 Invalid: ConfigMap "a" is invalid: metadata.annotations: Invalid value: "a.b/c\"d": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
			{"a", "apply", `{"metadata":{"name":"a","annotations":{"A.b/c":"<é>"}},"data":{"a.b":"1","a-b":"\u003c","A_B":"2"},"binaryData":{"x":"AAE="}}`, ""},
			{"b", "apply", `{"data":{"a.b":"2"},"binaryData":{"x":"AAI="}}`, "409 Conflict: Apply failed with 2 conflicts: conflicts with \"a\":\n- .binaryData.x\n- .data.a.b"},
			{"b", "apply", `{"binaryData":{"x":"%%"}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "a": .binaryData.x`},
		},
		object: `{"binaryData":{"x":"AAE="},"data":{"A_B":"2","a-b":"\u003c","a.b":"1"},"metadata":{"annotations":{"A.b/c":"\u003cé\u003e"}}}`,
		owners: []string{
			`a Apply: {"f:binaryData":{"f:x":{}},"f:data":{"f:A_B":{},"f:a-b":{},"f:a.b":{}},"f:metadata":{"f:annotations":{"f:A.b/c":{}}}}`,
		},
	},
	{
		name: "scalars and keys of YAML become those of JSON", kind: "ConfigMap",
		writes: []write{
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: On}\n", "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:true}"},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: 0o14}\n", "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:12}"},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: 014}\n", "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:12}"},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: 1_000}\n", "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:1000}"},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: 1e3}\n", "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:1000}"},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: 0b11}\n", "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected string, got &value.valueUnstructured{Value:3}"},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: NULL, l: y}\n", "500 InternalError: failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.l: expected string, got &value.valueUnstructured{Value:true}"},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {l: 1:30}\n", ""},
			{"a", "apply", "as it is: apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: !!binary aGk=, t: 2020-01-01, yes: 'x', 1: 'y', 1.50: 'z', 0x10: 'h', <<: {m: 'n', k: 'no'}, o: \"\\u00e9\", p: ~, q: '', r: 'yes', s: Yes-no, u: !!str 5}\n", ""},
		},
		object: `{"data":{"1":"y","1.5":"z","16":"h","k":"no","m":"n","o":"é","p":"","q":"","r":"yes","s":"Yes-no","t":"2020-01-01","true":"x","u":"5"}}`,
		owners: []string{
			`a Apply: {"f:data":{"f:1":{},"f:1.5":{},"f:16":{},"f:k":{},"f:m":{},"f:o":{},"f:p":{},"f:q":{},"f:r":{},"f:s":{},"f:t":{},"f:true":{},"f:u":{}}}`,
		},
	},
}
