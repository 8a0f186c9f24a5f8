package strategy

import (
	"slices"
	"strings"
)

// checkEnv checks the variables of a container.
func checkEnv(c value) {
	for _, v := range c.at("env").items() {
		if v.at("name").must() {
			v.at("name").fits(envName(v.at("name").text()))
		}
		if v.at("valueFrom").exists() {
			checkEnvSource(v)
		}
	}
	list := c.at("envFrom")
	for _, v := range list.items() {
		if prefix := v.at("prefix").text(); prefix != "" {
			v.at("prefix").fits(envName(prefix))
		}
		sources := 0
		for _, name := range []string{"configMapRef", "secretRef"} {
			if source := v.at(name); source.exists() {
				sources++
				if source.at("name").must() {
					source.at("name").fits(prefixOf(subdomain)(source.at("name").text()))
				}
			}
		}
		switch {
		case sources == 0:
			list.invalid("must specify one of: `configMapRef` or `secretRef`")
		case sources > 1:
			list.invalid("may not have more than one field specified at a time")
		}
	}
}

// prefixOf returns the form of the start of a name.
func prefixOf(form func(string) []string) func(string) []string {
	return func(s string) []string {
		if strings.HasSuffix(s, "-") && len(s) > 1 {
			s = s[:len(s)-1] + "a"
		}
		return form(s)
	}
}

// checkEnvSource checks where the value of a variable comes from.
func checkEnvSource(v value) {
	from := v.at("valueFrom")
	sources := 0
	for _, name := range []string{"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"} {
		source := from.at(name)
		if !source.exists() {
			continue
		}
		sources++
		switch name {
		case "fieldRef":
			checkFieldRef(source, "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
				"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs")
		case "resourceFieldRef":
			checkResourceRef(source, false)
		case "fileKeyRef":
			checkFileKey(source)
		default:
			source.at("name").fits(subdomain(source.at("name").text()))
			if source.at("key").must() {
				source.at("key").fits(configKey(source.at("key").text()))
			}
		}
	}
	switch {
	case sources == 0:
		from.invalid("must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")
	case v.at("value").text() != "":
		from.invalid("may not be specified when `value` is not empty")
	case sources > 1:
		from.invalid("may not have more than one field specified at a time")
	}
}

// checkFileKey checks the choice of a variable in a file.
func checkFileKey(v value) {
	if v.at("key").must() {
		v.at("key").fits(envName(v.at("key").text()))
	}
	if v.at("volumeName").must() {
		v.at("volumeName").fits(label(v.at("volumeName").text()))
	}
	if v.at("path").must() {
		v.at("path").fits(noBackstep(v.at("path").text()))
	}
}

// checkFieldRef checks the choice of a field of the pod.
func checkFieldRef(v value, fields ...string) {
	if !v.at("apiVersion").must() || !v.at("fieldPath").must() {
		return
	}
	field := v.at("fieldPath")
	path := field.text()
	if path == "spec.host" {
		path = "spec.nodeName"
	}
	base, key, subscript := strings.Cut(strings.TrimSuffix(path, "']"), "['")
	subscript = subscript && strings.HasSuffix(path, "']") && base != ""
	switch {
	case v.at("apiVersion").text() != "v1":
		field.invalid("unsupported pod version: %s", v.at("apiVersion").text())
	case subscript && base == "metadata.annotations":
		v.fits(qualified(lowered(key)))
	case subscript && base == "metadata.labels":
		v.fits(qualified(key))
	case subscript:
		field.invalid("field label does not support subscript")
	case slices.Contains(fields, path):
	case slices.Contains([]string{
		"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.restartPolicy",
		"spec.serviceAccountName", "spec.schedulerName", "status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}, path):
		field.unsupported(fields...)
	default:
		field.invalid("field label not supported: %s", path)
	}
}

// checkResourceRef checks the choice of a resource of a container. In a volume, the choice must name the container.
func checkResourceRef(v value, inVolume bool) {
	fields := []string{
		"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory",
	}
	name := v.at("resource").text()
	hugepages := strings.HasPrefix(name, "limits.hugepages-") || strings.HasPrefix(name, "requests.hugepages-")
	switch {
	case inVolume && v.at("containerName").text() == "":
		v.at("containerName").required("")
	case name == "":
		v.at("resource").required("")
	case !slices.Contains(fields, name) && !hugepages:
		v.at("resource").unsupported(fields...)
	}
	divisors := strings.Fields("1 1k 1M 1G 1T 1P 1E 1Ki 1Mi 1Gi 1Ti 1Pi 1Ei")
	if strings.HasSuffix(name, ".cpu") {
		divisors = []string{"1m", "1"}
	}
	divisor := v.at("divisor")
	if divisor.amount().Sign() != 0 && !slices.Contains(divisors, divisor.text()) && (hugepages || slices.Contains(fields, name)) {
		divisor.invalid("the divisor must be one of %s", strings.Join(divisors, ", "))
	}
}

// checkFileKeys checks that the files that variables are read from are in an emptyDir.
func (p pod) checkFileKeys() {
	volumes := p.at("volumes").items()
	for _, c := range p.containers() {
		for _, v := range c.at("env").items() {
			ref := v.at("valueFrom", "fileKeyRef")
			if !ref.exists() {
				continue
			}
			name := ref.at("volumeName")
			switch i := slices.IndexFunc(volumes, func(v value) bool { return v.at("name").text() == name.text() }); {
			case i < 0:
				name.notFound()
			case !volumes[i].at("emptyDir").exists():
				name.invalid("referenced volume must be of type emptyDir")
			}
		}
	}
}
