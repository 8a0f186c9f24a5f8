package strategy

// checkVolumeAttachment checks a VolumeAttachment, even if only its status is written.
func checkVolumeAttachment(v value) {
	spec, status := v.at("spec"), v.at("status")
	if v.updates && !sameSpec(spec.is, spec.was) {
		spec.invalid("field is immutable")
	}
	checkDriverName(spec.at("attacher"))
	checkAttached(spec.at("source"))
	node := spec.at("nodeName")
	node.fits(subdomain(node.text()))
	size, metadata := 0, status.at("attachmentMetadata")
	for _, name := range metadata.keys() {
		size += len(name) + metadata.key(name).len()
	}
	if size > 256<<10 {
		metadata.tooLong(256 << 10)
	}
	for _, name := range []string{"attachError", "detachError"} {
		if message := status.at(name, "message"); message.len() > 1024 {
			message.tooLong(1024)
		}
		status.at(name, "errorCode").natural()
	}
}

// checkAttached checks which volume is attached.
func checkAttached(source value) {
	inline, name := source.at("inlineVolumeSpec"), source.at("persistentVolumeName")
	switch {
	case !inline.exists() && !name.exists():
		source.required("must specify exactly one of inlineVolumeSpec and persistentVolumeName")
	case inline.exists() && name.exists():
		source.forbidden("must specify exactly one of inlineVolumeSpec and persistentVolumeName")
	case inline.exists():
		checkInlineVolume(inline)
	default:
		name.must()
	}
	if name.exists() {
		name.fits(subdomain(name.text()))
	}
}

// checkInlineVolume checks the spec of a volume that was inline in a pod.
func checkInlineVolume(v value) {
	for _, name := range []string{"claimRef", "capacity", "nodeAffinity", "storageClassName"} {
		if m := v.at(name); m.exists() && m.is != "" {
			m.forbidden("may not be specified in the context of inline volumes")
		}
	}
	if policy := v.at("persistentVolumeReclaimPolicy"); policy.text() != "" && policy.text() != "Retain" {
		policy.forbidden("may only be Retain in the context of inline volumes")
	}
	if !v.at("csi").exists() {
		v.at("csi").required("has to be specified in the context of inline volumes")
	}
	checkAccessModes(v.at("accessModes"))
	checkPersistentSource(v)
	if mode := v.at("volumeMode"); mode.exists() && mode.text() != "Filesystem" {
		mode.forbidden("may only be Filesystem in the context of inline volumes")
	}
}
