package strategy

import (
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

func checkStorageClass(v value) {
	provisioner := v.at("provisioner")
	if provisioner.must() {
		provisioner.fits(qualified(strings.ToLower(provisioner.text())))
	}
	parameters := v.at("parameters")
	checkParameters(parameters)
	if policy := v.at("reclaimPolicy"); policy.text() != "" {
		policy.among("Delete", "Retain")
	}
	v.at("volumeBindingMode").among("Immediate", "WaitForFirstConsumer")
	terms := []any{jsontree.Object{}} // a server takes an empty term for a duplicate
	for _, term := range v.at("allowedTopologies").items() {
		values := checkTopologyTerm(term)
		if slices.ContainsFunc(terms, func(other any) bool { return jsontree.Equal(other, values) }) {
			term.at("matchLabelExpressions").duplicate()
		}
		terms = append(terms, values)
	}
	for _, of := range []value{parameters, provisioner, v.at("reclaimPolicy"), v.at("volumeBindingMode")} {
		of.immutable()
	}
}

// checkParameters checks the parameters of a provisioner.
func checkParameters(v value) {
	const most, size = 512, 256 << 10
	if v.len() > most {
		v.tooLong(most)
		return
	}
	total := 0
	for _, name := range v.keys() {
		if name == "" {
			v.invalid("field can not be empty")
		}
		total += len(name) + len(v.key(name).text())
	}
	if total > size {
		v.tooLong(size)
	}
}

// checkTopologyTerm checks a term, and returns the values that it has for each key.
func checkTopologyTerm(v value) jsontree.Object {
	all := jsontree.Object{}
	for _, e := range v.at("matchLabelExpressions").items() {
		key, values := e.at("key"), e.at("values")
		key.fits(qualified(key.text()))
		if all[key.text()] != nil {
			key.duplicate()
		}
		values.must()
		set := jsontree.Object{}
		for _, text := range values.items() {
			if set[text.text()] != nil {
				text.duplicate()
			}
			set[text.text()] = true
		}
		all[key.text()] = set
	}
	return all
}
