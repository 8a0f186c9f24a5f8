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

// The end of the first line about an object that only one of the states has.
const (
	notThere = " should be there, and is not"
	leftOver = " is there, and should not be"
)

// differences returns a text for each object that differs between two states. If both states have the object, the text
// has lines for each field that differs: the wanted value after -, and the value that was got after +.
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

// described returns the text of a difference. If only one of the states has the object, the text lists all of its
// fields.
func described(text string, want, got state) string {
	if name, found := strings.CutSuffix(text, notThere); found && want[name] != nil {
		return text + ":\n" + contents("-", want[name])
	}
	if name, found := strings.CutSuffix(text, leftOver); found && got[name] != nil {
		return text + ":\n" + contents("+", got[name])
	}
	return text
}

// contents returns a line for each field of an object, except the fields that its name already shows.
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

// fields returns a line for each field of a value; "" if the value is nil.
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

// members returns the members of an object, or the elements of a list by their numbers; nil for any other value.
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
