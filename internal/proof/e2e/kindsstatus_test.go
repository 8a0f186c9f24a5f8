package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"hash/crc32"
)

// stubRequest returns the base64 of a request with a key and nothing else.
func stubRequest() string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

const (
	changedAt = `"lastTransitionTime":"2026-01-02T03:04:05Z"`
	// ready is a condition of most kinds.
	ready = `{"type":"Ready","status":"True",` + changedAt + `,"reason":"R","message":"m"}`
)

// statusOf is a status of each kind that has one as a subresource, as a controller might write it.
var statusOf = map[string]string{
	"Namespace":             `{"phase":"Terminating","conditions":[` + ready + `]}`,
	"Node":                  `{"conditions":[{"type":"Ready","status":"True","reason":"R"}],"addresses":[{"type":"InternalIP","address":"10.1.0.1"},{"type":"ExternalIP","address":"192.0.2.1"},{"type":"Hostname","address":"n"}],"nodeInfo":{"machineID":"m","systemUUID":"s","bootID":"b","kernelVersion":"6.1.0","osImage":"Linux","containerRuntimeVersion":"containerd://2.0","kubeletVersion":"v1.37.0","kubeProxyVersion":"","operatingSystem":"linux","architecture":"amd64"}}`,
	"PersistentVolumeClaim": `{"phase":"Bound","accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"}}`,
	"PersistentVolume":      `{"phase":"Released","reason":"R"}`,
	"Pod": `{"phase":"Running","podIP":"10.2.0.1","podIPs":[{"ip":"10.2.0.1"}],"conditions":[{"type":"Ready","status":"True"}],
		"containerStatuses":[{"name":"a","ready":true,"restartCount":2,"image":"a","imageID":"i","state":{"running":{"startedAt":"2026-01-02T03:04:05Z"}},"lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-01-02T03:04:05Z"}}}]}`,
	"ReplicationController":      `{"replicas":2,"readyReplicas":1,"observedGeneration":1}`,
	"ResourceQuota":              `{"hard":{"pods":"4","limits.cpu":"2","requests.cpu":"1"},"used":{"pods":"2","limits.cpu":"500m","requests.cpu":"1"}}`,
	"Service":                    `{"loadBalancer":{"ingress":[{"ip":"192.0.2.7"},{"hostname":"lb.example.com"}]}}`,
	"APIService":                 `{"conditions":[{"type":"Available","status":"False",` + changedAt + `,"reason":"MissingEndpoints","message":"m"}]}`,
	"DaemonSet":                  `{"currentNumberScheduled":3,"numberMisscheduled":0,"desiredNumberScheduled":4,"numberReady":2,"updatedNumberScheduled":3,"numberAvailable":1}`,
	"Deployment":                 `{"replicas":3,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":1,"observedGeneration":1}`,
	"ReplicaSet":                 `{"replicas":3,"readyReplicas":2,"availableReplicas":1,"observedGeneration":1}`,
	"StatefulSet":                `{"replicas":3,"readyReplicas":2,"currentReplicas":3,"availableReplicas":1,"observedGeneration":1}`,
	"HorizontalPodAutoscaler":    `{"currentReplicas":2,"desiredReplicas":3,"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":40,"averageValue":"100m"}}}]}`,
	"CronJob":                    `{"active":[{"kind":"Job","name":"j","namespace":"n","apiVersion":"batch/v1"}],"lastScheduleTime":"2026-01-02T03:04:05Z"}`,
	"Job":                        `{"active":1,"startTime":"2026-01-02T03:04:05Z","succeeded":1,"ready":1,"uncountedTerminatedPods":{}}`,
	"CertificateSigningRequest":  `{"conditions":[{"type":"Approved","status":"True","reason":"R","message":"m"}]}`,
	"PodCertificateRequest":      `{"conditions":[{"type":"Denied","status":"True",` + changedAt + `,"reason":"R","message":"m"}]}`,
	"Ingress":                    `{"loadBalancer":{"ingress":[{"ip":"192.0.2.7"},{"hostname":"lb.example.com"}]}}`,
	"ServiceCIDR":                `{"conditions":[` + ready + `]}`,
	"PodDisruptionBudget":        `{"disruptionsAllowed":2,"currentHealthy":3,"desiredHealthy":1,"expectedPods":3,"observedGeneration":1}`,
	"VolumeAttachment":           `{"attached":true}`,
	"CSINode":                    `{"conditions":[` + ready + `]}`,
	"ValidatingAdmissionPolicy":  `{"observedGeneration":1,"conditions":[` + ready + `]}`,
	"CustomResourceDefinition":   `{"conditions":[{"type":"Established","status":"True"}],"acceptedNames":{"plural":"knots","kind":"Knot"},"storedVersions":["v1"]}`,
	"ResourceClaim":              `{"reservedFor":[{"resource":"pods","name":"p","uid":"u"}],"allocation":{"devices":{"results":[{"request":"r","driver":"d.example.com","pool":"p","device":"a"}]}}}`,
	"DeviceTaintRule":            `{"conditions":[` + ready + `]}`,
	"FlowSchema":                 `{"conditions":[{"type":"Dangling","status":"True",` + changedAt + `,"reason":"R","message":"m"}]}`,
	"PriorityLevelConfiguration": `{"conditions":[` + ready + `]}`,
	"StorageVersionMigration":    `{"conditions":[{"type":"Running","status":"True",` + changedAt + `,"reason":"R","message":"m"}],"resourceVersion":"1"}`,
}

