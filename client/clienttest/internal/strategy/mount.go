package strategy

import (
	"slices"
	"strings"
)

// checkMounts checks the volumes that a container mounts.
func (p pod) checkMounts(c value) {
	list := c.at("volumeMounts")
	var paths []string
	for _, m := range list.items() {
		name, path := m.at("name"), m.at("mountPath")
		name.must()
		if _, found := p.volumes[name.text()]; !found {
			name.notFound()
		}
		path.must()
		if slices.Contains(paths, path.text()) {
			path.invalid("must be unique")
		}
		paths = append(paths, path.text())
		for _, device := range c.at("volumeDevices").items() {
			if device.at("name").text() == name.text() {
				name.invalid("must not already exist in volumeDevices")
			}
			if device.at("devicePath").text() == path.text() {
				path.invalid("must not already exist as a path in volumeDevices")
			}
		}
		if sub := m.at("subPath"); sub.text() != "" {
			sub.as(list.at("subPath")).fits(descending(sub.text()))
		}
		if sub := m.at("subPathExpr"); sub.text() != "" {
			if m.at("subPath").text() != "" {
				sub.invalid("subPathExpr and subPath are mutually exclusive")
			}
			sub.as(list.at("subPathExpr")).fits(descending(sub.text()))
		}
		checkMountMode(c, list, m)
	}
}

// checkMountMode checks how a volume is mounted. As in a real server, the place has no index.
func checkMountMode(c, list, m value) {
	propagation := m.at("mountPropagation").as(list.at("mountPropagation"))
	if propagation.exists() {
		propagation.among("Bidirectional", "HostToContainer", "None")
		if propagation.text() == "Bidirectional" && !c.at("securityContext", "privileged").flag() {
			propagation.forbidden("Bidirectional mount propagation is available only to privileged containers")
		}
	}
	recursive := m.at("recursiveReadOnly").as(list.at("recursiveReadOnly"))
	if !recursive.exists() || !recursive.among("Disabled", "Enabled", "IfPossible") || recursive.text() == "Disabled" {
		return
	}
	if !m.at("readOnly").flag() {
		recursive.forbidden("may only be specified when readOnly is true")
	}
	if propagation.exists() && propagation.text() != "None" {
		recursive.forbidden("may only be specified when mountPropagation is None or not specified")
	}
}

// checkDevices checks the volumes that a container uses as block devices.
func (p pod) checkDevices(c value) {
	var names, paths []string
	for _, d := range c.at("volumeDevices").items() {
		name, path := d.at("name"), d.at("devicePath")
		name.must()
		volume, found := p.volumes[name.text()]
		switch {
		case !found:
			name.notFound()
		case !volume.at("persistentVolumeClaim").exists() && !volume.at("ephemeral").exists():
			name.invalid("can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		if name.text() != "" && slices.Contains(names, name.text()) {
			name.invalid("must be unique")
		}
		names = append(names, name.text())
		path.must()
		if slices.Contains(paths, path.text()) {
			path.invalid("must be unique")
		}
		if !path.fits(noBackstep(path.text())) {
			continue
		}
		paths = append(paths, path.text())
		for _, mount := range c.at("volumeMounts").items() {
			if mount.at("name").text() == name.text() {
				name.invalid("must not already exist in volumeMounts")
			}
			if mount.at("mountPath").text() == path.text() {
				path.invalid("must not already exist as a path in volumeMounts")
			}
		}
	}
}

// noBackstep is the form of a path that does not leave its directory.
func noBackstep(path string) []string {
	if slices.Contains(strings.Split(path, "/"), "..") {
		return []string{"must not contain '..'"}
	}
	return nil
}

// descending is the form of a relative path that does not leave its directory.
func descending(path string) []string {
	if strings.HasPrefix(path, "/") {
		return append(noBackstep(path), "must be a relative path")
	}
	return noBackstep(path)
}

// unreserved is the form of a path that is descending and does not start with two dots.
func unreserved(path string) []string {
	why := descending(path)
	if strings.HasPrefix(path, "..") && !strings.HasPrefix(path, "../") {
		why = append(why, "must not start with '..'")
	}
	return why
}
