package kubectl

import (
	"cmp"
	"strings"
)

// storagePrinters are the printers of volumes and of devices.
func storagePrinters() map[string]Printer {
	return map[string]Printer{
		"persistentvolumes": func(o *Object) []any {
			claim := ""
			if ref := o.at("spec.claimRef"); ref.v != nil {
				claim = ref.at("namespace").text() + "/" + ref.at("name").text()
			}
			return []any{
				o.name(), o.at("spec.capacity.storage").scalar(), o.at("spec.accessModes").modes(),
				o.at("spec.persistentVolumeReclaimPolicy").text(), o.volumePhase(), claim, o.storageClass(),
				o.at("spec.volumeAttributesClassName").or(unset), o.at("status.reason").text(), o.age(), o.at("spec.volumeMode").or(unset),
			}
		},
		"persistentvolumeclaims": func(o *Object) []any {
			capacity, modes, volume := "", "", o.at("spec.volumeName").text()
			if volume != "" {
				capacity, modes = o.at("status.capacity.storage").or("0"), o.at("status.accessModes").modes()
			}
			return []any{
				o.name(), o.volumePhase(), volume, capacity, modes, o.storageClass(),
				o.at("spec.volumeAttributesClassName").or(unset), o.age(), o.at("spec.volumeMode").or(unset),
			}
		},
		"storageclasses.storage.k8s.io": func(o *Object) []any {
			return []any{
				o.name(), o.at("provisioner").text(), o.at("reclaimPolicy").or("Delete"), o.at("volumeBindingMode").or("Immediate"),
				o.at("allowVolumeExpansion").isTrue(), o.age(),
			}
		},
		"csidrivers.storage.k8s.io": func(o *Object) []any {
			required := true
			if o.has("spec.attachRequired") {
				required = o.at("spec.attachRequired").isTrue()
			}
			var audiences []string
			for _, r := range o.at("spec.tokenRequests").list() {
				audiences = append(audiences, r.at("audience").text())
			}
			tokens := unset
			if o.has("spec.tokenRequests") {
				tokens = strings.Join(audiences, ",")
			}
			return []any{
				o.name(), required, o.at("spec.podInfoOnMount").isTrue(), o.at("spec.storageCapacity").isTrue(), tokens,
				o.at("spec.requiresRepublish").isTrue(), cmp.Or(strings.Join(o.at("spec.volumeLifecycleModes").texts(), ","), none), o.age(),
			}
		},
		"csinodes.storage.k8s.io":             printCount("spec.drivers"),
		"csistoragecapacities.storage.k8s.io": printCreated,
		"volumeattachments.storage.k8s.io": func(o *Object) []any {
			return []any{
				o.name(), o.at("spec.attacher").text(), o.at("spec.source.persistentVolumeName").text(), o.at("spec.nodeName").text(),
				o.at("status.attached").isTrue(), o.age(),
			}
		},
		"volumeattributesclasses.storage.k8s.io": paths("driverName"),
		"deviceclasses.resource.k8s.io":          paths(),
		"resourceclaimtemplates.resource.k8s.io": paths(),
		"resourceclaims.resource.k8s.io": func(o *Object) []any {
			var states []string
			if o.meta.DeletionTimestamp != nil {
				states = append(states, "deleted")
			}
			switch {
			case o.has("status.allocation") && o.at("status.reservedFor").size() > 0:
				states = append(states, "allocated", "reserved")
			case o.has("status.allocation"):
				states = append(states, "allocated")
			case o.meta.DeletionTimestamp == nil:
				states = append(states, "pending")
			}
			return []any{o.name(), strings.Join(states, ","), o.age()}
		},
		"resourceslices.resource.k8s.io": paths("spec.nodeName", "spec.driver", "spec.pool.name"),
		"devicetaintrules.resource.k8s.io": func(o *Object) []any {
			taint := o.at("spec.taint")
			return []any{
				o.name(), taint.at("key").text(), taint.at("value").text(), taint.at("effect").text(), o.since(taint.at("timeAdded")), o.age(),
			}
		},
	}
}

func (o *Object) volumePhase() string {
	if o.meta.DeletionTimestamp != nil {
		return "Terminating"
	}
	return o.at("status.phase").text()
}

func (o *Object) storageClass() string {
	return cmp.Or(o.meta.Annotations["volume.beta.kubernetes.io/storage-class"], o.at("spec.storageClassName").text())
}

// modes prints access modes in the order of a real server, whatever their order in the object.
func (v value) modes() string {
	var out []string
	for _, m := range [][2]string{
		{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"},
	} {
		for _, has := range v.texts() {
			if has == m[0] {
				out = append(out, m[1])
				break
			}
		}
	}
	return strings.Join(out, ",")
}
