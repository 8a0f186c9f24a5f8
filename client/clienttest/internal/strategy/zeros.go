package strategy

import (
	_ "embed" // for zeros.txt
	"encoding/json"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// zerosText has a line for each type: its name, the members that its Go type does not write when they are zero, and,
// with their zero values, those that it always writes. A test in internal/proof/e2e/strategies compares it with
// Kubernetes' types, and writes it.
//
//go:embed zeros.txt
var zerosText string

// zeros says which members that are zero each type writes.
type zeros struct {
	dropped map[string][]string       // the members of each type that are not written
	written map[string]map[string]any // and the values of those that are
}

// readZeros reads zerosText.
func readZeros() zeros {
	z := zeros{make(map[string][]string), make(map[string]map[string]any)}
	values := map[string]any{`""`: "", "0": json.Number("0"), "false": false, "null": nil}
	for line := range strings.Lines(zerosText) {
		words := strings.Fields(line)
		name, always := words[0], make(map[string]any)
		for _, word := range words[1:] {
			if member, value, found := strings.Cut(word, "="); found {
				always[member] = values[value]
			} else {
				z.dropped[name] = append(z.dropped[name], member)
			}
		}
		z.written[name] = always
	}
	const ephemeral = "core.v1.EphemeralContainer"
	// EphemeralContainer has the members of EphemeralContainerCommon, which is embedded in it.
	z.dropped[ephemeral] = append(z.dropped[ephemeral], z.dropped[ephemeral+"Common"]...)
	// A rule tells empty requests from absent ones.
	const claim = "core.v1.VolumeResourceRequirements"
	z.dropped[claim] = slices.DeleteFunc(z.dropped[claim], func(member string) bool { return member == "requests" })
	return z
}

// drop removes the members of an object of a type that are zero and not written.
func (z zeros) drop(name string, m jsontree.Object) {
	for _, member := range z.dropped[name] {
		switch v := m[member].(type) {
		case []any:
			if len(v) == 0 {
				delete(m, member)
			}
		case jsontree.Object:
			if len(v) == 0 {
				delete(m, member)
			}
		default:
			if v == "" || v == false || v == json.Number("0") {
				delete(m, member)
			}
		}
	}
}

// add adds the absent members of an object of a type that are always written, and makes an empty list null.
func (z zeros) add(name string, m jsontree.Object) {
	for member, value := range z.written[name] {
		list, _ := m[member].([]any)
		if m[member] == nil || list != nil && len(list) == 0 {
			m[member] = value
		}
	}
}
