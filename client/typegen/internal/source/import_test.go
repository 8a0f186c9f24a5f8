package source_test

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/typegen/internal/source"
)

// theirs is a package with types for the components that begin with org.example. Its Template has a Spec.
func theirs(specMembers ...string) source.Package {
	spec := source.Struct{Members: map[string]string{}}
	for _, m := range specMembers {
		spec.Members[m] = ""
	}
	return source.Package{Path: "example.com/v2/theirs", Name: "theirs", Structs: map[string]source.Struct{
		"Spec": spec, "Template": {Members: map[string]string{"metadata": "", "spec": "Spec"}},
	}}
}

func TestAComponentHasTheTypeOfAnImportedPackage(t *testing.T) {
	imported := source.Options{Imports: []source.Import{{Prefix: "org.example", Package: theirs("since")}}}
	text, err := write(t, openAPI, imported)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "Other *theirs.Spec `json:\"other,omitempty\"`") || strings.Contains(text, "OrgExampleSpec") ||
		!strings.Contains(text, "\"example.com/v2/theirs\"\n") {
		t.Errorf("the type is not imported:\n%s", text)
	}
}

// The package may be older than the server. A field of which it knows nothing would be lost.
func TestAComponentThatAnImportedPackageDoesNotHaveGetsAType(t *testing.T) {
	more := theirs()
	more.Structs["Spec"] = source.Struct{More: true}
	for _, c := range []struct {
		prefix   string
		from     source.Package
		imported bool
	}{
		{"org.example", more, true},
		{"org.example", theirs("until"), false},
		{"org.example", source.Package{Path: "example.com/v2/theirs", Name: "theirs"}, false},
		{"org", theirs("since"), false},
		{"org.example.Spec", theirs("since"), false},
	} {
		text, err := write(t, openAPI, source.Options{Imports: []source.Import{{Prefix: c.prefix, Package: c.from}}})
		if err != nil {
			t.Fatal(err)
		}
		if own := strings.Contains(text, "type OrgExampleSpec struct"); own == c.imported || strings.Contains(text, "theirs.Spec") != c.imported {
			t.Errorf("prefix %q, %+v: an own type is %t:\n%s", c.prefix, c.from.Structs, own, text)
		}
	}
}

const templates = `{"spec":{"type":"object","properties":{
	"template":{"type":"object","properties":{"metadata":{"type":"object"},"spec":{"type":"object","properties":{"since":{"type":"string"}}}}},
	"several":{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},
	"text":{"type":"string"}}}}`

func replacing(field, typ string, p source.Package) source.Options {
	return source.Options{Replacements: []source.Replacement{{Field: field, Type: typ, Package: p}}}
}

func TestAnObjectHasTheTypeThatReplacesItsOwn(t *testing.T) {
	o := replacing("spec.template", "Template", theirs("since", "until"))
	o.Replacements = append(o.Replacements, replacing("spec.several", "Template", theirs("since")).Replacements...)
	text, err := write(t, definition(templates), o)
	if err != nil {
		t.Fatal(err)
	}
	want := "Several []theirs.Template `json:\"several,omitzero\"`Template *theirs.Template `json:\"template,omitempty\"`Text *string `json:\"text,omitempty\"`"
	if got := strings.Join(strings.Fields(specFields(text)), " "); got != want {
		t.Errorf("the fields are\n%s, want\n%s", got, want)
	}
}

func TestAReplacementThatDoesNotFitIsAnError(t *testing.T) {
	for _, c := range []struct {
		field, typ string
		from       source.Package
		want       string
	}{
		{"spec.template", "Template", theirs(), `Site.spec.template: example.com/v2/theirs.Template has no field for "spec.since", which would be lost`},
		{"spec.template", "Nothing", theirs("since"), `Site.spec.template: package example.com/v2/theirs has no struct Nothing`},
		{"spec.nothing", "Template", theirs("since"), `no kind has an object at "spec.nothing" that example.com/v2/theirs.Template could be the type of`},
		{"spec.text", "Template", theirs("since"), `no kind has an object at "spec.text"`},
		{"spec.template", "Template", source.Package{Path: "example.com/meta", Name: "meta"}, `must not have the same name, meta`},
	} {
		if _, err := write(t, definition(templates), replacing(c.field, c.typ, c.from)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: the error is %v, want %q", c.field, c.typ, err, c.want)
		}
	}
}

func TestDescriptorsCanBeFunctions(t *testing.T) {
	text, err := write(t, openAPI, source.Options{Functions: true})
	want := "// Things returns the type of the resource things.g.example.com/v1.\nfunc Things() client.Type[*Thing] {\n" +
		"\treturn client.Type[*Thing]{Group: \"g.example.com\", Version: \"v1\", Kind: \"Thing\", Resource: \"things\"}\n}\n"
	if err != nil || !strings.Contains(text, want) {
		t.Errorf("%v, and there is no\n%s in\n%s", err, want, text)
	}
}

// A kind within another one has the type of the kind.
func TestAKindThatAnotherOneRefersToIsWrittenOnce(t *testing.T) {
	file := strings.Replace(openAPI, `"not": {"$ref": "#/components/schemas/com.example.g.v1.Spec"}`, `"not": {"$ref": "#/components/schemas/com.example.g.v1.Thing"}`, 1)
	text, err := write(t, file, source.Options{})
	if err != nil || strings.Count(text, "meta.TypeMeta\n") != 1 || !strings.Contains(text, "Not   *Thing ") {
		t.Errorf("%v:\n%s", err, text)
	}
}
