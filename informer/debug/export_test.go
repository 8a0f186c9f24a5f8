package debug

import "github.com/bowline-go/bowline/client/meta"

// Redacted redacts a Secret, and reports whether content is one.
func Redacted(resource meta.GVR, content map[string]any) bool {
	if !isSecret(resource, content) {
		return false
	}
	redactSecret(content)
	return true
}

// YAML returns decoded JSON as YAML.
func YAML(v any) string { return yaml(v) }
