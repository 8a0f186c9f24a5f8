package overlay

import (
	"strings"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// This file has the facts about the built-in kinds that an overlay needs: which zeros the server does not keep, the
// defaults that replace zeros, which objects are replaced whole, and which members distinguish the elements of lists.
// Tests in examples/k8sapi compare the zeros with the types of k8s.io/api, and tests in internal/proof/e2e compare the
// rest with the server.
//
// A place is up to three names with slashes between them; the last one is that of the member. A place that starts with
// a slash is at the top of the object. The part before a colon is a kind.

// The server never writes these zeros: their members are not pointers in the types of k8s.io/api, and have omitempty. A
// name, or the end of a path, is in a list only if this is true wherever it occurs.
const (
	droppedFalse = " awsElasticBlockStore/readOnly azureFile/readOnly cephfs/readOnly chapAuthDiscovery chapAuthSession cinder/readOnly clusterScope " +
		"fc/readOnly flexVolume/readOnly gcePersistentDisk/readOnly globalDefault glusterfs/readOnly hostIPC hostNetwork hostPID " +
		"inlineVolumeSpec/csi/readOnly iscsi/readOnly nfs/readOnly paused persistentVolumeClaim/readOnly portworxVolume/readOnly " +
		"preserveUnknownFields publishNotReadyAddresses quobyte/readOnly rbd/readOnly scaleIO/readOnly spec/csi/readOnly sslEnabled stdin stdinOnce " +
		"storageos/readOnly tty unschedulable volumeMounts/readOnly "
	droppedZero = " /count additionalPrinterColumns/priority metadata/generation requests/count series/count awsElasticBlockStore/partition deprecatedCount exactly/count failureThreshold firstAvailable/count " +
		"gcePersistentDisk/partition healthCheckNodePort hostPort initialDelaySeconds livenessProbe/periodSeconds " +
		"livenessProbe/timeoutSeconds minReadySeconds nodePort number readinessProbe/periodSeconds readinessProbe/timeoutSeconds " +
		"startupProbe/periodSeconds startupProbe/timeoutSeconds successThreshold "
	droppedEmpty = " generateName selfLink metadata/uid metadata/resourceVersion /action /reason /type PersistentVolume:spec/storageClassName Pod:spec/nodeName Service:spec/type addresses/hostname allocationMode " +
		"awsElasticBlockStore/fsType boundObjectRef/apiVersion boundObjectRef/kind boundObjectRef/name boundObjectRef/uid cephfs/path " +
		"certificateChainPath cinder/fsType claimRef/apiVersion claimRef/fieldPath claimRef/kind claimRef/name claimRef/namespace " +
		"claimRef/resourceVersion claimRef/uid clusterIP component concurrencyPolicy conditions/reason configMap/resourceVersion " +
		"configMap/uid configMapKeyRef/name configMapRef/name containers/image containers/ports/name containers/ports/protocol controller " +
		"controllerExpandSecretRef/name controllerExpandSecretRef/namespace controllerPublishSecretRef/name " +
		"controllerPublishSecretRef/namespace credentialBundlePath datasetName datasetUUID deleteOptions/apiVersion deleteOptions/kind " +
		"describedObject/apiVersion description directory dnsPolicy env/value ephemeralContainers/image ephemeralContainers/ports/name " +
		"ephemeralContainers/ports/protocol exitCodes/operator externalID externalName externalTrafficPolicy fc/fsType fieldRef/apiVersion " +
		"flexVolume/fsType gcePersistentDisk/fsType group host hostIP httpGet/path imagePullPolicy imagePullSecrets/name " +
		"initContainers/image initContainers/ports/name initContainers/ports/protocol inlineVolumeSpec/csi/fsType " +
		"inlineVolumeSpec/storageClassName involvedObject/apiVersion involvedObject/fieldPath involvedObject/kind involvedObject/name " +
		"involvedObject/namespace involvedObject/resourceVersion involvedObject/uid iscsi/fsType iscsiInterface keyPath keyType keyring " +
		"level loadBalancerIP medium message messageExpression metadata/name metadata/namespace nodeExpandSecretRef/name " +
		"nodeExpandSecretRef/namespace nodePublishSecretRef/name nodePublishSecretRef/namespace nodeStageSecretRef/name " +
		"nodeStageSecretRef/namespace nonResourceAttributes/path notReadyAddresses/hostname note options/name paramKind/apiVersion " +
		"paramKind/kind paramRef/name paramRef/namespace paths/path persistentVolumeReclaimPolicy phase photonPersistentDisk/fsType podCIDR " +
		"podCertificate/signerName podManagementPolicy policyName pool port/name portworxVolume/fsType prefix priorityClassName " +
		"protectionDomain providerID pullPolicy rawSelector rbd/fsType reference regarding/apiVersion regarding/fieldPath regarding/kind " +
		"regarding/name regarding/namespace regarding/resourceVersion regarding/uid related/apiVersion related/fieldPath related/kind " +
		"related/name related/namespace related/resourceVersion related/uid reportingController request resourceAttributes/name " +
		"resourceAttributes/namespace resourceAttributes/resource resourceAttributes/version resourceFieldRef/containerName " +
		"restartPolicyRules/action revision role scaleIO/fsType scaleIO/volumeName scaleTargetRef/apiVersion schedulerName scheme " +
		"seLinuxOptions/type secret/name secret/secretName secretFile secretKeyRef/name secretRef/apiVersion secretRef/fieldPath " +
		"secretRef/kind secretRef/name secretRef/namespace secretRef/resourceVersion secretRef/uid secrets/apiVersion secrets/fieldPath " +
		"secrets/kind secrets/name secrets/namespace secrets/resourceVersion secrets/uid serviceAccount serviceAccountName " +
		"serviceAccountToken/audience sessionAffinity sources/configMap/name spec/csi/fsType spec/hostname spec/ports/name " +
		"spec/ports/protocol spec/restartPolicy spec/uid spec/volumeName storageMode storagePolicyID storagePolicyName storagePool " +
		"storageos/fsType storageos/volumeName strategy/type subPath subPathExpr subdomain subjects/apiGroup subjects/namespace subresource " +
		"subsets/ports/name subsets/ports/protocol taints/value target/apiVersion target/fieldPath target/kind target/name target/namespace " +
		"target/resourceVersion target/uid targetContainerName targetRef/apiVersion targetRef/fieldPath targetRef/kind targetRef/name " +
		"targetRef/namespace targetRef/resourceVersion targetRef/uid targetVolumeAttributesClassName template/spec/nodeName tenant " +
		"terminationMessagePath terminationMessagePolicy tls/secretName token tolerations/effect tolerations/key tolerations/operator " +
		"tolerations/value updateStrategy/type user username verb volumeClaimTemplates/apiVersion volumeClaimTemplates/kind volumeNamespace " +
		"volumes/configMap/name vsphereVolume/fsType whenDeleted whenScaled workingDir "
	droppedMaps = " /parameters ConfigMap:/data Pod:spec/nodeSelector ReplicationController:/spec/selector Secret:/data Service:spec/selector " +
		"annotations attributes binaryData counters default defaultRequest deprecatedTopology devices/capacity extra hard " +
		"inlineVolumeSpec/capacity labels limits matchLabels max maxLimitRequestRatio min nodeAllocatableResourceMappings options podFixed " +
		"requests scheduling/nodeSelector spec/capacity spec/overhead stringData template/spec/nodeSelector userAnnotations " +
		"volumeAttributes "
)

// defaults are the values that the server gives a member that is left out, or is the zero of its type.
var defaults = map[string]string{
	"strategy/type": `"RollingUpdate"`, "updateStrategy/type": `"RollingUpdate"`, "podManagementPolicy": `"OrderedReady"`,
	"whenDeleted": `"Retain"`, "whenScaled": `"Retain"`, "concurrencyPolicy": `"Allow"`, "completionMode": `"NonIndexed"`,
	"spec/restartPolicy": `"Always"`, "dnsPolicy": `"ClusterFirst"`, "schedulerName": `"default-scheduler"`,
	"terminationMessagePath": `"/dev/termination-log"`, "terminationMessagePolicy": `"File"`, "ports/protocol": `"TCP"`,
	"livenessProbe/periodSeconds": "10", "readinessProbe/periodSeconds": "10", "startupProbe/periodSeconds": "10",
	"livenessProbe/timeoutSeconds": "1", "readinessProbe/timeoutSeconds": "1", "startupProbe/timeoutSeconds": "1",
	"successThreshold": "1", "failureThreshold": "3", "httpGet/path": `"/"`, "httpGet/scheme": `"HTTP"`,
	"fieldRef/apiVersion": `"v1"`, "resourceFieldRef/divisor": `"0"`, "persistentVolumeReclaimPolicy": `"Retain"`,
	"iscsi/iscsiInterface": `"default"`, "rbd/pool": `"rbd"`, "rbd/user": `"admin"`, "rbd/keyring": `"/etc/ceph/keyring"`,
	"scaleIO/storageMode": `"ThinProvisioned"`, "scaleIO/fsType": `"xfs"`, "Service:spec/type": `"ClusterIP"`,
	"sessionAffinity": `"None"`, "externalTrafficPolicy": `"Cluster"`, "Secret:/type": `"Opaque"`,
	"roleRef/apiGroup": `"rbac.authorization.k8s.io"`, "subjects/apiGroup": `"rbac.authorization.k8s.io"`,
	"conversion/strategy": `"None"`, "matchingPrecedence": "1000", "exactly/allocationMode": `"ExactCount"`,
	"firstAvailable/allocationMode": `"ExactCount"`, "exactly/count": "1", "firstAvailable/count": "1",
	"exactly/tolerations/operator": `"Equal"`, "firstAvailable/tolerations/operator": `"Equal"`,
	"matchConstraints/matchPolicy": `"Equivalent"`, "matchResources/matchPolicy": `"Equivalent"`,
	"matchConstraints/namespaceSelector": "{}", "matchResources/namespaceSelector": "{}",
	"matchConstraints/objectSelector": "{}", "matchResources/objectSelector": "{}",
	"resourceRules/scope": `"*"`, "excludeResourceRules/scope": `"*"`,
	"queuing/handSize": "8", "queuing/queueLengthLimit": "50", "queuing/queues": "64", "requests/count": "1",
}

// Members that the server fills in if they are zero, with values that depend on other members. So a zero of such a
// member is not wanted.
const filledIn = " Service:spec/clusterIP nodePort healthCheckNodePort ports/targetPort imagePullPolicy Pod:spec/serviceAccountName " +
	"Pod:spec/serviceAccount Pod:spec/nodeName Pod:spec/priorityClassName spec/volumeName names/singular names/listKind "

// Objects that the API replaces whole (x-kubernetes-map-type: atomic): selectors and references.
const atomicObjects = " configMapKeyRef controllerExpandSecretRef controllerPublishSecretRef dataSource fieldRef fileKeyRef involvedObject " +
	"labelSelector matchConstraints matchResources namespaceSelector nodeExpandSecretRef nodePublishSecretRef nodeSelector " +
	"nodeStageSecretRef nodeTopology objectSelector paramKind paramRef podSelector port preference regarding related " +
	"nodeAffinity/required nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution resourceFieldRef roleRef scaleTargetRef " +
	"allowedTopologies clusterRoleSelectors scopeSelector secretKeyRef secretRef selector Binding:/target targetRef Ingress:defaultBackend/resource Ingress:backend/resource "

// membersOfWhole are the members of the atomicObjects, and of the objects in them, by the longest place that fits.
var membersOfWhole = map[string]string{
	"labelSelector": "matchLabels matchExpressions", "namespaceSelector": "matchLabels matchExpressions",
	"nodeTopology": "matchLabels matchExpressions", "objectSelector": "matchLabels matchExpressions",
	"podSelector": "matchLabels matchExpressions", "selector": "matchLabels matchExpressions",
	"clusterRoleSelectors": "matchLabels matchExpressions", "allowedTopologies": "matchLabelExpressions",
	"matchExpressions": "key operator values", "matchFields": "key operator values", "matchLabelExpressions": "key values",
	"scopeSelector": "scopeSelector/matchExpressions", "scopeSelector/matchExpressions": "operator scopeName values",
	"preference": "matchExpressions matchFields", "nodeSelector": "nodeSelectorTerms", "nodeAffinity/required": "nodeSelectorTerms",
	"nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution": "nodeSelectorTerms", "nodeSelectorTerms": "matchExpressions matchFields",
	"matchConstraints": "excludeResourceRules matchPolicy namespaceSelector objectSelector resourceRules",
	"matchResources":   "excludeResourceRules matchPolicy namespaceSelector objectSelector resourceRules",
	"resourceRules":    resourceRule, "excludeResourceRules": resourceRule,
	"paramKind": "apiVersion kind", "paramRef": "name namespace parameterNotFoundAction selector",
	"configMapKeyRef": "key name optional", "secretKeyRef": "key name optional", "fileKeyRef": "key optional path volumeName",
	"fieldRef": "apiVersion fieldPath", "resourceFieldRef": "containerName divisor resource", "port": "name number",
	"roleRef": "apiGroup kind name", "dataSource": "apiGroup kind name", "Ingress:defaultBackend/resource": "apiGroup kind name",
	"Ingress:backend/resource": "apiGroup kind name", "scaleTargetRef": "apiVersion kind name",
	"involvedObject": objectReference, "regarding": objectReference, "related": objectReference, "targetRef": objectReference,
	"Binding:/target": objectReference,
	"secretRef":       "name", "envFrom/secretRef": "name optional", "nodePublishSecretRef": "name",
	"PersistentVolume:secretRef": "name namespace", "PersistentVolume:storageos/secretRef": objectReference,
	"PersistentVolume:nodePublishSecretRef": "name namespace", "VolumeAttachment:secretRef": "name namespace",
	"VolumeAttachment:storageos/secretRef": objectReference, "VolumeAttachment:nodePublishSecretRef": "name namespace",
	"controllerExpandSecretRef": "name namespace", "controllerPublishSecretRef": "name namespace",
	"nodeExpandSecretRef": "name namespace", "nodeStageSecretRef": "name namespace",
}

const (
	objectReference = "apiVersion fieldPath kind name namespace resourceVersion uid"
	resourceRule    = "apiGroups apiVersions operations resourceNames resources scope"
)

// Members that the server always has, even if they are not sent, so that a zero in a cached object is the server's.
const alwaysThere = " Deployment:spec/replicas ReplicaSet:spec/replicas StatefulSet:spec/replicas ReplicationController:spec/replicas " +
	"NetworkPolicy:spec/podSelector PriorityClass:/value "

// keysOfLists are the members that distinguish the elements of a list (x-kubernetes-list-map-keys), by the place of
// the list.
var keysOfLists = map[string][]string{
	"claims": {"name"}, "compositePodGroupTemplates": {"name"}, "containers": {"name"}, "drivers": {"name"}, "env": {"name"},
	"ephemeralContainers": {"name"}, "evictionResponders": {"name"}, "hostAliases": {"ip"}, "spec/imagePullSecrets": {"name"},
	"initContainers": {"name"}, "matchConditions": {"name"}, "podGroupTemplates": {"name"}, "resourceClaims": {"name"},
	"schedulingGates": {"name"}, "ServiceAccount:/secrets": {"name"}, "ValidatingAdmissionPolicy:spec/variables": {"name"},
	"volumeDevices": {"devicePath"}, "volumeMounts": {"mountPath"}, "volumes": {"name"}, "webhooks": {"name"},
	"topologySpreadConstraints": {"topologyKey", "whenUnsatisfiable"}, "Service:spec/ports": {"port", "protocol"},
	"containers/ports": {"containerPort", "protocol"}, "initContainers/ports": {"containerPort", "protocol"},
	"ephemeralContainers/ports": {"containerPort", "protocol"},
}

// places calls known with the names that a place has in the tables, the shortest first, until known returns true.
func (o *overlay) places(at *site, known func(place string) bool) bool {
	if !isFieldName(at.name) {
		return false
	}
	is := func(place string) bool { return known(place) || known(o.kind+":"+place) }
	place, up := at.name, at.up
	for names := 1; ; names++ {
		switch {
		case is(place):
			return true
		case names == 3:
			return false
		case up == nil:
			return is("/" + place)
		case !isFieldName(up.name):
			return false
		}
		place, up = up.name+"/"+place, up.up
	}
}

// isFieldName reports whether a built-in type can have a field of the name. A key that a user has chosen may be empty
// or contain the separators of the lists, so it could be mistaken for another place.
func isFieldName(name string) bool { return name != "" && !strings.ContainsAny(name, " /:") }

// among reports whether a place is in one of the lists of the built-in kinds.
func (o *overlay) among(list string, at *site) bool {
	return !at.chosen && o.isBuiltIn(at) && endsAPlace(list, at.name) &&
		o.places(at, func(place string) bool { return strings.Contains(list, " "+place+" ") })
}

// endsAPlace reports whether a list has a place that ends in the name. It allocates nothing, because most values are
// in no list.
func endsAPlace(list, name string) bool {
	for from := 0; ; {
		i := strings.Index(list[from:], name)
		if i < 0 || name == "" {
			return false
		}
		start, end := from+i, from+i+len(name)
		if end < len(list) && list[end] == ' ' && start > 0 && strings.IndexByte(" /:", list[start-1]) >= 0 {
			return true
		}
		from = end
	}
}

// defaultAt returns the server's value for a member that is left out, or "" if it has no default.
func (o *overlay) defaultAt(at *site) (value string) {
	if !at.chosen && o.isBuiltIn(at) {
		o.places(at, func(place string) (found bool) {
			value, found = defaults[place]
			return found
		})
	}
	return value
}

// keysAt returns the members that distinguish the elements of the list at the place, or nil if none do.
func (o *overlay) keysAt(at *site, list *tree.Node) (keys []string) {
	if h, ok := o.hints[list.At]; ok && list.From == o.want && h.Key != "" && !o.isBuiltIn(at) {
		return []string{h.Key}
	}
	if !at.chosen && o.isBuiltIn(at) {
		o.places(at, func(place string) (found bool) {
			keys, found = keysOfLists[place]
			return found
		})
	}
	return keys
}

// isWhole reports whether the object at the place is replaced whole.
func (o *overlay) isWhole(live, want *tree.Node, at *site) bool {
	if o.isBuiltIn(at) {
		return o.among(atomicObjects, at) && !o.isNodeSelectorOfPod(at)
	}
	return o.hints[want.At].Whole && want.From == o.want || isSelector(live.Open()) && isSelector(want.Open())
}

// isNodeSelectorOfPod reports whether the place is the selector of a pod itself, to which admission adds the selector
// of the runtime class. No update can remove any part of it.
func (o *overlay) isNodeSelectorOfPod(at *site) bool {
	return at.name == "nodeSelector" && o.kind == "Pod" && at.up != nil && at.up.name == "spec" && at.up.up == nil
}

// isSelector reports whether an object has no members but those of a label selector.
func isSelector(b *tree.Branch) bool {
	for m := range b.Each {
		if name := string(m.Name); name != "matchLabels" && name != "matchExpressions" {
			return false
		}
	}
	return true
}

// isDropped reports whether the value is a zero that the server does not write.
func (o *overlay) isDropped(want *tree.Node, at *site) bool {
	switch want.Kind() {
	case '[':
		return len(want.Open().Items) == 0 && o.isBuiltIn(at)
	case '{':
		return want.Open().Len() == 0 && o.among(droppedMaps, at)
	}
	switch zero(want) {
	case "false":
		return o.among(droppedFalse, at)
	case "0":
		return o.among(droppedZero, at) || o.among(filledIn, at)
	case `""`:
		return o.among(droppedEmpty, at) || o.among(filledIn, at) || o.isZeroValue(want, at)
	}
	return want.Kind() == '"' && o.isZeroValue(want, at)
}

// zero returns the usual text of a zero in whatever way it is written, and the text of any other value unchanged.
func zero(n *tree.Node) string {
	text := string(n.Text())
	if mantissa, _, _ := strings.Cut(strings.ToLower(text), "e"); n.Kind() == '0' && strings.Trim(mantissa, "-0.") == "" {
		return "0"
	}
	return text
}

// isDefault reports whether live has the server's replacement of the wanted zero.
func (o *overlay) isDefault(live, want *tree.Node, at *site) bool {
	if at.item != nil {
		return false
	}
	switch zero(want) {
	case "false", "0", `""`:
		return o.among(filledIn, at) || o.isDefaultValue(live, at)
	}
	return false
}

// isDefaultValue reports whether a value of live is the default at its place.
func (o *overlay) isDefaultValue(live *tree.Node, at *site) bool {
	value := o.defaultAt(at)
	if value == "" {
		return false
	}
	s, err := tree.Read("a default", []byte(value))
	if err != nil {
		return false
	}
	n := s.Root()
	return tree.Same(live, &n)
}
