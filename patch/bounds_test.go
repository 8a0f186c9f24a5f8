package patch_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/patch"
)

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func TestTheNumberOfOperationsIsBounded(t *testing.T) {
	want := "the JSON patch has 10001 operations, and 10000 are allowed"
	_, err := patch.JSON(slices.Repeat([]patch.Op{patch.Test("", nil)}, 10_001)...).Body()
	if err == nil || err.Error() != "patch.JSON: "+want || !errors.Is(err, patch.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	body, err := patch.JSON(slices.Repeat([]patch.Op{patch.Test("", nil)}, 10_000)...).Body()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := patch.ApplyJSON([]byte("null"), body); err != nil || string(got) != "null" {
		t.Errorf("got %s, %v", got, err)
	}
	body = append(body[:len(body)-1], `,{"op":"test","path":"","value":null}]`...)
	got, err := patch.ApplyJSON([]byte("null"), body)
	if got != nil || err == nil || err.Error() != "patch: "+want || !errors.Is(err, patch.ErrTooLarge) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestTheDepthOfDocumentsIsBounded(t *testing.T) {
	for _, depth := range []int{10_000, 10_001} {
		doc, deep := []byte(nested(depth)), depth > 10_000
		for name, apply := range map[string]func() ([]byte, error){
			"a document":       func() ([]byte, error) { return patch.ApplyJSON(doc, []byte(`[]`)) },
			"a document to be": func() ([]byte, error) { return patch.ApplyMerge([]byte(`{}`), doc) },
			"a deep place": func() ([]byte, error) {
				at := strings.Repeat("/0", depth-2)
				return patch.ApplyJSON([]byte(nested(depth-1)), fmt.Appendf(nil, `[{"op":"add","path":"%s/-","value":[]}]`, at))
			},
			"a deep value in a deep place": func() ([]byte, error) {
				change := fmt.Appendf(nil, `[{"op":"add","path":"%s/-","value":%s}]`, strings.Repeat("/0", 4999), nested(depth-5000))
				return patch.ApplyJSON([]byte(nested(5000)), change)
			},
			"a deep object in a deep place": func() ([]byte, error) {
				object := strings.Repeat(`{"a":`, depth-5000) + "1" + strings.Repeat("}", depth-5000)
				change := fmt.Appendf(nil, `[{"op":"add","path":"%s/-","value":%s}]`, strings.Repeat("/0", 4999), object)
				return patch.ApplyJSON([]byte(nested(5000)), change)
			},
			"a value like brackets in a deep place": func() ([]byte, error) {
				change := fmt.Appendf(nil, `[{"op":"test","path":"","value":%s},{"op":"add","path":"%s/-","value":%s}]`,
					nested(9000), strings.Repeat("/0", 8999), `["\"[[[[[[[[",{"]":{}}]`)
				if deep {
					change = append(change[:len(change)-1], fmt.Sprintf(`,{"op":"add","path":"%s/0/1/]/x","value":%s}]`, strings.Repeat("/0", 8999), nested(1000))...)
				}
				return patch.ApplyJSON([]byte(nested(9000)), change)
			},
			"depth step by step": func() ([]byte, error) {
				var ops []patch.Op
				for n := 2000; n <= 8000; n += 2000 {
					ops = append(ops, patch.Add(strings.Repeat("/0", n-1)+"/-", raw(nested(2000))))
				}
				if deep {
					ops = append(ops, patch.Add(strings.Repeat("/0", 9999)+"/-", raw(`[]`)), patch.Add(strings.Repeat("/0", 10_000)+"/-", 1))
				}
				body, err := patch.JSON(ops...).Body()
				if err != nil {
					return nil, err
				}
				return patch.ApplyJSON([]byte(nested(2000)), body)
			},
			"a copy of what has become too deep": func() ([]byte, error) {
				ops := []patch.Op{patch.Add(strings.Repeat("/0", 4999)+"/-", raw(nested(depth-5000))), patch.Add(strings.Repeat("/0", depth-1)+"/-", 1)}
				body, err := patch.JSON(append(ops, patch.Copy("", ""))...).Body()
				if err != nil {
					return nil, err
				}
				return patch.ApplyJSON([]byte(nested(5000)), body)
			},
		} {
			got, err := apply()
			if (err != nil) != deep || deep && !errors.Is(err, patch.ErrTooLarge) || deep != (got == nil) {
				t.Errorf("%s, %d deep: got %d bytes, %v", name, depth, len(got), err)
			}
		}
	}
}

func TestTheSizeOfDocumentsIsBounded(t *testing.T) {
	doc := []byte(`"` + strings.Repeat("x", 64<<20) + `"`)
	want := "patch: the document is too large: it has 67108866 bytes, and 67108864 are allowed"
	if got, err := patch.ApplyJSON(doc, []byte(`[]`)); got != nil || err == nil || err.Error() != want || !errors.Is(err, patch.ErrTooLarge) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if got, err := patch.ApplyMerge([]byte(`{}`), doc); got != nil || !errors.Is(err, patch.ErrTooLarge) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

// Sixty copies that double the document would make a document of 2^60 bytes.
func TestCopiesCannotExplode(t *testing.T) {
	for name, ops := range map[string][]patch.Op{
		"of a member": slices.Repeat([]patch.Op{patch.Copy("/a", "/a/-"), patch.Copy("/a", "/a/-")}, 30),
		"of the document": slices.Repeat([]patch.Op{
			patch.Copy("", "/b"), patch.Copy("", "/c"),
		}, 30),
		"of one that is as it was written": slices.Repeat([]patch.Op{patch.Copy("/d", "/a/-")}, 4000),
	} {
		doc := `{"a":["text"],"d":"` + strings.Repeat("x", 1000) + `"}`
		got, err := applyOps(t, doc, ops...)
		var failed *patch.OpError
		if got != "" || !errors.Is(err, patch.ErrTooLarge) || !errors.As(err, &failed) || failed.Op != "copy" ||
			!strings.HasSuffix(err.Error(), "the patch copies more than 3145728 bytes, which is too large") {
			t.Errorf("%s: got %d bytes, %v", name, len(got), err)
		}
	}
	doc := `{"d":"` + strings.Repeat("x", 1<<20) + `"}`
	if _, err := applyOps(t, doc, patch.Copy("/d", "/e"), patch.Copy("/d", "/f")); err != nil {
		t.Errorf("two copies of a megabyte: %v", err)
	}
}

func TestErrorsAreShortHoweverLongAPointerIs(t *testing.T) {
	long := strings.Repeat("/a", 100_000)
	for _, op := range []patch.Op{patch.Remove(long), patch.Remove("/b/" + long[1:]), patch.Remove("/c" + strings.ReplaceAll(long, "/", "~0")), patch.Add("/l/"+strings.Repeat("1", 100_000), 1)} {
		_, err := applyOps(t, `{"b":[],"l":[]}`, op, patch.Test("", 1))
		var failed *patch.OpError
		if !errors.As(err, &failed) || len(failed.Path) < 100_000 || len(err.Error()) > 1000 {
			t.Errorf("the error has %d bytes: %.200v", len(err.Error()), err)
		}
	}
	for _, pointer := range []string{long[1:], long + "~", long + "\xff"} {
		if _, err := patch.ParsePointer(pointer); err == nil || len(err.Error()) > 500 {
			t.Errorf("the error is %.200v", err)
		}
	}
}
