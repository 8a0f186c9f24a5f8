package meta_test

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// behaviour 6, guarantee S8
func TestValidSegment(t *testing.T) {
	tests := []struct {
		name  string
		value string
		want  string // part of the error; empty means valid
	}{
		{"a plain name", "web-1", ""},
		{"a name with dots", "v1.apps", ""},
		{"three dots are a name", "...", ""},
		{"the colon of RBAC's names", "system:node", ""},
		{"spaces, which the path escapes", "a b", ""},
		{"a question mark, which the path escapes", "a?b", ""},
		{"letters of any script", "名前", ""},
		{"the longest name", strings.Repeat("a", 253), ""},
		{"nothing", "", "name must not be empty"},
		{"the directory itself", ".", `name must not be "."`},
		{"the directory above", "..", `name must not be ".."`},
		{"a slash", "a/b", `without "/" and "%"`},
		{"a path upwards", "../secrets", `without "/" and "%"`},
		{"an escaped slash", "a%2fb", `without "/" and "%"`},
		{"a line feed", "a\nb", "without control characters"},
		{"a zero byte", "a\x00b", "without control characters"},
		{"an escape character", "a\x1b[31m", "without control characters"},
		{"a C1 control character", "a\u0085b", "without control characters"},
		{"invalid UTF-8", "a\xffb", "UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := meta.ValidSegment("name", tt.value)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("ValidSegment(%q) = %v, want no error", tt.value, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("ValidSegment(%q) = %v, want an error with %q", tt.value, err, tt.want)
			}
		})
	}
}

func TestValidSegmentKeepsItsErrorShort(t *testing.T) {
	err := meta.ValidSegment("namespace", strings.Repeat("/é", 100_000))
	if err == nil || len(err.Error()) > 300 {
		t.Fatalf("error of %d bytes, want a short one", len(err.Error()))
	}
	if !strings.HasPrefix(err.Error(), "namespace must be one path segment") {
		t.Errorf("error %q does not name the field", err)
	}
}
