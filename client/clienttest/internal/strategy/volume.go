package strategy

import (
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// addVolumeDefaults adds the defaults of the sources of volumes.
func addVolumeDefaults(all map[string]func(jsontree.Object)) {
	all["core.v1.Volume"] = completeVolume
	for name, texts := range map[string]map[string]string{
		"ISCSIVolumeSource":   {"iscsiInterface": "default"},
		"RBDVolumeSource":     {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
		"ScaleIOVolumeSource": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
	} {
		all["core.v1."+name] = func(m jsontree.Object) {
			for member, text := range texts {
				setText(m, member, text)
			}
			if _, found := m["secretRef"]; !found && name == "ScaleIOVolumeSource" {
				m["secretRef"] = nil // which the type always writes
			}
		}
	}
	for name, values := range map[string]jsontree.Object{
		"HostPathVolumeSource":          {"type": ""},
		"SecretVolumeSource":            {"defaultMode": number(0o644)},
		"ConfigMapVolumeSource":         {"defaultMode": number(0o644)},
		"DownwardAPIVolumeSource":       {"defaultMode": number(0o644)},
		"ProjectedVolumeSource":         {"defaultMode": number(0o644)},
		"ServiceAccountTokenProjection": {"expirationSeconds": number(3600)},
		"AzureDiskVolumeSource":         {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": false, "kind": "Shared"},
	} {
		all["core.v1."+name] = func(m jsontree.Object) {
			for member, v := range values {
				setDefault(m, member, v)
			}
		}
	}
}

// completeVolume makes a volume without a source an emptyDir.
func completeVolume(m jsontree.Object) {
	image := inner(m, "image")
	if image != nil {
		reference, _ := image["reference"].(string)
		setText(image, "pullPolicy", pullPolicy(reference))
	}
	for name := range m {
		if name != "name" {
			return
		}
	}
	m["emptyDir"] = jsontree.Object{}
}

// source is a kind of source of a volume.
type source struct {
	name     string
	shown    string // the name in errors about its fields, if it differs
	twice    string // the name in errors about a second source, if it differs
	required string // the names of fields that must not be empty
	check    func(p pod, v value)
}

// volumeSources returns the sources, in the order in which a second one is reported.
var volumeSources = sync.OnceValue(func() []source {
	return []source{
		{name: "emptyDir", check: func(_ pod, v value) {
			if v.at("sizeLimit").isNegative() {
				v.at("sizeLimit").forbidden("SizeLimit field must be a valid resource quantity")
			}
		}},
		{name: "hostPath", check: func(_ pod, v value) {
			if path := v.at("path"); path.must() {
				path.fits(noBackstep(path.text()))
				v.at("type").among("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
			}
		}},
		{name: "gitRepo", required: "repository", check: func(_ pod, v value) {
			v.at("directory").fits(descending(v.at("directory").text()))
		}},
		{name: "gcePersistentDisk", shown: "persistentDisk", required: "pdName", check: checkPartition},
		{name: "awsElasticBlockStore", required: "volumeID", check: checkPartition},
		{name: "secret", required: "secretName", check: checkFiles},
		{name: "nfs", required: "server path", check: func(_ pod, v value) {
			if path := v.at("path"); !strings.HasPrefix(path.text(), "/") {
				path.invalid("must be an absolute path")
			}
		}},
		{name: "iscsi", required: "targetPortal iqn", check: checkISCSI},
		{name: "glusterfs", required: "endpoints path"},
		{name: "flocker", check: checkFlocker},
		{name: "persistentVolumeClaim", required: "claimName"},
		{name: "rbd", required: "monitors image"},
		{name: "cinder", required: "volumeID", check: checkSecretRef},
		{name: "cephfs", twice: "cephFS", required: "monitors"},
		{name: "quobyte", required: "registry volume", check: checkQuobyte},
		{name: "downwardAPI", twice: "downwarAPI", check: checkDownwardAPI},
		{name: "fc", check: checkFC},
		{name: "flexVolume", required: "driver", check: checkFlex},
		{name: "configMap", required: "name", check: checkFiles},
		{name: "azureFile", required: "secretName shareName"},
		{name: "vsphereVolume", required: "volumePath"},
		{name: "photonPersistentDisk", required: "pdID"},
		{name: "portworxVolume", required: "volumeID"},
		{name: "azureDisk", required: "diskName diskURI", check: checkAzureDisk},
		{name: "storageos", check: checkStorageOS},
		{name: "projected", check: checkProjected},
		{name: "scaleIO", required: "gateway system volumeName"},
		{name: "csi", check: checkCSI},
		{name: "ephemeral", check: checkEphemeral},
		{name: "image", check: func(_ pod, v value) {
			v.at("reference").must()
			v.at("pullPolicy").oneOf("Always", "IfNotPresent", "Never")
		}},
	}
})

// checkVolumes checks the volumes of a pod, and returns the valid ones.
func checkVolumes(p pod) map[string]value {
	valid := map[string]value{}
	var seen names
	var created []string
	owner := p.metadata.at("name").text()
	sources := volumeSources()
	for _, v := range p.at("volumes").items() {
		if v.at("ephemeral").exists() && owner != "" {
			created = append(created, owner+"-"+v.at("name").text())
		}
	}
	for _, v := range p.at("volumes").items() {
		faults := len(p.to.causes)
		name := v.at("name")
		p.checkSource(v, sources)
		if name.must() {
			name.fits(label(name.text()))
		}
		if seen.has(name.text()) {
			name.duplicate()
		}
		if len(p.to.causes) == faults {
			seen.add(name)
			valid[name.text()] = v
		}
		if claim := v.at("persistentVolumeClaim", "claimName"); slices.Contains(created, claim.text()) {
			claim.invalid("must not reference a PVC that gets created for an ephemeral volume")
		}
	}
	return valid
}

// checkSource checks that a volume has one source, and checks that source.
func (p pod) checkSource(v value, sources []source) {
	found := false
	for _, s := range sources {
		is := v.at(s.name)
		switch {
		case !is.exists():
			continue
		case found && s.twice != "":
			is.as(v.at(s.twice)).forbidden("may not specify more than 1 volume type")
			continue
		case found:
			is.forbidden("may not specify more than 1 volume type")
			continue
		case s.shown != "":
			is = is.as(v.at(s.shown))
		}
		found = true
		for name := range strings.FieldsSeq(s.required) {
			is.at(name).must()
		}
		if s.check != nil {
			s.check(p, is)
		}
	}
	if iscsi := v.at("iscsi"); iscsi.at("initiatorName").exists() && len(v.at("name").text()+":"+iscsi.at("targetPortal").text()) > 64 {
		v.at("name").invalid("the volume's name and the targetPortal may have 64 characters if iscsi.initiatorName is specified")
	}
	if owner := p.metadata.at("name").text(); v.at("ephemeral").exists() && owner != "" && v.at("name").text() != "" {
		v.at("name").fits(subdomain(owner + "-" + v.at("name").text()))
	}
	if !found {
		v.required("must specify a volume type")
	}
}

// checkPartition checks the partition of a disk.
func checkPartition(_ pod, v value) { v.at("partition").between(0, 255) }

// checkSecretRef checks that a reference to a secret has a name.
func checkSecretRef(_ pod, v value) {
	if v.at("secretRef").exists() {
		v.at("secretRef", "name").must()
	}
}

// checkISCSI checks a volume of iSCSI.
func checkISCSI(_ pod, v value) {
	if v.at("iqn").text() != "" {
		checkQualifiedNode(v.at("iqn"))
	}
	v.at("lun").between(0, 255)
	if (v.at("chapAuthDiscovery").flag() || v.at("chapAuthSession").flag()) && !v.at("secretRef").exists() {
		v.at("secretRef").required("")
	}
	if name := v.at("initiatorName"); name.exists() {
		checkQualifiedNode(name.as(v.at("initiatorname")))
	}
}

// checkQualifiedNode checks the name of a node of iSCSI (RFC 3720 and RFC 3980).
func checkQualifiedNode(v value) {
	v.fits(matching(regexp.MustCompile(`^(iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)?|eui\.[[:alnum:]]{16}|naa\.[[:alnum:]]{32})$`))(v.text()))
}

// checkFlocker checks a volume of Flocker.
func checkFlocker(_ pod, v value) {
	name, id := v.at("datasetName").text(), v.at("datasetUUID").text()
	switch {
	case name == "" && id == "":
		v.required("one of datasetName and datasetUUID is required")
	case name != "" && id != "":
		v.invalid("datasetName and datasetUUID can not be specified simultaneously")
	}
	if strings.Contains(name, "/") {
		v.at("datasetName").invalid("must not contain '/'")
	}
}

// checkQuobyte checks a volume of Quobyte.
func checkQuobyte(_ pod, v value) {
	registry := v.at("registry")
	switch {
	case registry.text() == "":
	case len(v.at("tenant").text()) >= 65:
		v.at("tenant").required("must be a UUID and may not exceed a length of 64 characters")
	default:
		for pair := range strings.SplitSeq(registry.text(), ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				registry.invalid("must be a host:port pair or multiple pairs separated by commas")
			}
		}
	}
}

// checkFC checks a volume of Fibre Channel.
func checkFC(_ pod, v value) {
	names, ids, lun := v.at("targetWWNs"), v.at("wwids"), v.at("lun")
	switch {
	case names.len() == 0 && ids.len() == 0:
		names.required("must specify either targetWWNs or wwids, but not both")
	case names.len() > 0 && ids.len() > 0:
		names.invalid("targetWWNs and wwids can not be specified simultaneously")
	}
	switch {
	case names.len() == 0:
	case !lun.exists():
		lun.required("lun is required if targetWWNs is specified")
	default:
		lun.between(0, 255)
	}
}

// checkFlex checks a volume of a FlexVolume driver.
func checkFlex(_ pod, v value) {
	for _, name := range v.at("options").keys() {
		prefix, _, _ := strings.Cut("."+lowered(name), "/")
		if strings.HasSuffix(prefix, ".kubernetes.io") || strings.HasSuffix(prefix, ".k8s.io") {
			v.at("options").key(name).invalid("kubernetes.io and k8s.io namespaces are reserved")
		}
	}
}

// checkAzureDisk checks a disk of Azure.
func checkAzureDisk(_ pod, v value) {
	v.at("cachingMode").among("None", "ReadOnly", "ReadWrite")
	v.at("kind").among("Dedicated", "Managed", "Shared")
	start := "https://"
	if v.at("kind").text() == "Managed" {
		start = "/subscriptions/"
	}
	if !strings.HasPrefix(v.at("diskURI").text(), start) {
		v.at("diskURI").unsupported(start)
	}
}

// checkStorageOS checks a volume of StorageOS.
func checkStorageOS(p pod, v value) {
	if v.at("volumeName").must() {
		v.at("volumeName").fits(label(v.at("volumeName").text()))
	}
	if namespace := v.at("volumeNamespace"); namespace.text() != "" {
		namespace.fits(label(namespace.text()))
	}
	checkSecretRef(p, v)
}

// checkDriverName checks the name of a CSI driver.
func checkDriverName(v value) {
	if !v.must() {
		return
	}
	if len(v.text()) > 63 {
		v.tooLong(63)
	}
	v.fits(subdomain(lowered(v.text())))
}

// checkCSI checks a volume of a CSI driver.
func checkCSI(_ pod, v value) {
	checkDriverName(v.at("driver"))
	secret := v.at("nodePublishSecretRef", "name")
	if v.at("nodePublishSecretRef").exists() && secret.must() {
		secret.as(v.at("name")).fits(subdomain(secret.text()))
	}
}

// checkEphemeral checks the template of a claim.
func checkEphemeral(_ pod, v value) {
	template := v.at("volumeClaimTemplate")
	if !template.exists() {
		template.required("")
		return
	}
	checkTemplateMetadata(template.at("metadata"))
	checkClaimSpec(template.at("spec"))
}

// checkTemplateMetadata checks the metadata of a template, which has only annotations and labels.
func checkTemplateMetadata(metadata value) {
	checkAnnotations(metadata.at("annotations"))
	checkLabels(metadata.at("labels"))
	for _, name := range metadata.keys() {
		m := metadata.at(name)
		if name == "uid" {
			m.path = metadata.path + ".uID" // as in a real server's errors
		}
		if name != "annotations" && name != "labels" && (m.len() > 0 || isNumber(m.is)) {
			m.forbidden("cannot be set")
		}
	}
}