// sum is a short name for a text.
func sum(text string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(text))) }

// statusesOf returns statuses of a kind, for its cells.
func statusesOf(kind string) (out []string) {
	if one := statusOf[kind]; one != "" && kind != "Namespace" {
		out = append(out, one)
	}
	return append(out, moreStatuses[kind]...)
}

const (
	runsNow  = `"state":{"running":{"startedAt":"2026-01-02T03:04:05Z"}}`
	hasEnded = `"state":{"terminated":{"exitCode":%d%s}}`
)

// podStatus is a status of a pod with the containers named a.
func podStatus(phase, more, containers string) string {
	return `{"phase":"` + phase + `"` + more + `,"containerStatuses":[` + containers + `]}`
}

func containerStatus(name, state string, ready bool, restarts int) string {
	return fmt.Sprintf(`{"name":%q,"ready":%t,"started":%t,"restartCount":%d,"image":"a","imageID":"",%s}`, name, ready, ready, restarts, state)
}

// moreStatuses are statuses that make other cells.
var moreStatuses = map[string][]string{
	"Pod": {
		podStatus("Pending", "", containerStatus("a", `"state":{"waiting":{"reason":"ImagePullBackOff"}}`, false, 0)),
		podStatus("Running", "", containerStatus("a", `"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-01-02T03:04:05Z"}}`, false, 7)),
		podStatus("Succeeded", "", containerStatus("a", fmt.Sprintf(hasEnded, 0, `,"reason":"Completed"`), false, 0)),
		podStatus("Failed", "", containerStatus("a", fmt.Sprintf(hasEnded, 3, ""), false, 0)),
		podStatus("Failed", "", containerStatus("a", fmt.Sprintf(hasEnded, 137, `,"signal":9`), false, 0)),
		podStatus("Failed", "", containerStatus("a", fmt.Sprintf(hasEnded, 137, `,"reason":"OOMKilled"`), false, 1)),
		podStatus("Failed", `,"reason":"Evicted","message":"m"`, containerStatus("a", fmt.Sprintf(hasEnded, 137, ``), false, 1)),
		podStatus("Running", `,"conditions":[{"type":"Ready","status":"True"}]`, containerStatus("a", runsNow, true, 0)+","+containerStatus("b", fmt.Sprintf(hasEnded, 0, `,"reason":"Completed"`), false, 1)),
		podStatus("Running", `,"conditions":[{"type":"Ready","status":"False"}]`, containerStatus("b", fmt.Sprintf(hasEnded, 0, `,"reason":"Completed"`), false, 1)+","+containerStatus("a", runsNow, true, 0)),
		podStatus("Pending", `,"conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]`, containerStatus("a", `"state":{}`, false, 0)),
		podStatus("Pending", `,"initContainerStatuses":[`+containerStatus("i", runsNow, false, 0)+`]`, containerStatus("a", `"state":{"waiting":{"reason":"PodInitializing"}}`, false, 0)),
		podStatus("Pending", `,"initContainerStatuses":[`+containerStatus("i", `"state":{"waiting":{"reason":"CrashLoopBackOff"}}`, false, 3)+`]`, containerStatus("a", `"state":{"waiting":{"reason":"PodInitializing"}}`, false, 0)),
		podStatus("Pending", `,"initContainerStatuses":[`+containerStatus("i", fmt.Sprintf(hasEnded, 2, ""), false, 1)+`]`, containerStatus("a", `"state":{}`, false, 0)),
		podStatus("Pending", `,"initContainerStatuses":[`+containerStatus("i", fmt.Sprintf(hasEnded, 2, `,"signal":6`), false, 1)+`]`, containerStatus("a", `"state":{}`, false, 0)),
		podStatus("Pending", `,"initContainerStatuses":[`+containerStatus("i", fmt.Sprintf(hasEnded, 2, `,"reason":"Error"`), false, 1)+`]`, containerStatus("a", `"state":{}`, false, 0)),
		podStatus("Running", `,"initContainerStatuses":[`+containerStatus("s", runsNow, true, 2)+","+containerStatus("i", fmt.Sprintf(hasEnded, 0, ""), true, 1)+`],"nominatedNodeName":"n","conditions":[{"type":"example.com/gate","status":"True"}]`, containerStatus("a", runsNow, true, 1)),
	},
	"Job": {
		`{"succeeded":2,"startTime":"2026-01-02T03:04:05Z","completionTime":"2026-01-02T03:14:15Z","uncountedTerminatedPods":{},"conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}`,
		`{"startTime":"2026-01-02T03:04:05Z","uncountedTerminatedPods":{},"conditions":[{"type":"Suspended","status":"True"}]}`,
		`{"failed":1,"startTime":"2026-01-02T03:04:05Z","uncountedTerminatedPods":{},"conditions":[{"type":"FailureTarget","status":"True"}]}`,
		`{"failed":1,"startTime":"2026-01-02T03:04:05Z","uncountedTerminatedPods":{},"conditions":[{"type":"FailureTarget","status":"True"},{"type":"Failed","status":"True"}]}`,
	},
	"Node":                      {`{"conditions":[{"type":"Ready","status":"False"}]}`, `{"conditions":[{"type":"Ready","status":"Unknown"}]}`},
	"PersistentVolumeClaim":     {`{"phase":"Lost"}`},
	"CertificateSigningRequest": {`{"conditions":[{"type":"Failed","status":"True"}]}`},
	"APIService":                {`{"conditions":[{"type":"Available","status":"True",` + changedAt + `}]}`},
	"HorizontalPodAutoscaler":   {`{"desiredReplicas":1,"currentMetrics":null}`},
	"ResourceClaim":             {`{"allocation":{"devices":{}}}`},
	"PodCertificateRequest":     {`{"conditions":[{"type":"Failed","status":"True",` + changedAt + `,"reason":"R","message":"m"}]}`},
	"StorageVersionMigration":   {`{"conditions":[{"type":"Succeeded","status":"True",` + changedAt + `,"reason":"R","message":"m"}],"resourceVersion":"1"}`},
	"FlowSchema":                {`{"conditions":[{"type":"Dangling","status":"False",` + changedAt + `,"reason":"R","message":"m"}]}`},
}

