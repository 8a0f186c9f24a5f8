package strategy

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

func addWorkloads(all map[meta.GVK]kind) {
	add := func(name string, k kind) { all[meta.GVK{Group: "apps", Version: "v1", Kind: name}] = k }
	add("Deployment", kind{check: checkDeployment, status: checkDeploymentStatus})
	add("ReplicaSet", kind{check: checkReplicaSet, status: checkReplicaSetStatus})
	add("StatefulSet", kind{check: checkStatefulSet, status: checkStatefulSetStatus})
	add("DaemonSet", kind{check: checkDaemonSet, status: checkDaemonSetStatus})
	add("ControllerRevision", kind{check: checkControllerRevision})
	all[meta.GVK{Version: "v1", Kind: "ReplicationController"}] = kind{
		check: checkReplicationController, status: checkReplicaSetStatus,
	}
}

func addWorkloadDefaults(all map[string]func(jsontree.Object)) {
	all["apps.v1.Deployment"] = defaultDeployment
	all["apps.v1.DaemonSet"] = defaultDaemonSet
	all["apps.v1.StatefulSet"] = defaultStatefulSet
	all["apps.v1.ReplicaSet"] = func(m jsontree.Object) {
		setDefault(specWithTemplate(m), "replicas", number(1))
		setDefault(section(m, "status"), "replicas", number(0))
	}
	all["core.v1.ReplicationController"] = defaultReplicationController
	addConditionDefaults(all)
}

// specWithTemplate returns the spec of an object. It adds the members on the way to the template of a pod, so that they
// get their defaults too.
func specWithTemplate(m jsontree.Object) jsontree.Object {
	spec := section(m, "spec")
	section(section(spec, "template"), "spec")
	return spec
}

func defaultDeployment(m jsontree.Object) {
	spec := specWithTemplate(m)
	setDefault(spec, "replicas", number(1))
	setDefault(spec, "revisionHistoryLimit", number(10))
	setDefault(spec, "progressDeadlineSeconds", number(600))
	how := section(spec, "strategy")
	setText(how, "type", "RollingUpdate")
	if how["type"] == "RollingUpdate" {
		rolling := section(how, "rollingUpdate")
		setDefault(rolling, "maxUnavailable", "25%")
		setDefault(rolling, "maxSurge", "25%")
	}
}

func defaultDaemonSet(m jsontree.Object) {
	spec := specWithTemplate(m)
	setDefault(spec, "revisionHistoryLimit", number(10))
	how := section(spec, "updateStrategy")
	setText(how, "type", "RollingUpdate")
	if how["type"] == "RollingUpdate" {
		rolling := section(how, "rollingUpdate")
		setDefault(rolling, "maxUnavailable", number(1))
	}
	if rolling := inner(how, "rollingUpdate"); rolling != nil {
		setDefault(rolling, "maxUnavailable", number(0))
		setDefault(rolling, "maxSurge", number(0))
	}
}

func defaultStatefulSet(m jsontree.Object) {
	setDefault(section(m, "status"), "replicas", number(0))
	spec := specWithTemplate(m)
	setText(spec, "podManagementPolicy", "OrderedReady")
	setDefault(spec, "replicas", number(1))
	setDefault(spec, "revisionHistoryLimit", number(10))
	how := section(spec, "updateStrategy")
	if text, _ := how["type"].(string); text == "" {
		how["type"] = "RollingUpdate"
		section(how, "rollingUpdate")
	}
	if rolling := inner(how, "rollingUpdate"); rolling != nil && how["type"] == "RollingUpdate" {
		setDefault(rolling, "partition", number(0))
		setDefault(rolling, "maxUnavailable", number(1))
	}
	if ordinals := inner(spec, "ordinals"); ordinals != nil {
		setDefault(ordinals, "start", number(0))
	}
	claims, _ := spec["volumeClaimTemplates"].([]any)
	for _, claim := range claims {
		if m, ok := claim.(jsontree.Object); ok {
			m["apiVersion"], m["kind"] = "v1", "PersistentVolumeClaim"
		}
	}
	retention := section(spec, "persistentVolumeClaimRetentionPolicy")
	setText(retention, "whenDeleted", "Retain")
	setText(retention, "whenScaled", "Retain")
}

