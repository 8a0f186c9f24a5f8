package strategy

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

func addClaims(all map[meta.GVK]kind) {
	all[meta.GVK{Version: "v1", Kind: "PersistentVolumeClaim"}] = kind{check: checkClaim, status: checkClaimStatus}
	all[meta.GVK{Version: "v1", Kind: "PersistentVolume"}] = kind{check: checkPersistentVolume}
	add := func(name string, k kind) { all[meta.GVK{Group: "storage.k8s.io", Version: "v1", Kind: name}] = k }
	add("StorageClass", kind{check: checkStorageClass})
	add("CSIDriver", kind{check: checkCSIDriver})
	add("CSINode", kind{check: checkCSINode})
	add("CSIStorageCapacity", kind{check: checkCSIStorageCapacity})
	add("VolumeAttachment", kind{check: checkVolumeAttachment, status: checkVolumeAttachment})
	add("VolumeAttributesClass", kind{check: checkVolumeAttributesClass})
}

func addClaimDefaults(all map[string]func(jsontree.Object)) {
	all["core.v1.PersistentVolumeClaim"] = func(m jsontree.Object) {
		setText(section(m, "status"), "phase", "Pending")
		section(m, "spec")
	}
	all["core.v1.PersistentVolumeClaimSpec"] = func(m jsontree.Object) { setDefault(m, "volumeMode", "Filesystem") }
	all["core.v1.PersistentVolume"] = func(m jsontree.Object) {
		setText(section(m, "status"), "phase", "Pending")
		spec := section(m, "spec")
		setText(spec, "persistentVolumeReclaimPolicy", "Retain")
		setDefault(spec, "volumeMode", "Filesystem")
	}
	all["storage.v1.StorageClass"] = func(m jsontree.Object) {
		setDefault(m, "reclaimPolicy", "Delete")
		setDefault(m, "volumeBindingMode", "Immediate")
	}
	all["storage.v1.CSIDriver"] = defaultCSIDriver
	addPersistentVolumeDefaults(all)
}

func checkClaim(v value) {
	spec := v.at("spec")
	checkClaimSpec(spec)
	if v.updates {
		checkClaimUpdate(v)
	}
}

// checkClaimSpec checks the spec of a claim, also in a template.
func checkClaimSpec(v value) {
	checkAccessModes(v.at("accessModes"))
	checkSelector(v.at("selector"))
	size := v.at("resources")
	size.path += "[storage]"
	switch request := v.at("resources", "requests").key("storage"); {
	case !request.exists():
		size.required("")
	case request.amount().Sign() <= 0:
		size.invalid("must be greater than zero")
	}
	for _, name := range []string{"storageClassName", "volumeAttributesClassName"} {
		if class := v.at(name); class.text() != "" {
			class.fits(subdomain(class.text()))
		}
	}
	if mode := v.at("volumeMode"); mode.exists() {
		mode.among("Block", "Filesystem")
	}
	checkDataSources(v)
}

// checkAccessModes checks the access modes of a volume or of a claim.
func checkAccessModes(v value) {
	if v.len() == 0 {
		v.required("")
	}
	single, others := false, false
	for _, mode := range v.items() {
		switch mode.text() {
		case "ReadWriteOncePod":
			single = true
		case "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany":
			others = true
		default:
			v.unsupported("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
		}
	}
	if single && others {
		v.forbidden("may not use ReadWriteOncePod with other access modes")
	}
}

func checkDataSources(v value) {
	source, ref := v.at("dataSource"), v.at("dataSourceRef")
	for _, s := range []value{source, ref} {
		if s.exists() {
			checkDataSource(s)
		}
	}
	namespace := ref.at("namespace").text()
	switch {
	case namespace != "":
		ref.at("namespace").fits(label(namespace))
		if source.exists() {
			v.invalid("dataSource may not be specified when dataSourceRef.namespace is specified")
		}
	case source.exists() && ref.exists():
		for _, name := range []string{"apiGroup", "kind", "name"} {
			if !same(source.at(name).is, ref.at(name).is) {
				v.invalid("dataSource must match dataSourceRef")
				break
			}
		}
	}
}

func checkDataSource(v value) {
	v.at("name").must()
	v.at("kind").must()
	group := v.at("apiGroup")
	switch {
	case group.text() != "":
		if !before(group).exists() { // otherwise a server tolerates any group
			group.fits(subdomain(group.text()))
		}
	case v.at("kind").text() != "PersistentVolumeClaim":
		v.invalid("must be 'PersistentVolumeClaim' when referencing the default apiGroup")
	}
}
