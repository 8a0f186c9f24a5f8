package strategy

import (
	"maps"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

func checkStatefulSet(v value) {
	spec := v.at("spec")
	if policy := spec.at("podManagementPolicy"); policy.text() != "OrderedReady" && policy.text() != "Parallel" {
		policy.invalid("must be 'OrderedReady' or 'Parallel'")
	}
	checkStatefulSetStrategy(spec.at("updateStrategy"))
	retention := spec.at("persistentVolumeClaimRetentionPolicy")
	retention.at("whenDeleted").among("Retain", "Delete")
	retention.at("whenScaled").among("Retain", "Delete")
	spec.at("replicas").natural()
	spec.at("minReadySeconds").natural()
	if start := spec.at("ordinals", "start"); start.exists() {
		start.natural()
	}
	if v.creates() {
		for _, claim := range spec.at("volumeClaimTemplates").items() {
			checkClaimSpec(claim.at("spec"))
		}
		if name := spec.at("serviceName"); name.text() != "" {
			name.fits(label(name.text()))
		}
	}
	if checkRequiredSelector(spec.at("selector")) {
		checkTemplate(completeSetTemplate(spec), selectsTemplate(spec))
	}
	for _, name := range []string{"selector", "podManagementPolicy"} {
		spec.at(name).immutable()
	}
	if claims := spec.at("volumeClaimTemplates"); v.updates && !sameSpec(claims.list(), before(claims).list()) {
		claims.invalid("field is immutable")
	}
	if name := spec.at("serviceName"); v.updates && name.text() != before(name).text() {
		name.invalid("field is immutable")
	}
}

func checkStatefulSetStrategy(v value) {
	rolling := v.at("rollingUpdate")
	switch v.at("type").text() {
	case "OnDelete":
		if rolling.exists() {
			rolling.invalid("only allowed for updateStrategy 'RollingUpdate'")
		}
	case "RollingUpdate":
		rolling.at("partition").natural()
		if unavailable := rolling.at("maxUnavailable"); unavailable.exists() {
			unavailable.share(true)
			if unavailable.shareNumber() == 0 {
				unavailable.invalid("cannot be 0")
			}
		}
	default:
		v.invalid("must be 'RollingUpdate' or 'OnDelete'")
	}
}

// completeSetTemplate returns the template of a StatefulSet as its controller uses it: with the volumes of the claims,
// and without the host name and the subdomain, which the controller sets.
func completeSetTemplate(spec value) value {
	template := spec.at("template")
	whole, _ := template.is.(jsontree.Object)
	if template.is = maps.Clone(whole); inner(whole, "spec") == nil {
		return template
	}
	pod := maps.Clone(inner(whole, "spec"))
	delete(pod, "hostname")
	delete(pod, "subdomain")
	claims := map[string]bool{}
	var volumes []any
	for _, claim := range spec.at("volumeClaimTemplates").items() {
		if name := claim.at("metadata", "name").text(); !claims[name] {
			claims[name] = true
			volumes = append(volumes, jsontree.Object{"name": name, "persistentVolumeClaim": jsontree.Object{"claimName": name}})
		}
	}
	for _, volume := range template.at("spec", "volumes").items() {
		if !claims[volume.at("name").text()] {
			volumes = append(volumes, volume.is)
		}
	}
	if len(volumes) > 0 {
		pod["volumes"] = volumes
	}
	template.is.(jsontree.Object)["spec"] = pod
	return template
}
