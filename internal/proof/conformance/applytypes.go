package conformance

// ownershipsOfTypes are about how a schema decides which fields a value has. The results are those of kube-apiserver.
var ownershipsOfTypes = []ownership{
	{
		name: "lists with keys within each other, and status", kind: "Deployment",
		writes: []write{
			{"a", "apply", `{"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"x","image":"x","ports":[{"containerPort":80}],"env":[{"name":"e","value":"1"}],"args":["1"],"resources":{"limits":{"cpu":"1"}},"securityContext":{}}],"nodeSelector":{"x":"y"},"tolerations":[{"key":"x"}]}}}}`, ""},
			{"b", "apply", `{"spec":{"template":{"spec":{"containers":[{"name":"x","image":"y","ports":[{"containerPort":80,"protocol":"TCP","name":"p"},{"containerPort":80,"protocol":"UDP"}]},{"name":"y","image":"z"}]}}}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "a": .spec.template.spec.containers[name="x"].image`},
			{"b", "apply", `{"spec":{"template":{"spec":{"containers":[{"name":"x","ports":[{"containerPort":80,"protocol":"TCP","name":"p"},{"containerPort":80,"protocol":"UDP"}]},{"name":"y","image":"z"}]}}}}`, ""},
			{"c", "apply status", `{"status":{"replicas":1,"conditions":[{"type":"X","status":"True"}]},"spec":{"replicas":7}}`, ""},
			{"c", "apply", `{"status":{"replicas":1},"spec":{"paused":true}}`, ""},
			{"d", "merge status", `{"status":{"replicas":2}}`, ""},
			{"c", "apply status", `{"status":{"replicas":3,"conditions":[{"type":"X","status":"True"}]}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "d" with subresource "status" using apps/v1: .status.replicas`},
			{"e", "merge", `{"spec":{"paused":null,"replicas":3},"status":{"replicas":9}}`, ""},
		},
		object: `[{"name":"x","image":"x","env":[{"name":"e","value":"1"}]},{"name":"y","image":"z"}]`,
		owners: []string{
			`a Apply: {"f:spec":{"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"x\"}":{".":{},"f:args":{},"f:env":{"k:{\"name\":\"e\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:name":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}},"f:resources":{"f:limits":{"f:cpu":{}}},"f:securityContext":{}}},"f:nodeSelector":{},"f:tolerations":{}}}}}`,
			`b Apply: {"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"x\"}":{".":{},"f:name":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}},"k:{\"containerPort\":80,\"protocol\":\"UDP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}}},"k:{\"name\":\"y\"}":{".":{},"f:image":{},"f:name":{}}}}}}}`,
			`c Apply status: {"f:status":{"f:conditions":{"k:{\"type\":\"X\"}":{".":{},"f:status":{},"f:type":{}}}}}`,
			`d Update status: {"f:status":{"f:replicas":{}}}`,
			`e Update: {"f:spec":{"f:replicas":{}}}`,
		},
	},
	{
		name: "members that a type always writes are not added by who writes into them", kind: "Deployment",
		writes: []write{
			{"a", "create", `{"spec":{"replicas":1,"progressDeadlineSeconds":600,"revisionHistoryLimit":10,"strategy":{"type":"Recreate"},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30,"containers":[{"name":"x","image":"x:1","imagePullPolicy":"Always","terminationMessagePath":"/x","terminationMessagePolicy":"File","ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":80,"protocol":"UDP"}],"env":[{"name":"e","value":"1"},{"name":"f","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}],"args":["1"],"resources":{"limits":{"cpu":"1"},"requests":{"cpu":"1"}},"securityContext":{},"livenessProbe":{"tcpSocket":{"port":1},"failureThreshold":3,"periodSeconds":10,"successThreshold":1,"timeoutSeconds":1}}],"volumes":[{"name":"v","emptyDir":{}}],"imagePullSecrets":[{"name":"x"}],"hostAliases":[{"ip":"1.2.3.4"}],"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"x","whenUnsatisfiable":"DoNotSchedule"}]}}}}`, ""},
			{"b", "merge", `{"spec":{"template":{"spec":{"containers":[{"name":"x","image":"x:2","imagePullPolicy":"Always","terminationMessagePath":"/x","terminationMessagePolicy":"File"},{"name":"z","image":"z:1","imagePullPolicy":"Always","terminationMessagePath":"/x","terminationMessagePolicy":"File"}],"nodeSelector":{"x":"y"},"affinity":{"nodeAffinity":{}},"volumes":null}}}}`, ""},
		},
		object: `[{"name":"x","image":"x:2"},{"name":"z","image":"z:1"}]`,
		owners: []string{
			`a Update: {"f:spec":{"f:progressDeadlineSeconds":{},"f:replicas":{},"f:revisionHistoryLimit":{},"f:selector":{},"f:strategy":{"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"x\"}":{".":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:hostAliases":{".":{},"k:{\"ip\":\"1.2.3.4\"}":{".":{},"f:ip":{}}},"f:imagePullSecrets":{".":{},"k:{\"name\":\"x\"}":{}},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{},"f:topologySpreadConstraints":{".":{},"k:{\"topologyKey\":\"x\",\"whenUnsatisfiable\":\"DoNotSchedule\"}":{".":{},"f:maxSkew":{},"f:topologyKey":{},"f:whenUnsatisfiable":{}}}}}}}`,
			`b Update: {"f:spec":{"f:template":{"f:spec":{"f:affinity":{".":{},"f:nodeAffinity":{}},"f:containers":{"k:{\"name\":\"x\"}":{"f:image":{}},"k:{\"name\":\"z\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:nodeSelector":{}}}}}`,
		},
	},
	{
		name: "a scale owns the replicas of its object", kind: "Deployment",
		writes: []write{
			{"a", "apply", `{"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"x","image":"x"}]}}}}`, ""},
			{"b", "apply scale", `{"spec":{"replicas":2}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "a": .spec.replicas`},
			{"b", "force scale", `{"spec":{"replicas":2}}`, ""},
			{"c", "merge scale", `{"spec":{"replicas":3}}`, ""},
			{"b", "apply scale", `{"spec":{"replicas":3}}`, ""},
			{"a", "apply", `{"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"x","image":"x"}]}}}}`, "409 Conflict: Apply failed with 2 conflicts: conflicts with \"b\" with subresource \"scale\":\n- .spec.replicas\nconflicts with \"c\" with subresource \"scale\" using apps/v1:\n- .spec.replicas"},
			{"d", "apply scale", `{"spec":{"replicas":3},"status":{"replicas":5}}`, ""},
			{"d", "apply scale", "{}", ""},
			{"d", "apply scale", `as it is: {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}}`, "400 BadRequest: invalid object type: apps/v1, Kind=Deployment"},
		},
		object: `[{"name":"x","image":"x"}]`,
		owners: []string{
			`a Apply: {"f:spec":{"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"x\"}":{".":{},"f:image":{},"f:name":{}}}}}}}`,
			`b Apply scale (no time): {"f:spec":{"f:replicas":{}}}`,
			`c Update scale (no time): {"f:spec":{"f:replicas":{}}}`,
		},
	},
	{
		name: "subresources are not created, and types are checked in depth", kind: "Deployment",
		writes: []write{
			{"a", "apply status", `{"status":{"replicas":1}}`, `404 NotFound: deployments.apps "a" not found`},
			{"a", "apply scale", `{"spec":{"replicas":1}}`, `404 NotFound: deployments.apps "a" not found`},
			{"a", "apply", `{"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"x","image":"x"},{"name":"x","image":"x"}]}}}}`, `500 InternalError: failed to create typed patch object (/a; apps/v1, Kind=Deployment): .spec.template.spec.containers: duplicate entries for key [name="x"]`},
			{"a", "apply", `{"spec":{"replicas":"1","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"x","image":"x"}]}}}}`, "500 InternalError: failed to create typed patch object (/a; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got string"},
			{"a", "apply", `{"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"x","image":"x"}],"nope":1}}}}`, "500 InternalError: failed to create typed patch object (/a; apps/v1, Kind=Deployment): .spec.template.spec.nope: field not declared in schema"},
			{"a", "apply", `{"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"x","image":"x","resources":{"limits":{"cpu":1}}}]}}}}`, ""},
		},
		object: `[{"name":"x","image":"x"}]`,
		owners: []string{
			`a Apply: {"f:spec":{"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"x\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{"f:limits":{"f:cpu":{}}}}}}}}}`,
		},
	},
	{
		name: "every kind of list and map, applied", kind: "Gadget",
		writes: []write{
			{"a", "apply", `{"spec":{"text":"a","number":1,"ratio":1.5,"flag":true,"either":1,"set":["a","b"],"numbers":[1,2],"atomic":["a"],"plain":["b"],"ports":[{"port":1,"tags":["a"],"inner":[{"name":"n","value":"v"}]},{"port":1,"protocol":"UDP"}],"labels":{"a":"b"},"whole":{"a":"b"},"wholeObject":{"a":"b"},"deep":{"a":{"b":"c"}},"open":{"a":{"b":[1]}},"half":{"known":"a","other":{"x":1}},"maps":{"a":{"x":"1"}}}}`, ""},
		},
		object: `{"spec":{"atomic":["a"],"deep":{"a":{"b":"c"}},"either":1,"flag":true,"half":{"known":"a","other":{"x":1}},"labels":{"a":"b"},"maps":{"a":{"x":"1"}},"number":1,"numbers":[1,2],"open":{"a":{"b":[1]}},"plain":["b"],"ports":[{"inner":[{"name":"n","value":"v"}],"port":1,"protocol":"TCP","tags":["a"]},{"port":1,"protocol":"UDP"}],"ratio":1.5,"set":["a","b"],"text":"a","whole":{"a":"b"},"wholeObject":{"a":"b"}}}`,
		owners: []string{
			`a Apply: {"f:spec":{"f:atomic":{},"f:deep":{"f:a":{"f:b":{}}},"f:either":{},"f:flag":{},"f:half":{"f:known":{},"f:other":{".":{},"f:x":{}}},"f:labels":{"f:a":{}},"f:maps":{"f:a":{".":{},"f:x":{}}},"f:number":{},"f:numbers":{"v:1":{},"v:2":{}},"f:open":{"f:a":{".":{},"f:b":{}}},"f:plain":{},"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:inner":{"k:{\"name\":\"n\"}":{".":{},"f:name":{},"f:value":{}}},"f:port":{},"f:tags":{"v:\"a\"":{}}},"k:{\"port\":1,\"protocol\":\"UDP\"}":{".":{},"f:port":{},"f:protocol":{}}},"f:ratio":{},"f:set":{"v:\"a\"":{},"v:\"b\"":{}},"f:text":{},"f:whole":{},"f:wholeObject":{}}}`,
		},
	},
	{
		name: "every kind of list and map, created", kind: "Gadget",
		writes: []write{
			{"a", "create", `{"spec":{"text":"a","number":1,"ratio":1.5,"flag":true,"either":1,"set":["a","b"],"numbers":[1,2],"atomic":["a"],"plain":["b"],"ports":[{"port":1,"tags":["a"],"inner":[{"name":"n","value":"v"}]},{"port":1,"protocol":"UDP"}],"labels":{"a":"b"},"whole":{"a":"b"},"wholeObject":{"a":"b"},"deep":{"a":{"b":"c"}},"open":{"a":{"b":[1]}},"half":{"known":"a","other":{"x":1}},"maps":{"a":{"x":"1"}}}}`, ""},
		},
		object: `{"spec":{"atomic":["a"],"deep":{"a":{"b":"c"}},"either":1,"flag":true,"half":{"known":"a","other":{"x":1}},"labels":{"a":"b"},"maps":{"a":{"x":"1"}},"number":1,"numbers":[1,2],"open":{"a":{"b":[1]}},"plain":["b"],"ports":[{"inner":[{"name":"n","value":"v"}],"port":1,"protocol":"TCP","tags":["a"]},{"port":1,"protocol":"UDP"}],"ratio":1.5,"set":["a","b"],"text":"a","whole":{"a":"b"},"wholeObject":{"a":"b"}}}`,
		owners: []string{
			`a Update: {"f:spec":{".":{},"f:atomic":{},"f:deep":{".":{},"f:a":{".":{},"f:b":{}}},"f:either":{},"f:flag":{},"f:half":{".":{},"f:known":{},"f:other":{".":{},"f:x":{}}},"f:labels":{".":{},"f:a":{}},"f:maps":{".":{},"f:a":{".":{},"f:x":{}}},"f:number":{},"f:numbers":{".":{},"v:1":{},"v:2":{}},"f:open":{".":{},"f:a":{".":{},"f:b":{}}},"f:plain":{},"f:ports":{".":{},"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:inner":{".":{},"k:{\"name\":\"n\"}":{".":{},"f:name":{},"f:value":{}}},"f:port":{},"f:protocol":{},"f:tags":{".":{},"v:\"a\"":{}}},"k:{\"port\":1,\"protocol\":\"UDP\"}":{".":{},"f:port":{},"f:protocol":{}}},"f:ratio":{},"f:set":{".":{},"v:\"a\"":{},"v:\"b\"":{}},"f:text":{},"f:whole":{},"f:wholeObject":{}}}`,
		},
	},
	{
		name: "what is empty is owned, but for lists that are not atomic", kind: "Gadget",
		writes: []write{
			{"a", "apply", `{"spec":{"set":[],"atomic":[],"ports":[],"labels":{},"whole":{},"wholeObject":{},"deep":{},"open":{},"maps":{"a":{}}}}`, ""},
		},
		object: `{"spec":{"atomic":[],"deep":{},"labels":{},"maps":{"a":{}},"open":{},"ports":[],"set":[],"whole":{},"wholeObject":{}}}`,
		owners: []string{
			`a Apply: {"f:spec":{"f:atomic":{},"f:deep":{},"f:labels":{},"f:maps":{"f:a":{}},"f:open":{},"f:whole":{},"f:wholeObject":{}}}`,
		},
	},
	{
		name: "null must be allowed by the schema", kind: "Gadget",
		writes: []write{
			{"a", "apply", `{"spec":{"text":null}}`, `422 Invalid: Gadget.conformance.bowline.example "a" is invalid: spec.text: Invalid value: "null": spec.text in body must be of type string: "null"`},
			{"a", "apply", `{"spec":{"maybe":null}}`, ""},
			{"a", "apply", `{"spec":{"set":null}}`, `422 Invalid: Gadget.conformance.bowline.example "a" is invalid: spec.set: Invalid value: "null": spec.set in body must be of type array: "null"`},
			{"a", "apply", `{"spec":{"labels":null}}`, `422 Invalid: Gadget.conformance.bowline.example "a" is invalid: spec.labels: Invalid value: "null": spec.labels in body must be of type object: "null"`},
			{"a", "apply", `{"spec":{"open":{"a":null}}}`, ""},
			{"a", "apply", `{"spec":{"maps":{"a":null}}}`, `422 Invalid: Gadget.conformance.bowline.example "a" is invalid: spec.maps.a: Invalid value: "null": spec.maps.a in body must be of type object: "null"`},
		},
		object: `{"spec":{"open":{"a":null}}}`,
		owners: []string{
			`a Apply: {"f:spec":{"f:open":{"f:a":{}}}}`,
		},
	},
	{
		name: "numbers are exact, and the same where they mean the same", kind: "Gadget",
		writes: []write{
			{"a", "apply", `{"spec":{"number":9007199254740993,"ratio":1.0,"numbers":[1.0,2]}}`, ""},
			{"b", "apply", `{"spec":{"ratio":1,"numbers":[1]}}`, ""},
		},
		object: `{"spec":{"number":9007199254740993,"numbers":[1,2],"ratio":1}}`,
		owners: []string{
			`a Apply: {"f:spec":{"f:number":{},"f:numbers":{"v:1":{},"v:2":{}},"f:ratio":{}}}`,
			`b Apply (no time): {"f:spec":{"f:numbers":{"v:1":{}},"f:ratio":{}}}`,
		},
	},
	{
		name: "the elements of a configuration come in its order", kind: "Gadget",
		writes: []write{
			{"a", "apply", `{"spec":{"set":["a","b","c","d"]}}`, ""},
			{"b", "apply", `{"spec":{"set":["d","x","b"]}}`, ""},
			{"a", "apply", `{"spec":{"set":["y","c"]}}`, ""},
		},
		object: `{"spec":{"set":["y","c","d","x","b"]}}`,
		owners: []string{
			`a Apply: {"f:spec":{"f:set":{"v:\"c\"":{},"v:\"y\"":{}}}}`,
			`b Apply: {"f:spec":{"f:set":{"v:\"b\"":{},"v:\"d\"":{},"v:\"x\"":{}}}}`,
		},
	},
	{
		name: "of elements that are left, those of others stay", kind: "Gadget",
		writes: []write{
			{"a", "apply", `{"spec":{"ports":[{"port":1,"note":"a","tags":["a","b"],"inner":[{"name":"n","value":"v"}]},{"port":2}],"labels":{"a":"b"},"maps":{"a":{"x":"1","y":"1"},"b":{"x":"1"}}}}`, ""},
			{"b", "apply", `{"spec":{"ports":[{"port":1,"tags":["b","c"]}],"maps":{"a":{"x":"1"}}}}`, ""},
			{"a", "apply", `{"spec":{"text":"x"}}`, ""},
		},
		object: `{"spec":{"maps":{"a":{"x":"1"}},"ports":[{"port":1,"protocol":"TCP","tags":["b","c"]}],"text":"x"}}`,
		owners: []string{
			`a Apply: {"f:spec":{"f:text":{}}}`,
			`b Apply: {"f:spec":{"f:maps":{"f:a":{".":{},"f:x":{}}},"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:tags":{"v:\"b\"":{},"v:\"c\"":{}}}}}}`,
		},
	},
	{
		name: "elements with something of an updater's", kind: "Gadget",
		writes: []write{
			{"a", "apply", `{"spec":{"ports":[{"port":1,"note":"a"}],"deep":{"a":{"b":"1"}},"open":{"a":{"b":"1"}},"maps":{"a":{"x":"1"}}}}`, ""},
			{"b", "merge", `{"spec":{"ports":[{"port":1,"protocol":"TCP","note":"a","tags":["t"]}],"deep":{"a":{"c":"1"}}}}`, ""},
			{"a", "apply", `{"spec":{}}`, `422 Invalid: Gadget.conformance.bowline.example "a" is invalid: spec.ports: Invalid value: "null": spec.ports in body must be of type array: "null"`},
		},
		object: `{"spec":{"deep":{"a":{"b":"1","c":"1"}},"maps":{"a":{"x":"1"}},"open":{"a":{"b":"1"}},"ports":[{"note":"a","port":1,"protocol":"TCP","tags":["t"]}]}}`,
		owners: []string{
			`a Apply: {"f:spec":{"f:deep":{"f:a":{"f:b":{}}},"f:maps":{"f:a":{".":{},"f:x":{}}},"f:open":{"f:a":{".":{},"f:b":{}}},"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:note":{},"f:port":{}}}}}`,
			`b Update: {"f:spec":{"f:deep":{"f:a":{"f:c":{}}},"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{"f:tags":{".":{},"v:\"t\"":{}}}}}}`,
		},
	},
	{
		name: "a map of an updater's is null once it is left empty", kind: "Gadget",
		writes: []write{
			{"b", "create", `{"spec":{"labels":{}}}`, ""},
			{"a", "apply", `{"spec":{"labels":{"a":"b"}}}`, ""},
			{"a", "apply", `{"spec":{}}`, `422 Invalid: Gadget.conformance.bowline.example "a" is invalid: spec.labels: Invalid value: "null": spec.labels in body must be of type object: "null"`},
		},
		object: `{"spec":{"labels":{"a":"b"}}}`,
		owners: []string{
			`a Apply: {"f:spec":{"f:labels":{"f:a":{}}}}`,
			`b Update: {"f:spec":{".":{},"f:labels":{}}}`,
		},
	},
	{
		name: "an object of an updater's is null once it is left empty", kind: "Gadget",
		writes: []write{
			{"b", "create", `{"spec":{"deep":{"a":{}}}}`, ""},
			{"a", "apply", `{"spec":{"deep":{"a":{"b":"c"}}}}`, ""},
			{"a", "apply", `{"spec":{}}`, `422 Invalid: Gadget.conformance.bowline.example "a" is invalid: spec.deep.a: Invalid value: "null": spec.deep.a in body must be of type object: "null"`},
		},
		object: `{"spec":{"deep":{"a":{"b":"c"}}}}`,
		owners: []string{
			`a Apply: {"f:spec":{"f:deep":{"f:a":{"f:b":{}}}}}`,
			`b Update: {"f:spec":{".":{},"f:deep":{".":{},"f:a":{}}}}`,
		},
	},
	{
		name: "what is atomic is in conflict as a whole", kind: "Gadget",
		writes: []write{
			{"a", "apply", `{"spec":{"atomic":["a"],"whole":{"a":"b"},"wholeObject":{"a":"b"},"plain":["x"]}}`, ""},
			{"b", "apply", `{"spec":{"atomic":["a","b"],"whole":{"c":"b"},"wholeObject":{"b":"b"},"plain":["x"]}}`, "409 Conflict: Apply failed with 3 conflicts: conflicts with \"a\":\n- .spec.atomic\n- .spec.whole\n- .spec.wholeObject"},
			{"b", "force", `{"spec":{"atomic":["a","b"],"whole":{"c":"b"},"wholeObject":{"b":"b"},"plain":["x"]}}`, ""},
		},
		object: `{"spec":{"atomic":["a","b"],"plain":["x"],"whole":{"c":"b"},"wholeObject":{"b":"b"}}}`,
		owners: []string{
			`a Apply: {"f:spec":{"f:plain":{}}}`,
			`b Apply: {"f:spec":{"f:atomic":{},"f:plain":{},"f:whole":{},"f:wholeObject":{}}}`,
		},
	},
	{
		name: "elements must be told apart, and members known", kind: "Gadget",
		writes: []write{
			{"a", "create", `{"spec":{"plain":["a","a"]}}`, ""},
			{"a", "apply", `{"spec":{"set":["a","a"]}}`, `500 InternalError: failed to create typed patch object (/a; conformance.bowline.example/v1, Kind=Gadget): .spec.set: duplicate entries for key [="a"]`},
			{"a", "apply", `{"spec":{"ports":[{"port":1},{"port":1,"protocol":"TCP"}]}}`, `500 InternalError: failed to create typed patch object (/a; conformance.bowline.example/v1, Kind=Gadget): .spec.ports: duplicate entries for key [port=1,protocol="TCP"]`},
			{"a", "apply", `{"spec":{"ports":[{"note":"TCP","port":1,"inner":[{}]}]}}`, `500 InternalError: failed to create typed patch object (/a; conformance.bowline.example/v1, Kind=Gadget): .spec.ports[port=1,protocol="TCP"].inner: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`},
			{"a", "apply", `{"spec":{"nope":1}}`, "500 InternalError: failed to create typed patch object (/a; conformance.bowline.example/v1, Kind=Gadget): .spec.nope: field not declared in schema"},
			{"a", "apply", `{"nope":1}`, "500 InternalError: failed to create typed patch object (/a; conformance.bowline.example/v1, Kind=Gadget): .nope: field not declared in schema"},
			{"a", "apply", `{"spec":{"number":"a"}}`, "500 InternalError: failed to create typed patch object (/a; conformance.bowline.example/v1, Kind=Gadget): .spec.number: expected numeric (int or float), got string"},
			{"a", "apply", `{"spec":{"text":5}}`, "500 InternalError: failed to create typed patch object (/a; conformance.bowline.example/v1, Kind=Gadget): .spec.text: expected string, got &value.valueUnstructured{Value:5}"},
			{"a", "apply", `{"spec":[]}`, "500 InternalError: failed to create typed patch object (/a; conformance.bowline.example/v1, Kind=Gadget): .spec: expected map, got &{[]}"},
			{"a", "apply", `{"spec":{"half":{"known":1,"other":1}}}`, "500 InternalError: failed to create typed patch object (/a; conformance.bowline.example/v1, Kind=Gadget): .spec.half.known: expected string, got &value.valueUnstructured{Value:1}"},
			{"a", "apply", `{"spec":{"wholeObject":{"nope":1}}}`, "500 InternalError: failed to create typed patch object (/a; conformance.bowline.example/v1, Kind=Gadget): .spec.wholeObject.nope: field not declared in schema"},
		},
		object: `{"spec":{"plain":["a","a"]}}`,
		owners: []string{
			`a Update: {"f:spec":{".":{},"f:plain":{}}}`,
		},
	},
	{
		name: "status has owners of its own", kind: "Gadget",
		writes: []write{
			{"a", "apply", `{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"text":"a"},"status":{"phase":"x"}}`, ""},
			{"a", "apply status", `{"metadata":{"name":"a","labels":{"x":"z"}},"spec":{"text":"b"},"status":{"phase":"x","conditions":[{"type":"X"}]}}`, ""},
			{"b", "merge status", `{"metadata":{"labels":{"x":"z"}},"spec":{"text":"b"},"status":{"phase":"y"}}`, ""},
			{"a", "apply status", `{"status":{"phase":"x"}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "b" with subresource "status" using conformance.bowline.example/v1: .status.phase`},
			{"c", "update", `{"spec":{"text":"c"},"status":{"phase":"y"}}`, `422 Invalid: gadgets.conformance.bowline.example "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`},
		},
		object: `{"metadata":{"labels":{"x":"y"}},"spec":{"text":"a"},"status":{"conditions":[{"type":"X"}],"phase":"y"}}`,
		owners: []string{
			`a Apply status: {"f:status":{"f:conditions":{"k:{\"type\":\"X\"}":{".":{},"f:type":{}}}}}`,
			`a Apply: {"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{"f:text":{}}}`,
			`b Update status: {"f:status":{"f:phase":{}}}`,
		},
	},
	{
		name: "a value of another type takes all that was within", kind: "Gadget",
		writes: []write{
			{"a", "apply", `{"spec":{"open":{"a":"1","b":{"c":"1"},"d":[1]}}}`, ""},
			{"b", "apply", `{"spec":{"open":{"a":{"x":"1"},"b":"1","d":{"x":1}}}}`, "409 Conflict: Apply failed with 3 conflicts: conflicts with \"a\":\n- .spec.open.a\n- .spec.open.b\n- .spec.open.d"},
			{"b", "force", `{"spec":{"open":{"a":{"x":"1"},"b":"1","d":{"x":1}}}}`, ""},
			{"c", "merge", `{"spec":{"open":{"a":[1],"b":{"x":"1"},"d":1}}}`, ""},
		},
		object: `{"spec":{"open":{"a":[1],"b":{"x":"1"},"d":1}}}`,
		owners: []string{
			`c Update: {"f:spec":{"f:open":{"f:a":{},"f:b":{".":{},"f:x":{}},"f:d":{}}}}`,
		},
	},
	{
		name: "text of a secret is data", kind: "Secret",
		writes: []write{
			{"a", "apply", `{"stringData":{"k":"1"}}`, ""},
			{"a", "apply", `{"stringData":{"k":"1"}}`, ""},
			{"b", "apply", `{"data":{"k":"Mg=="}}`, ""},
			{"c", "create", `{"metadata":{"name":"a"}}`, `409 AlreadyExists: secrets "a" already exists`},
			{"a", "apply", "{}", ""},
		},
		object: `{"data":{"k":"Mg=="},"type":"Opaque"}`,
		owners: []string{
			`b Apply: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "text of a secret is owned as data", kind: "Secret",
		writes: []write{
			{"a", "create", `{"stringData":{"k":"1"},"data":{"l":"Mg=="}}`, ""},
			{"b", "merge", `{"stringData":{"k":"2"}}`, ""},
		},
		object: `{"data":{"k":"Mg==","l":"Mg=="},"type":"Opaque"}`,
		owners: []string{
			`a Update: {"f:data":{".":{},"f:l":{}},"f:type":{}}`,
			`b Update: {"f:data":{"f:k":{}}}`,
		},
	},
	{
		name: "elements that are there twice are one field", kind: "Deployment",
		writes: []write{
			{"a", "create", `{"spec":{"replicas":1,"progressDeadlineSeconds":600,"revisionHistoryLimit":10,"strategy":{"type":"Recreate"},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30,"containers":[{"name":"x","image":"x:1","imagePullPolicy":"Always","terminationMessagePath":"/x","terminationMessagePolicy":"File","env":[{"name":"e","value":"1"},{"name":"f","value":"1"},{"name":"e","value":"2"}]}]}}}}`, ""},
			{"b", "apply", `{"spec":{"template":{"spec":{"containers":[{"name":"x","env":[{"name":"g","value":"1"},{"name":"f","value":"1"}]}]}}}}`, ""},
			{"b", "apply", `{"spec":{"template":{"spec":{"containers":[{"name":"x","env":[{"name":"e","value":"1"}]}]}}}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "a" using apps/v1: .spec.template.spec.containers[name="x"].env[name="e"]`},
			{"b", "force", `{"spec":{"template":{"spec":{"containers":[{"name":"x","env":[{"name":"e","value":"1"}]}]}}}}`, ""},
			{"b", "apply", `{"spec":{"template":{"spec":{"containers":[{"name":"x"}]}}}}`, ""},
		},
		object: `[{"name":"x","image":"x:1","env":[{"name":"f","value":"1"}]}]`,
		owners: []string{
			`a Update: {"f:spec":{"f:progressDeadlineSeconds":{},"f:replicas":{},"f:revisionHistoryLimit":{},"f:selector":{},"f:strategy":{"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"x\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"f\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}}}`,
			`b Apply: {"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}}}}}}}`,
		},
	},
	{
		name: "the first apply of a status finds an owner of it", kind: "Gadget",
		writes: []write{
			{"a", "create", `{"spec":{"text":"x"}}`, ""},
			{"a", "merge status", `{"status":{"phase":"x"}}`, ""},
			{"a", "merge", `{"metadata":{"managedFields":[{}]}}`, ""},
			{"a", "merge status", `{"status":{"phase":"y"}}`, ""},
			{"b", "apply status", `{"status":{"phase":"y"}}`, ""},
		},
		object: `{"spec":{"text":"x"},"status":{"phase":"y"}}`,
		owners: []string{
			`b Apply status (no time): {"f:status":{"f:phase":{}}}`,
			`before-first-apply Update status: {"f:status":{".":{},"f:phase":{}}}`,
		},
	},
	{
		name: "a number is not its text", kind: "Gadget",
		writes: []write{
			{"a", "apply", `{"spec":{"either":1,"ratio":1}}`, ""},
			{"b", "apply", `{"spec":{"either":"1","ratio":1.0}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "a": .spec.either`},
		},
		object: `{"spec":{"either":1,"ratio":1}}`,
		owners: []string{
			`a Apply: {"f:spec":{"f:either":{},"f:ratio":{}}}`,
		},
	},
	{
		name: "a key that is left out is its default", kind: "Gadget",
		writes: []write{
			{"a", "apply", `{"spec":{"ports":[{"port":1}]}}`, ""},
			{"b", "apply", `{"spec":{"ports":[{"port":1,"protocol":"TCP"}]}}`, ""},
			{"a", "apply", `{"spec":{}}`, ""},
			{"c", "merge", `{"spec":{"ports":[{"port":1,"protocol":"UDP"}]}}`, ""},
		},
		object: `{"spec":{"ports":[{"port":1,"protocol":"UDP"}]}}`,
		owners: []string{
			`a Apply: {"f:spec":{}}`,
			`c Update: {"f:spec":{"f:ports":{"k:{\"port\":1,\"protocol\":\"UDP\"}":{".":{},"f:port":{},"f:protocol":{}}}}}`,
		},
	},
	{
		name: "defaults are owned by who updates, and not by who applies", kind: "Gadget",
		writes: []write{
			{"c", "create", `{"spec":{"ports":[{"port":1},{"port":2,"note":"x"}]}}`, ""},
			{"a", "apply", `{"spec":{"ports":[{"port":2,"note":"y"}]}}`, `409 Conflict: Apply failed with 1 conflict: conflict with "c" using conformance.bowline.example/v1: .spec.ports[port=2,protocol="TCP"].note`},
			{"a", "apply", `{"spec":{"ports":[{"port":2,"note":"x","tags":["z"]},{"port":3}]}}`, ""},
			{"c", "merge", `{"spec":null}`, ""},
		},
		object: "{}",
	},
}
