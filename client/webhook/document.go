package webhook

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
)

// begin returns an object of a version that has the metadata of a document of another version.
func begin[T meta.Object](of client.Type[T], doc json.RawMessage) (T, error) {
	var none T
	var is struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(doc, &is); err != nil {
		return none, err
	}
	empty, err := json.Marshal(map[string]any{"apiVersion": of.GVK().APIVersion(), "kind": of.Kind, "metadata": is.Metadata})
	if err != nil {
		return none, err
	}
	return codec.Unmarshal[T](empty)
}

// withMetadata returns a converted document with the metadata that it had before the conversion. made is the converted
// document, begun is the new object that the function received, and before is the original document. The labels or
// annotations of made replace those of before if they differ from those of begun, that is, if the function has changed
// them. A server refuses a conversion that changes other metadata.
func withMetadata(made, begun, before json.RawMessage) (json.RawMessage, error) {
	members := make([]map[string]json.RawMessage, 3)
	metadata := make([]map[string]json.RawMessage, 3)
	for i, doc := range []json.RawMessage{made, begun, before} {
		if err := json.Unmarshal(doc, &members[i]); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(members[i]["metadata"], &metadata[i]); err != nil {
			return nil, err
		}
	}
	whole := metadata[2]
	for _, name := range []string{"labels", "annotations"} {
		text, found := metadata[0][name]
		switch {
		case string(text) == string(metadata[1][name]): // unchanged, or the type does not have them
		case found:
			whole[name] = text
		default:
			delete(whole, name)
		}
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	members[0]["metadata"] = text
	return json.Marshal(members[0])
}

// missing returns the path of a member of doc that whole does not have, or "". It ignores metadata and empty values.
func missing(doc, whole json.RawMessage) string {
	var a, b map[string]any
	if json.Unmarshal(doc, &a) != nil || json.Unmarshal(whole, &b) != nil {
		return "" // both have been decoded before
	}
	delete(a, "metadata")
	return missingIn("", a, b)
}

func missingIn(path string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		inner, _ := b.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(a)) {
			at := name
			if path != "" {
				at = path + "." + name
			}
			v, found := inner[name]
			if !found && !isEmpty(a[name]) {
				return at
			}
			if found {
				if lost := missingIn(at, a[name], v); lost != "" {
					return lost
				}
			}
		}
	case []any:
		inner, _ := b.([]any)
		for i, v := range a {
			if i < len(inner) {
				if lost := missingIn(path+"["+strconv.Itoa(i)+"]", v, inner[i]); lost != "" {
					return lost
				}
			}
		}
	}
	return ""
}

// isEmpty reports whether omitempty would leave the value out, or the value is an object with only such members.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, m := range v {
			if !isEmpty(m) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return v == nil || v == "" || v == false || v == 0.0
}
