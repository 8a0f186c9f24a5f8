package strategy

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// maxData is how many bytes of data a ConfigMap or a Secret may have.
const maxData = 1 << 20

// addConfigs adds ConfigMap, Secret and Namespace.
func addConfigs(all map[meta.GVK]kind) {
	all[meta.GVK{Version: "v1", Kind: "ConfigMap"}] = kind{check: checkConfigMap}
	all[meta.GVK{Version: "v1", Kind: "Secret"}] = kind{check: checkSecret}
	all[meta.GVK{Version: "v1", Kind: "Namespace"}] = kind{check: checkNamespace, status: checkNamespaceStatus}
}

// addConfigDefaults adds the defaults of these kinds.
func addConfigDefaults(all map[string]func(jsontree.Object)) {
	all["core.v1.Secret"] = func(m jsontree.Object) { setText(m, "type", "Opaque") }
	all["core.v1.Namespace"] = func(m jsontree.Object) { setDefault(m, "status", jsontree.Object{}) }
	all["core.v1.NamespaceStatus"] = func(m jsontree.Object) { setText(m, "phase", "Active") }
}

// checkConfigMap checks a ConfigMap.
func checkConfigMap(v value) {
	data, binary := v.at("data"), v.at("binaryData")
	size := 0
	for _, key := range data.keys() {
		data.key(key).fits(configKey(key))
		if binary.key(key).exists() {
			data.key(key).invalid("duplicate of key present in binaryData")
		}
		size += data.key(key).len()
	}
	for _, key := range binary.keys() {
		binary.key(key).fits(configKey(key))
		size += len(binary.key(key).bytes())
	}
	if size > maxData {
		v.tooLong(maxData)
	}
	checkFixed(v, data, binary)
}

// checkFixed refuses a change of the data of an object that was immutable.
func checkFixed(v value, data ...value) {
	if !before(v.at("immutable")).flag() {
		return
	}
	if !v.at("immutable").flag() {
		v.at("immutable").forbidden("field is immutable when `immutable` is set")
	}
	for _, d := range data {
		if !same(d.is, d.was) {
			d.forbidden("field is immutable when `immutable` is set")
		}
	}
}

// bytes returns the bytes of a text in base64.
func (v value) bytes() []byte {
	b, _ := base64.StdEncoding.DecodeString(v.text()) // decoding the request has checked the form
	return b
}

// checkSecret checks a Secret.
func checkSecret(v value) {
	data := v.at("data")
	size := 0
	for _, key := range data.keys() {
		data.key(key).fits(configKey(key))
		size += len(data.key(key).bytes())
	}
	if size > maxData {
		data.tooLong(maxData)
	}
	v.at("type").immutable()
	checkFixed(v, data)
	checkSecretType(v.at("type").text(), v, data)
}

// checkSecretType checks that a Secret has the data that its type requires.
func checkSecretType(name string, v, data value) {
	const prefix = "kubernetes.io/"
	switch name {
	case prefix + "service-account-token":
		v.at("metadata", "annotations").key(prefix + "service-account.name").must()
	case prefix + "dockercfg":
		checkDocument(data.key(".dockercfg"))
	case prefix + "dockerconfigjson":
		checkDocument(data.key(".dockerconfigjson"))
	case prefix + "basic-auth":
		if !data.key("username").exists() && !data.key("password").exists() {
			data.key("username").required("")
			data.key("password").required("")
		}
	case prefix + "ssh-auth":
		data.key("ssh-privatekey").must()
	case prefix + "tls":
		for _, key := range []string{"tls.crt", "tls.key"} {
			if !data.key(key).exists() {
				data.key(key).required("")
			}
		}
	}
}

// checkDocument checks that a value of a Secret is a JSON object.
func checkDocument(v value) {
	var m map[string]any
	switch {
	case !v.exists():
		v.required("")
	case json.Unmarshal(v.bytes(), &m) != nil:
		v.is = "<secret contents redacted>"
		v.invalid("must be a JSON object")
	}
}

// checkNamespace checks the finalizers of a Namespace.
func checkNamespace(v value) {
	at := v.at("spec", "finalizers")
	for _, f := range at.items() {
		if v.to.subresource == "" {
			f.path = at.path // a real server names the whole list
		}
		checkFinalizer(f)
	}
}

// checkFinalizer checks the name of a finalizer of a namespace.
func checkFinalizer(v value) {
	v.fits(qualified(v.text()))
	switch name := v.text(); name {
	case "kubernetes", "orphan", "foregroundDeletion":
	default:
		if !strings.Contains(name, "/") {
			v.invalid("name is neither a standard finalizer name nor is it fully qualified")
		}
	}
}

// checkNamespaceStatus checks the phase of a Namespace.
func checkNamespaceStatus(v value) {
	want := "Active"
	if v.at("metadata", "deletionTimestamp").exists() {
		want = "Terminating"
	}
	if phase := v.at("status", "phase"); phase.text() != want {
		phase.path = "status.Phase"
		phase.invalid("may only be '%s' in this state of `deletionTimestamp`", want)
	}
}
