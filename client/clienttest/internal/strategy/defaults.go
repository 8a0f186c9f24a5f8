package strategy

import (
	"encoding/json"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// defaults returns the functions that set the defaults of types, by the name of the type: without the prefix
// "io.k8s.api." for a type of k8s.io/api, as in "core.v1.Container", and in full for any other type.
func defaults() map[string]func(jsontree.Object) {
	all := make(map[string]func(jsontree.Object))
	for _, add := range []func(map[string]func(jsontree.Object)){
		addPodDefaults, addWorkloadDefaults, addBatchDefaults, addPolicyDefaults, addClaimDefaults, addServiceDefaults, addNetworkDefaults, addConfigDefaults, addAccessDefaults, addWebhookDefaults, addNodeDefaults,
		addAPIServiceDefaults, addFlowDefaults, addCertificateDefaults, addDeviceDefaults,
	} {
		add(all)
	}
	return all
}

// setDefault sets a member that is absent.
func setDefault(m jsontree.Object, name string, v any) {
	if m[name] == nil {
		m[name] = v
	}
}

// setText sets a text that is absent or empty, because the compiled-in type has no pointer to it.
func setText(m jsontree.Object, name, text string) {
	if s, _ := m[name].(string); s == "" && (m[name] == nil || m[name] == "") {
		m[name] = text
	}
}

// setNumber sets a number that is absent or zero, because the compiled-in type has no pointer to it.
func setNumber(m jsontree.Object, name string, n int) {
	if was, _ := m[name].(json.Number); m[name] == nil || was == "0" {
		m[name] = number(n)
	}
}

func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// inner returns a member that is an object; nil if there is none.
func inner(m jsontree.Object, name string) jsontree.Object {
	o, _ := m[name].(jsontree.Object)
	return o
}

// section returns a member that is an object. It adds the object if it is absent, because the compiled-in type has no
// pointer to it.
func section(m jsontree.Object, name string) jsontree.Object {
	if m[name] == nil {
		m[name] = jsontree.Object{}
	}
	o, _ := m[name].(jsontree.Object)
	return o
}
