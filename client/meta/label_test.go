package meta_test

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

func TestValidLabelKey(t *testing.T) {
	tests := []struct {
		name  string
		key   string
		valid bool
	}{
		{"a word", "app", true},
		{"one character", "a", true},
		{"upper case and every separator", "A-b_c.D", true},
		{"a digit first", "1a", true},
		{"63 characters", strings.Repeat("a", 63), true},
		{"a prefix", "app.kubernetes.io/name", true},
		{"a prefix of 253 characters", strings.Repeat("a", 253) + "/name", true},
		{"nothing", "", false},
		{"64 characters", strings.Repeat("a", 64), false},
		{"a separator first", "-a", false},
		{"a separator last", "a.", false},
		{"a space", "a b", false},
		{"a letter outside ASCII", "naïve", false},
		{"a line feed at the end", "a\n", false},
		{"an empty prefix", "/name", false},
		{"an empty name", "example.com/", false},
		{"two slashes", "example.com/a/b", false},
		{"a prefix in upper case", "Example.com/a", false},
		{"a prefix with an underscore", "a_b.com/a", false},
		{"a prefix with two dots in a row", "a..b/c", false},
		{"a prefix that starts with a hyphen", "-a.b/c", false},
		{"a prefix with a part that ends with a hyphen", "a-.b/c", false},
		{"a prefix of 254 characters", strings.Repeat("a", 254) + "/name", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := meta.ValidLabelKey(tt.key); (err == nil) != tt.valid {
				t.Errorf("ValidLabelKey(%q) = %v, want valid == %v", tt.key, err, tt.valid)
			}
		})
	}
}

func TestValidLabelValue(t *testing.T) {
	tests := []struct {
		name  string
		value string
		valid bool
	}{
		{"nothing", "", true},
		{"a word", "web", true},
		{"63 characters", strings.Repeat("a", 63), true},
		{"every separator inside", "a-b_c.d", true},
		{"64 characters", strings.Repeat("a", 64), false},
		{"a separator first", ".a", false},
		{"a separator last", "a_", false},
		{"a slash", "a/b", false},
		{"a space", " ", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := meta.ValidLabelValue(tt.value); (err == nil) != tt.valid {
				t.Errorf("ValidLabelValue(%q) = %v, want valid == %v", tt.value, err, tt.valid)
			}
		})
	}
}
