package strategy

import (
	"cmp"
	"maps"
	"path"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// addPersistentVolumeDefaults adds the defaults of the sources of persistent volumes.
func addPersistentVolumeDefaults(all map[string]func(jsontree.Object)) {
	for _, name := range []string{"ISCSI", "RBD", "ScaleIO"} { // they have the defaults of the sources in a pod
		all["core.v1."+name+"PersistentVolumeSource"] = func(m jsontree.Object) { all["core.v1."+name+"VolumeSource"](m) }
	}
}

// persistentSources returns the sources of persistent volumes. If a volume has several, all but the first in this order
// are reported. Most sources are those of the volumes of a pod.
func persistentSources() []source {
	own := map[string]source{
		"cinder":    {name: "cinder", required: "volumeID", check: checkSecretPlace},
		"glusterfs": {name: "glusterfs", required: "endpoints path", check: checkGlusterNamespace},
		"cephfs":    {name: "cephfs", twice: "cephFS", required: "monitors"},
		"iscsi":     {name: "iscsi", required: "targetPortal iqn", check: checkPersistentISCSI},
		"azureFile": {name: "azureFile", required: "secretName shareName", check: checkSecretNamespace},
		"local":     {name: "local", required: "path", check: checkLocal},
		"storageos": {name: "storageos", check: checkPersistentStorageOS},
		"csi":       {name: "csi", required: "volumeHandle", check: checkPersistentCSI},
	}
	for _, s := range volumeSources() {
		if _, found := own[s.name]; !found {
			own[s.name] = s
		}
	}
	names := strings.Fields("hostPath gcePersistentDisk awsElasticBlockStore glusterfs flocker nfs rbd quobyte cephfs iscsi cinder " +
		"fc flexVolume azureFile vsphereVolume photonPersistentDisk portworxVolume azureDisk scaleIO local storageos csi")
	all := make([]source, len(names))
	for i, name := range names {
		all[i] = own[name]
	}
	return all
}

func checkPersistentVolume(v value) {
	spec := v.at("spec")
	checkAccessModes(spec.at("accessModes"))
	checkCapacity(spec.at("capacity"))
	policy := spec.at("persistentVolumeReclaimPolicy")
	policy.among("Delete", "Recycle", "Retain")
	if nodes := spec.at("nodeAffinity"); nodes.exists() {
		if required := nodes.at("required"); required.exists() {
			checkNodeSelector(required)
		} else {
			required.required("must specify required node constraints")
		}
	}
	checkPersistentSource(spec)
	if on := spec.at("hostPath"); policy.text() == "Recycle" && on.exists() && path.Clean(on.at("path").text()) == "/" {
		policy.forbidden("may not be 'recycle' for a hostPath mount of '/'")
	}
	if class := spec.at("storageClassName"); class.text() != "" {
		class.fits(subdomain(class.text()))
	}
	spec.at("volumeMode").among("Block", "Filesystem")
	checkAttributesClass(spec)
	if v.updates {
		checkPersistentUpdate(spec)
	}
}

// checkAttributesClass checks the VolumeAttributesClass of a volume.
func checkAttributesClass(spec value) {
	class := spec.at("volumeAttributesClassName")
	if !class.exists() {
		return
	}
	if class.must() {
		class.fits(subdomain(class.text()))
	}
	if csi := spec.at("csi"); !csi.exists() {
		csi.required("has to be specified when using volumeAttributesClassName")
	}
}

func checkCapacity(v value) {
	v.must()
	if !v.key("storage").exists() || v.len() > 1 {
		v.unsupported("storage")
	}
	for _, name := range v.keys() {
		if q := v.key(name); q.amount().Sign() <= 0 {
			q.invalid("must be greater than zero")
		}
	}
}

// checkPersistentSource checks that a persistent volume has one source, and checks that source.
func checkPersistentSource(spec value) {
	found := false
	for _, s := range persistentSources() {
		v := spec.at(s.name)
		switch {
		case !v.exists():
			continue
		case found && s.name != "flexVolume": // a server does not count this one
			v.as(spec.at(cmp.Or(s.twice, s.name))).forbidden("may not specify more than 1 volume type")
			continue
		}
		found = true
		v = v.as(spec.at(cmp.Or(s.shown, s.name)))
		for name := range strings.FieldsSeq(s.required) {
			v.at(name).must()
		}
		if s.check != nil {
			s.check(pod{}, v)
		}
		if s.name == "local" && !spec.at("nodeAffinity").exists() {
			spec.at("nodeAffinity").required("Local volume requires node affinity")
		}
	}
	if !found {
		spec.required("must specify a volume type")
	}
}

// checkPersistentUpdate checks the changes of a persistent volume.
func checkPersistentUpdate(spec value) {
	of := spec.path
	for _, s := range persistentSources() {
		source := spec.at(s.name)
		secret := source.at("controllerExpandSecretRef") // it may be set later
		if s.name == "csi" && source.exists() && before(source).exists() && !before(secret).exists() {
			source.is = lacking(source.is, "controllerExpandSecretRef")
		}
		if !jsontree.Equal(source.is, source.was) {
			source.path = of + ".persistentvolumesource"
			source.forbidden("is immutable after creation")
			break
		}
	}
	mode, nodes := spec.at("volumeMode"), spec.at("nodeAffinity")
	mode.path = "volumeMode"
	mode.immutable()
	if nodes.path = "nodeAffinity"; before(nodes).exists() && !sameSpec(sameKeys(nodes.is, nodes.was), nodes.was) {
		nodes.invalid("field is immutable, except for updating from beta label to GA")
	}
	if class := spec.at("volumeAttributesClassName"); !class.exists() && before(class).exists() {
		class.forbidden("update from non-nil value to nil is forbidden")
	}
}

// sameKeys returns the affinity of a volume with the old keys of its expressions, where a key may change: a beta label
// of nodes may be replaced by its later name. A real server also accepts an empty key.
func sameKeys(is, was any) any {
	names := map[any]any{
		"beta.kubernetes.io/arch": "kubernetes.io/arch", "beta.kubernetes.io/os": "kubernetes.io/os",
		"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
		"failure-domain.beta.kubernetes.io/zone":   "topology.kubernetes.io/zone",
		"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
	}
	is = jsontree.Clone(is)
	terms := value{is: is, was: was}.at("required", "nodeSelectorTerms")
	for _, term := range terms.items() {
		for _, e := range term.at("matchExpressions").items() {
			key := e.at("key")
			later := names[key.was]
			if later == nil {
				later = ""
			}
			if m, isObject := e.is.(jsontree.Object); isObject && key.was != nil && m["key"] == later {
				m["key"] = key.was
			}
		}
	}
	return is
}

// lacking returns a copy of an object without a member.
func lacking(of any, name string) any {
	m, _ := of.(jsontree.Object)
	m = maps.Clone(m)
	delete(m, name)
	return m
}

func checkLocal(_ pod, v value) { v.at("path").fits(noBackstep(v.at("path").text())) }

func checkGlusterNamespace(_ pod, v value) {
	if namespace := v.at("endpointsNamespace"); namespace.exists() {
		namespace.fits(label(namespace.text()))
	}
}

func checkPersistentISCSI(p pod, v value) {
	checkISCSI(p, v)
	checkSecretRef(p, v)
}

// checkSecretPlace checks a reference to a secret with its namespace.
func checkSecretPlace(_ pod, v value) {
	if secret := v.at("secretRef"); secret.exists() {
		secret.at("name").must()
		secret.at("namespace").must()
	}
}

func checkSecretNamespace(_ pod, v value) {
	if namespace := v.at("secretNamespace"); namespace.exists() {
		namespace.must()
	}
}

func checkPersistentStorageOS(p pod, v value) {
	checkStorageOS(p, v)
	checkSecretPlace(p, v)
}

func checkPersistentCSI(_ pod, v value) {
	checkDriverName(v.at("driver"))
	for _, name := range []string{"controllerPublish", "controllerExpand", "nodePublish", "nodeExpand"} {
		secret := v.at(name + "SecretRef")
		if !secret.exists() {
			continue
		}
		if secret.at("name").must() {
			secret.at("name").fits(subdomain(secret.at("name").text()))
		}
		if secret.at("namespace").must() {
			secret.at("namespace").fits(label(secret.at("namespace").text()))
		}
	}
}
