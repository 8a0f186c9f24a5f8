package explore

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// How the first line ends about an object that one of the states does not have.
const (
	notThere = " should be there, and is not"
	leftOver = " is there, and should not be"
)

// differences returns how a state differs from what it should be: one text for each object. The text of an object that
// both have has a line for each field that differs: with - what it should be, and with + what it is.
func differences(want, got state) (texts []string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] == nil {
			texts = append(texts, name+notThere)
		} else if lines := changes("", want[name], got[name]); lines != "" {
			texts = append(texts, name+" differs (- should be, + is):\n"+strings.TrimSuffix(lines, "\n"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] == nil {
			texts = append(texts, name+leftOver)
		}
	}
	return texts
}

// described returns the text of a difference, with all fields of an object that only one of the states has.
func described(text string, want, got state) string {
	if name, found := strings.CutSuffix(text, notThere); found && want[name] != nil {
		return text + ":\n" + contents("-", want[name])
	}
	if name, found := strings.CutSuffix(text, leftOver); found && got[name] != nil {
		return text + ":\n" + contents("+", got[name])
	}
	return text
}

// contents returns a line for each field of an object that its name does not say.
func contents(mark string, object any) string {
	shown, _ := object.(map[string]any)
	shown = maps.Clone(shown)
	delete(shown, "resource")
	if metadata, isObject := shown["metadata"].(map[string]any); isObject {
		metadata = maps.Clone(metadata)
		delete(metadata, "namespace")
		delete(metadata, "generateName")
		shown["metadata"] = metadata
		if len(metadata) == 0 {
			delete(shown, "metadata")
		}
	}
	return fields(mark, "", shown)
}

// changes returns the lines where two values differ.
func changes(path string, want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	a, b := members(want), members(got)
	if a == nil || b == nil {
		return fields("-", path, want) + fields("+", path, got)
	}
	both := maps.Clone(a)
	maps.Copy(both, b)
	var lines strings.Builder
	for _, member := range slices.Sorted(maps.Keys(both)) {
		lines.WriteString(changes(joined(path, member), a[member], b[member]))
	}
	return lines.String()
}

// fields returns a line for each field of a value; none if it is absent.
func fields(mark, path string, v any) string {
	all := members(v)
	switch {
	case v == nil:
		return ""
	case len(all) == 0:
		text, err := json.Marshal(v)
		if err != nil {
			text = fmt.Append(nil, v)
		}
		return fmt.Sprintf("  %s %s: %s\n", mark, path, text)
	}
	var lines strings.Builder
	for _, member := range slices.Sorted(maps.Keys(all)) {
		lines.WriteString(fields(mark, joined(path, member), all[member]))
	}
	return lines.String()
}

// members returns the members of an object, or the elements of a list by their numbers; nil of other values.
func members(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return v
	case []any:
		all := map[string]any{}
		for i, e := range v {
			all["["+strconv.Itoa(i)+"]"] = e
		}
		return all
	}
	return nil
}

// joined returns the path of a member.
func joined(path, member string) string {
	if strings.HasPrefix(member, "[") {
		return path + member
	}
	return strings.TrimPrefix(path+"."+member, ".")
}
