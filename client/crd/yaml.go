package crd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// YAML returns the manifest of definitions: one document each, with the members in order, and without status. The same
// definitions make the same text. YAML returns an error that names the definition if a member was set to invalid JSON.
func YAML(defs ...*Definition) ([]byte, error) {
	var b bytes.Buffer
	for i, d := range defs {
		if i > 0 {
			b.WriteString("---\n")
		}
		shown := *d
		shown.Status = Status{}
		text, err := json.Marshal(&shown)
		if err != nil {
			return nil, fmt.Errorf("crd.YAML: %s: %w", d.Name, err)
		}
		v, err := decode(text)
		if err != nil {
			return nil, fmt.Errorf("crd.YAML: %s: %w", d.Name, err)
		}
		document := v.(map[string]any)
		of := Definitions().GVK()
		document["apiVersion"], document["kind"] = of.APIVersion(), of.Kind
		writeObject(&b, document, 0, false)
	}
	return b.Bytes(), nil
}

// CheckFile returns an error unless the file has the manifest of the definitions. The error names the first line that
// differs. If update is true, CheckFile writes the file instead. So a test can keep the manifests of a repository up to
// date:
//
//	var update = flag.Bool("update", false, "write the manifests")
//
//	func TestTheManifestIsThatOfTheType(t *testing.T) {
//		if err := crd.CheckFile("sites.yaml", *update, crd.MustOf(Sites, crd.Options{})); err != nil {
//			t.Error(err)
//		}
//	}
func CheckFile(name string, update bool, defs ...*Definition) error {
	want, err := YAML(defs...)
	if err != nil {
		return err
	}
	if update {
		return os.WriteFile(name, want, 0o644)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	got = bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n"))
	if bytes.Equal(got, want) {
		return nil
	}
	is, should := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	n := 0
	for n < len(is) && n < len(should) && is[n] == should[n] {
		n++
	}
	line := func(lines []string) string {
		if n < len(lines) {
			return fmt.Sprintf("%q", lines[n])
		}
		return "the end"
	}
	return fmt.Errorf("%s is not the manifest of the types: line %d is %s, and should be %s", name, n+1, line(is), line(should))
}

// writeObject writes the members of an object, one per line. If inline is true, the first member continues the current
// line.
func writeObject(b *bytes.Buffer, object map[string]any, indent int, inline bool) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !inline {
			b.WriteString(strings.Repeat(" ", indent))
		}
		inline = false
		b.WriteString(yamlText(name) + ":")
		writeValue(b, object[name], indent)
	}
}

// writeValue writes a value after its name.
func writeValue(b *bytes.Buffer, v any, indent int) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			b.WriteString("\n")
			writeObject(b, v, indent+2, false)
			return
		}
	case []any:
		if len(v) > 0 {
			b.WriteString("\n")
			writeList(b, v, indent)
			return
		}
	}
	b.WriteString(" " + yamlScalar(v) + "\n")
}

func writeList(b *bytes.Buffer, list []any, indent int) {
	for _, e := range list {
		b.WriteString(strings.Repeat(" ", indent) + "-")
		object, isObject := e.(map[string]any)
		nested, isList := e.([]any)
		switch {
		case isObject && len(object) > 0:
			b.WriteString(" ")
			writeObject(b, object, indent+2, true)
		case isList && len(nested) > 0:
			b.WriteString("\n")
			writeList(b, nested, indent+2)
		default:
			b.WriteString(" " + yamlScalar(e) + "\n")
		}
	}
}

// yamlScalar returns a scalar, or an empty object or list.
func yamlScalar(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "{}"
	case []any:
		return "[]"
	case string:
		return yamlText(v)
	case nil:
		return "null"
	}
	return fmt.Sprint(v) // a number or a boolean, as in JSON
}

var (
	// plain matches a text that needs no quotes in YAML, unless it is one of the keywords, which a reader of YAML 1.1
	// or 1.2 reads as another value.
	plain = regexp.MustCompile(`^(\.[A-Za-z]|[A-Za-z_])([A-Za-z0-9 _./(),-]*[A-Za-z0-9_./),-])?$`)
	// single matches a text that can stand in single quotes, where only the single quote is escaped.
	single   = regexp.MustCompile(`^[ -~]*$`)
	keywords = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|\.inf|\.nan)$`)
)

// yamlText returns a text, in quotes if it needs them.
func yamlText(s string) string {
	if plain.MatchString(s) && !keywords.MatchString(s) && len(s) <= 1024 {
		return s
	}
	if single.MatchString(s) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	for _, r := range string(quote(s)) { // YAML has the escapes of JSON
		if r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
