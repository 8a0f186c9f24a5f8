package patch_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/patch"
)

// The document and the pointers of RFC 6901, section 5.
func TestTheExamplesOfRFC6901(t *testing.T) {
	doc := `{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`
	for _, test := range []struct {
		pointer string
		names   []string
		want    string
	}{
		{"", nil, doc},
		{"/foo", []string{"foo"}, `["bar","baz"]`},
		{"/foo/0", []string{"foo", "0"}, `"bar"`},
		{"/", []string{""}, "0"},
		{"/a~1b", []string{"a/b"}, "1"},
		{"/c%d", []string{"c%d"}, "2"},
		{"/e^f", []string{"e^f"}, "3"},
		{"/g|h", []string{"g|h"}, "4"},
		{`/i\j`, []string{`i\j`}, "5"},
		{`/k"l`, []string{`k"l`}, "6"},
		{"/ ", []string{" "}, "7"},
		{"/m~0n", []string{"m~n"}, "8"},
	} {
		t.Run(test.pointer, func(t *testing.T) {
			if got := patch.Pointer(test.names...); got != test.pointer {
				t.Errorf("built it is %q", got)
			}
			if names, err := patch.ParsePointer(test.pointer); err != nil || !slices.Equal(names, test.names) {
				t.Errorf("parsed it is %q, %v", names, err)
			}
			if _, err := applyOps(t, doc, patch.Test(test.pointer, raw(test.want))); err != nil {
				t.Errorf("it does not lead to %s: %v", test.want, err)
			}
		})
	}
}

func TestPointersAreEscapedOnce(t *testing.T) {
	for _, test := range []struct {
		pointer string
		names   []string
	}{
		{"/~01", []string{"~1"}}, // RFC 6901, section 4: not a slash
		{"/~00", []string{"~0"}},
		{"/~0~1", []string{"~/"}},
		{"//", []string{"", ""}},
		{"/a//b/", []string{"a", "", "b", ""}},
		{"/metadata/annotations/a~1b", []string{"metadata", "annotations", "a/b"}},
		{"/\u00e9/e\u0301", []string{"\u00e9", "e\u0301"}},
	} {
		if got := patch.Pointer(test.names...); got != test.pointer {
			t.Errorf("%q is %q, want %q", test.names, got, test.pointer)
		}
		if names, err := patch.ParsePointer(test.pointer); err != nil || !slices.Equal(names, test.names) {
			t.Errorf("%q is %q, %v; want %q", test.pointer, names, err, test.names)
		}
	}
}

func TestMalformedPointersAreRefused(t *testing.T) {
	for pointer, want := range map[string]string{
		"foo":      `pointer "foo" must be empty or start with a slash`,
		"#/foo":    `pointer "#/foo" must be empty or start with a slash`,
		" /foo":    `pointer " /foo" must be empty or start with a slash`,
		"/a~":      `pointer "/a~" must have 0 or 1 after each ~`,
		"/a~2b":    `pointer "/a~2b" must have 0 or 1 after each ~`,
		"/a~/0":    `pointer "/a~/0" must have 0 or 1 after each ~`,
		"/~~0":     `pointer "/~~0" must have 0 or 1 after each ~`,
		"/a\xffb":  `pointer "/a\xffb" must be UTF-8`,
		"/\xc3/~0": `pointer "/\xc3/~0" must be UTF-8`,
	} {
		names, err := patch.ParsePointer(pointer)
		if err == nil || err.Error() != want || !errors.Is(err, patch.ErrMalformed) || names != nil {
			t.Errorf("%q: got %q, %v; want %s", pointer, names, err, want)
		}
		if _, err := patch.JSON(patch.Remove(pointer)).Body(); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: in an operation the error is %v", pointer, err)
		}
	}
}

func FuzzPointer(f *testing.F) {
	for _, s := range []string{"", "/", "/a~1b/~0", "/~01", "a", "/~", "/~2", "/\xff", "//-/00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pointer string) {
		names, err := patch.ParsePointer(pointer)
		if err == nil && patch.Pointer(names...) != pointer {
			t.Errorf("%q is %q, which is %q", pointer, names, patch.Pointer(names...))
		}
		if err != nil && !errors.Is(err, patch.ErrMalformed) {
			t.Errorf("error is %v", err)
		}
		back, err := patch.ParsePointer(patch.Pointer(pointer, "x"))
		if valid := strings.ToValidUTF8(pointer, "") == pointer; (err == nil) != valid {
			t.Errorf("as a name it has error %v", err)
		} else if valid && !slices.Equal(back, []string{pointer, "x"}) {
			t.Errorf("as a name it comes back as %q", back)
		}
	})
}