// shown are further objects of a kind, with other cells.
var shown = map[string][]string{
	"Pod": {
		`{"spec":{"nodeName":"n","initContainers":[{"name":"s","image":"s","restartPolicy":"Always"},{"name":"i","image":"i"}],"readinessGates":[{"conditionType":"example.com/gate"},{"conditionType":"example.com/other"}],
			"containers":[{"name":"a","image":"a"},{"name":"b","image":"b"}]}}`,
		`{"spec":{"schedulingGates":[{"name":"example.com/gate"}],"containers":[{"name":"a","image":"a"}]}}`,
	},
	"Service": {
		`{"spec":{"type":"LoadBalancer","ports":[{"port":80}],"selector":{"b":"2","a":"1"}}}`, `{"spec":{"type":"LoadBalancer","ports":[{"port":80}],"externalIPs":["192.0.2.9"]}}`,
		`{"spec":{"type":"ExternalName","externalName":"example.com"}}`, `{"spec":{"clusterIP":"None","ports":[{"port":53,"protocol":"UDP"}]}}`,
		`{"spec":{"externalIPs":["192.0.2.9","192.0.2.10"],"ports":[{"port":53}]}}`,
	},
	"Endpoints": {
		`{"subsets":[{"addresses":[{"ip":"10.1.2.3"}]}]}`, `{"subsets":[{"notReadyAddresses":[{"ip":"10.1.2.3"}],"ports":[{"port":80}]}]}`,
		`{"subsets":[{"addresses":[{"ip":"10.1.2.3"},{"ip":"10.1.2.4"},{"ip":"10.1.2.5"},{"ip":"10.1.2.6"}],"ports":[{"port":80}]}]}`,
	},
	"EndpointSlice": {
		`{"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]},{"addresses":["10.0.0.2"]},{"addresses":["10.0.0.3"]},{"addresses":["10.0.0.4"]}],
			"ports":[{"name":"a","port":1},{"name":"b","port":2},{"name":"c","port":3},{"name":"d","port":4}]}`,
		`{"addressType":"IPv4","endpoints":[],"ports":[{"name":"a"}]}`,
	},
	"Ingress": {`{"spec":{"rules":[{"host":"a.example.com"},{"host":"b.example.com"},{"host":"c.example.com"},{"host":"d.example.com"}]}}`},
	"Node": {
		`{"metadata":{"labels":{"node-role.kubernetes.io/worker":"","node-role.kubernetes.io/control-plane":"","kubernetes.io/role":"x"}}}`,
	},
	"StatefulSet":           {`{"spec":{"serviceName":"s","selector":{"matchExpressions":[{"key":"app","operator":"In","values":["a","b"]},{"key":"x","operator":"DoesNotExist"}]},` + podTemplate + `}}`},
	"Deployment":            {`{"spec":{"selector":{"matchLabels":{"app":"a"},"matchExpressions":[{"key":"app","operator":"In","values":["b","a"]},{"key":"x","operator":"DoesNotExist"}]},` + podTemplate + `}}`},
	"Job":                   {`{"spec":{"parallelism":3,` + jobPods + `}}`, `{"spec":{"completions":2,"parallelism":3,` + jobPods + `}}`},
	"CronJob":               {`{"spec":{"schedule":"0 0 * * *","timeZone":"Etc/UTC","jobTemplate":{"spec":{` + jobPods + `}}}}`},
	"PodDisruptionBudget":   {`{"spec":{"maxUnavailable":"30%"}}`},
	"PersistentVolume":      {`{"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany","ReadWriteOnce"],"claimRef":{"namespace":"n","name":"c"},"hostPath":{"path":"/x"}}}`},
	"PersistentVolumeClaim": {`{"spec":{` + claim + `,"volumeName":"v"}}`},
	"StorageClass":          {`{"metadata":{"annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"example.com/p","reclaimPolicy":"Retain","allowVolumeExpansion":true}`},
	"IngressClass":          {`{"spec":{"controller":"example.com/c","parameters":{"kind":"P","name":"p","scope":"Cluster"}}}`},
	"ControllerRevision":    {`{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"d","uid":"u","controller":true}]},"revision":3,"data":{"a":"b"}}`},
	"Lease":                 {`{"spec":{}}`},
	"RoleBinding":           {`{"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"},{"kind":"User","name":"v"},{"kind":"Group","name":"g"},{"kind":"ServiceAccount","name":"s","namespace":"n"},{"kind":"ServiceAccount","name":"t","namespace":"n"}]}`},
	"Event":                 {`{"involvedObject":{"kind":"Pod","namespace":"NSPACE","name":"p","fieldPath":"spec.containers{a}"},"reason":"R","message":" m\n","type":"Warning","source":{"component":"c","host":"h"},"count":4,"firstTimestamp":"2026-01-02T03:04:05Z","lastTimestamp":"2026-01-02T04:04:05Z"}`},
	"HorizontalPodAutoscaler": {
		`{"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"},"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"AverageValue","averageValue":"200m"}}},
			{"type":"Pods","pods":{"metric":{"name":"x"},"target":{"type":"AverageValue","averageValue":"5"}}},{"type":"External","external":{"metric":{"name":"x"},"target":{"type":"Value","value":"7"}}}]}}`,
		`{"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"},"metrics":[{"type":"Object","object":{"describedObject":{"kind":"Service","name":"s","apiVersion":"v1"},"metric":{"name":"x"},"target":{"type":"Value","value":"7"}}},
			{"type":"External","external":{"metric":{"name":"x"},"target":{"type":"AverageValue","averageValue":"7"}}}]}}`,
		`{"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"a"},"metrics":[{"type":"ContainerResource","containerResource":{"name":"cpu","container":"a","target":{"type":"Utilization","averageUtilization":60}}}]}}`,
	},
	"CSIDriver":                 {`{"spec":{"requiresRepublish":true,"storageCapacity":true,"tokenRequests":[{"audience":"a"},{"audience":"b"}],"volumeLifecycleModes":["Ephemeral","Persistent"]}}`},
	"ValidatingAdmissionPolicy": {`{"spec":{"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":"true"}],` + matched + `}}`},
	"ValidatingAdmissionPolicyBinding": {
		`{"spec":{"policyName":"p","validationActions":["Deny"],"paramRef":{"name":"x","namespace":"y","parameterNotFoundAction":"Deny"}}}`, `{"spec":{"policyName":"p","validationActions":["Deny"],"paramRef":{"name":"x","parameterNotFoundAction":"Deny"}}}`,
		`{"spec":{"policyName":"p","validationActions":["Deny"],"paramRef":{"selector":{"matchLabels":{"b":"c","a":"b"},"matchExpressions":[{"key":"k","operator":"In","values":["x","y"]}]},"parameterNotFoundAction":"Deny"}}}`,
	},
	"NetworkPolicy": {`{"spec":{"podSelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`},
	"APIService":    {`{"spec":{"group":"NAME.example.com","version":"v1","groupPriorityMinimum":100,"versionPriority":10,"insecureSkipTLSVerify":true,"service":{"namespace":"n","name":"s"}}}`},
	"PriorityClass": {`{"value":-1,"preemptionPolicy":"Never"}`},
	"IPAddress":     {`{"spec":{"parentRef":{"resource":"nodes","name":"n"}}}`},
}