func defaultReplicationController(m jsontree.Object) {
	setDefault(section(m, "status"), "replicas", number(0))
	spec := section(m, "spec")
	setDefault(spec, "replicas", number(1))
	if template := inner(spec, "template"); template != nil {
		section(template, "spec")
	}
	labels := inner(inner(inner(spec, "template"), "metadata"), "labels")
	if len(inner(spec, "selector")) == 0 && len(labels) > 0 {
		spec["selector"] = jsontree.Clone(labels)
	}
}

func checkDeployment(v value) {
	spec := v.at("spec")
	spec.at("replicas").natural()
	spec.at("minReadySeconds").natural()
	checkReplicaTemplate(spec)
	checkDeploymentStrategy(spec.at("strategy"))
	if limit := spec.at("revisionHistoryLimit"); limit.exists() {
		limit.natural()
	}
	if deadline := spec.at("progressDeadlineSeconds"); deadline.exists() {
		deadline.natural()
		if deadline.number() <= spec.at("minReadySeconds").number() {
			deadline.invalid("must be greater than minReadySeconds")
		}
	}
	spec.at("selector").immutable()
}

func checkDeploymentStrategy(v value) {
	rolling := v.at("rollingUpdate")
	switch v.at("type").text() {
	case "Recreate":
		if rolling.exists() {
			rolling.forbidden("may not be specified when strategy `type` is 'Recreate'")
		}
	case "RollingUpdate":
		unavailable, surge := rolling.at("maxUnavailable"), rolling.at("maxSurge")
		unavailable.share(true)
		surge.share(false)
		if unavailable.shareNumber() == 0 && surge.shareNumber() == 0 {
			unavailable.invalid("may not be 0 when `maxSurge` is 0")
		}
	default:
		v.unsupported("Recreate", "RollingUpdate")
	}
}

func checkReplicaSet(v value) {
	spec := v.at("spec")
	spec.at("replicas").natural()
	spec.at("minReadySeconds").natural()
	checkReplicaTemplate(spec)
	spec.at("selector").immutable()
}

// checkReplicaTemplate checks the selector and the template in the spec of a Deployment or of a ReplicaSet.
func checkReplicaTemplate(spec value) {
	if checkRequiredSelector(spec.at("selector")) {
		checkTemplate(spec.at("template"), selectsTemplate(spec))
	}
}

// checkRequiredSelector checks a selector that must be there and must not be empty. It returns whether the selector can
// be used: a server takes an absent one for a selector that selects nothing.
func checkRequiredSelector(v value) bool {
	switch {
	case !v.exists():
		v.required("")
	case v.reports(checkSelector):
		v.invalid("invalid label selector")
		return false
	case isEmptySelector(v):
		v.invalid("must not be empty")
	}
	return true
}

// selectsTemplate reports whether the selector in the spec of a workload selects the labels of its template. An absent
// selector selects nothing.
func selectsTemplate(spec value) bool {
	selector := spec.at("selector")
	return selector.exists() && selects(selector, spec.at("template", "metadata", "labels"))
}

// checkTemplate checks the template of a workload whose pods always restart. selected says whether its selector selects
// the labels.
func checkTemplate(template value, selected bool) {
	if !selected {
		template.at("metadata", "labels").invalid("`selector` does not match template `labels`")
	}
	checkPodTemplate(template)
	if policy := template.at("spec", "restartPolicy"); policy.text() != "Always" {
		policy.unsupported("Always")
	}
	if deadline := template.at("spec", "activeDeadlineSeconds"); deadline.exists() {
		deadline.forbidden("not supported in this workload")
	}
}

func checkReplicationController(v value) {
	spec := v.at("spec")
	spec.at("replicas").natural()
	spec.at("minReadySeconds").natural()
	selector, template := spec.at("selector"), spec.at("template")
	selector.must()
	if !template.exists() {
		template.required("")
		return
	}
	matches := true
	for _, name := range selector.keys() {
		label := template.at("metadata", "labels").key(name)
		matches = matches && label.exists() && label.text() == selector.key(name).text()
	}
	checkTemplate(template, matches)
}

func checkControllerRevision(v value) {
	v.at("revision").natural()
	data := v.at("data")
	if _, isObject := data.is.(jsontree.Object); v.creates() && !isObject {
		data.required("data must be a valid JSON object")
	}
	if v.updates && !jsontree.Equal(data.is, data.was) {
		data.invalid("field is immutable")
	}
}
