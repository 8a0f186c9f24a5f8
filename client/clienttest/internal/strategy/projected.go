package strategy

import (
	"slices"
	"strings"
)

// checkMode checks the permissions of files.
func checkMode(v value) {
	if n := v.number(); n < 0 || n > 0o777 {
		v.invalid("must be a number between 0 and 0777 (octal), both inclusive")
	}
}

// checkFiles checks a volume with the data of a config map or of a secret.
func checkFiles(_ pod, v value) {
	checkMode(v.at("defaultMode"))
	checkItems(v.at("items"))
}

// checkItems checks the files that are made of chosen keys.
func checkItems(list value) {
	for _, v := range list.items() {
		v.at("key").must()
		path := v.at("path")
		path.must()
		path.fits(unreserved(path.text()))
		checkMode(v.at("mode"))
	}
}

// checkDownwardAPI checks a volume with the fields of its pod. As in a real server, the place of a file has no index.
func checkDownwardAPI(_ pod, v value) {
	checkMode(v.at("defaultMode"))
	checkFieldFiles(v)
}

// checkFieldFiles checks the files that have fields of the pod.
func checkFieldFiles(v value) {
	for _, item := range v.at("items").items() {
		file := item.as(v)
		path := file.at("path")
		path.must()
		path.fits(unreserved(path.text()))
		field, resource := file.at("fieldRef"), file.at("resourceFieldRef")
		switch {
		case field.exists():
			checkFieldRef(field, "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
			if resource.exists() {
				file.invalid("fieldRef and resourceFieldRef can not be specified simultaneously")
			}
		case resource.exists():
			checkResourceRef(resource, true)
		default:
			file.required("one of fieldRef and resourceFieldRef is required")
		}
		checkMode(file.at("mode"))
	}
}

// checkProjected checks a volume with several sources.
func checkProjected(_ pod, v value) {
	checkMode(v.at("defaultMode"))
	var paths []string
	use := func(path value) {
		if slices.Contains(paths, path.text()) {
			v.invalid("conflicting duplicate paths")
		}
		paths = append(paths, path.text())
	}
	for _, s := range v.at("sources").items() {
		kinds := 0
		for _, name := range []string{"secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"} {
			source := s.at(name)
			if !source.exists() {
				continue
			}
			kinds++
			switch name {
			case "serviceAccountToken":
				checkToken(source, v)
			case "clusterTrustBundle":
				checkTrust(source)
				use(source.at("path"))
			case "podCertificate":
				checkPodCertificate(source, use)
			default:
				checkProjectedFiles(name, source, use)
			}
		}
		if kinds > 1 {
			s.forbidden("may not specify more than 1 volume type per source")
		}
	}
}

// checkProjectedFiles checks a source from which a list of files is taken.
func checkProjectedFiles(kind string, v value, use func(path value)) {
	if kind == "downwardAPI" {
		checkFieldFiles(v)
	} else {
		v.at("name").must()
		checkItems(v.at("items"))
	}
	for _, item := range v.at("items").items() {
		if item.at("path").text() != "" {
			use(item.at("path"))
		}
	}
}

// checkToken checks a token of a service account. As in a real server, its path is reported at the volume.
func checkToken(v, volume value) {
	if seconds := v.at("expirationSeconds"); seconds.number() < 600 || seconds.number() > 1<<32 {
		seconds.invalid("must be between 10 minutes and 2^32 seconds")
	}
	path := v.at("path").as(volume.at("path"))
	if path.must() {
		path.fits(unreserved(path.text()))
	}
}

// checkTrust checks a bundle of certificates that the pod trusts.
func checkTrust(v value) {
	name, signer, path := v.at("name"), v.at("signerName"), v.at("path")
	switch {
	case name.exists() && signer.exists():
		v.invalid("only one of name and signerName may be used")
	case name.exists():
		name.must()
		checkBundleName(name)
		if v.at("labelSelector").exists() {
			v.at("labelSelector").invalid("labelSelector must be unset if name is specified")
		}
	case signer.exists():
		signer.must()
		checkSigner(signer)
		checkSelector(v.at("labelSelector"))
	default:
		v.required("either name or signerName must be specified")
	}
	path.must()
	path.fits(unreserved(path.text()))
}

// checkBundleName checks the name of a ClusterTrustBundle, which may start with that of a signer and a colon.
func checkBundleName(v value) { v.fits(subdomain(v.text()[strings.LastIndex(v.text(), ":")+1:])) }

// checkSigner checks the name of a signer: a domain and a path.
func checkSigner(v value) {
	if !v.must() {
		return
	}
	domain, path, found := strings.Cut(v.text(), "/")
	if !found || strings.Contains(path, "/") {
		v.invalid("must be a fully qualified domain and path of the form 'example.com/signer-name'")
		return
	}
	if len(domain) > 253 {
		v.tooLong(253)
	}
	if len(v.text()) > 571 {
		v.tooLong(571)
	}
	labels := strings.Split(domain, ".")
	for _, part := range labels {
		v.fits(label(part))
	}
	if len(labels) < 2 {
		v.invalid("should be a domain with at least two segments separated by dots")
	}
	for part := range strings.SplitSeq(path, ".") {
		v.fits(subdomain(part))
	}
}

// checkUserAnnotations checks what a pod asks of a signer.
func checkUserAnnotations(v value) {
	for _, name := range v.keys() {
		switch {
		case name == "":
			v.required("")
		case strings.Contains(name, "/"):
			v.fits(qualified(lowered(name)))
		default:
			v.invalid("must be a domain-prefixed key (such as \"acme.io/foo\")")
		}
	}
}

// longestFor returns how many seconds a certificate of a signer for pods may be valid.
func longestFor(signer string) int64 {
	const day = 24 * 60 * 60
	if host, _, _ := strings.Cut(signer, "/"); host == "kubernetes.io" || strings.HasSuffix(host, ".kubernetes.io") {
		return day
	}
	return 91 * day
}

// checkPodCertificate checks a certificate that is made for the pod.
func checkPodCertificate(v value, use func(path value)) {
	checkSigner(v.at("signerName"))
	checkUserAnnotations(v.at("userAnnotations"))
	v.at("keyType").among("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
	if most := v.at("maxExpirationSeconds"); most.exists() {
		most.between(3600, longestFor(v.at("signerName").text()))
	}
	paths := 0
	for _, name := range []string{"credentialBundlePath", "keyPath", "certificateChainPath"} {
		if path := v.at(name); path.text() != "" {
			paths++
			path.fits(unreserved(path.text()))
			use(path)
		}
	}
	if paths == 0 {
		v.required("specify at least one of credentialBundlePath, keyPath, and certificateChainPath")
	}
}
