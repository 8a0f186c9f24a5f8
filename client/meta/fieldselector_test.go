package meta_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

func fields(m map[string]string) func(string) (string, bool) {
	return func(field string) (string, bool) {
		v, ok := m[field]
		return v, ok
	}
}

func TestFieldSelectorMatchesLikeTheServer(t *testing.T) {
	object := fields(map[string]string{"metadata.name": "x", "metadata.namespace": "y", "odd": `a,b=c\d`, "empty": ""})
	tests := []struct {
		selector string
		want     bool
	}{
		{"", true},
		{"metadata.name=x", true},
		{"metadata.name==x", true},
		{"metadata.name=y", false},
		{"metadata.name!=x", false},
		{"metadata.name!=y", true},
		{"metadata.name=x,metadata.namespace!=z", true},
		{"metadata.name=x,metadata.namespace!=y", false},
		{`odd=a\,b\=c\\d`, true},
		{`odd!=a\,b\=c\\d`, false},
		{"empty=", true},
		{"empty!=", false},
		{"missing=", true},
		{"missing!=", false},
		{"missing!=x", true},
		{"missing=x", false},
	}
	for _, tt := range tests {
		t.Run(tt.selector, func(t *testing.T) {
			s, err := meta.ParseFieldSelector(tt.selector)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Matches(object); got != tt.want {
				t.Errorf("%q matches = %v, want %v", tt.selector, got, tt.want)
			}
		})
	}
}

func TestFieldSelectorIgnoresTheValueOfAMissingField(t *testing.T) {
	s, err := meta.NewFieldSelector(meta.FieldTerm{Field: "a", Value: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Matches(func(string) (string, bool) { return "x", false }) {
		t.Error("a field that is not there has no value")
	}
}

func TestParseFieldSelectorPrintsCanonically(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"the three operators", "b!=2,a==1,c=3", "a=1,b!=2,c=3"},
		{"empty terms pass, as in the server", ",,a=1,,b=2,", "a=1,b=2"},
		{"a term twice is one", "a=1,a==1", "a=1"},
		{"terms of one field have an order", "a!=2,a=3,a!=1", "a=3,a!=1,a!=2"},
		{"escapes", `a=\\\,\=`, `a=\\\,\=`},
		{"white space belongs to the value", "a= x ", "a= x "},
		{"an exclamation mark in a value", "a=b!c", "a=b!c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := meta.ParseFieldSelector(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if s.String() != tt.want {
				t.Fatalf("%q prints %q, want %q", tt.text, s, tt.want)
			}
			again, err := meta.ParseFieldSelector(s.String())
			if err != nil || !reflect.DeepEqual(again, s) {
				t.Errorf("parsing %q again gives %#v, %v; want %#v", s, again, err, s)
			}
		})
	}
}

func TestParseFieldSelectorNamesThePlaceAndWhatIsAllowed(t *testing.T) {
	tests := []struct {
		text   string
		offset int
		want   string
	}{
		{"a", 1, "found the end, want one of = == !="},
		{"a!", 1, `found "!", want one of = == !=`},
		{"x=1,a!b", 5, `found "!", want one of = == !=`},
		{`a\=b`, 1, `found "\\", want one of = == !=`},
		{"=b", 0, "field must be a path"},
		{"a =b", 0, "field must be a path"},
		{"a=b=c", 3, `found "=" in a value`},
		{"a===b", 3, `found "=" in a value`},
		{`a=b\`, 4, `found the end, want one of \ , =`},
		{`a=b\n`, 4, `found "n", want one of \ , =`},
		{"a in (b)", 0, "field must be a path"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			s, err := meta.ParseFieldSelector(tt.text)
			want := fmt.Sprintf("parse field selector %q: at byte %d: ", tt.text, tt.offset)
			if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error()[len(want):], tt.want) {
				t.Errorf("ParseFieldSelector = %q, %v\nwant %s...%s", s, err, want, tt.want)
			}
		})
	}
}

func TestNewFieldSelector(t *testing.T) {
	terms := []meta.FieldTerm{{Field: "metadata.namespace", Value: "a,b", Differs: true}, {Field: "metadata.name", Value: "x"}}
	s, err := meta.NewFieldSelector(terms...)
	if err != nil {
		t.Fatal(err)
	}
	terms[0].Value = "changed"
	s.Terms()[0].Value = "changed"
	if want := `metadata.name=x,metadata.namespace!=a\,b`; s.String() != want {
		t.Errorf("selector %q, want %q", s, want)
	}
	if s.Everything() || !(meta.FieldSelector{}).Everything() {
		t.Error("the zero selector must select everything, and no other")
	}
	for _, bad := range []string{"", "a b", "a=b", "a,b", `a\b`, "a!", "a\n"} {
		if _, err := meta.NewFieldSelector(meta.FieldTerm{Field: bad, Value: "x"}); err == nil {
			t.Errorf("field %q is accepted", bad)
		}
	}
}

func FuzzParseFieldSelector(f *testing.F) {
	for _, seed := range []string{"", "a=b", "a==b,c!=d", `a=\\\,\=`, ",,", "a=b=c", `a=\`, "a!b=c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := meta.ParseFieldSelector(text)
		if err != nil {
			if at := offset(err); at < 0 || at > len(text) {
				t.Fatalf("ParseFieldSelector(%q): error %v", text, err)
			}
			return
		}
		again, err := meta.ParseFieldSelector(s.String())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%q prints %q, which parses to %q, %v", text, s, again, err)
		}
	})
}
