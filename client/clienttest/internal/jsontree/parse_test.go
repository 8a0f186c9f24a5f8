package jsontree_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// parseTexts are JSON, and what looks like it.
func parseTexts() []string {
	return []string{
		`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `1.50`, `9007199254740993`, `1e400`, `""`, ` { "a" : [ 1 , "b" , null ] } `,
		`{"a":1,"a":2}`, `{"":{"":[]}}`, `"\u00e9\ud83d\ude00\ud800\n"`, "\"\xff\"", "{\"\xff\":1,\"\xfe\":2}", `{"a\u0062":"c\td"}`,
		"", " ", `{`, `[`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `[1,]`, `[1 2]`, `{a:1}`, `{1:2}`, `01`, `1.`, `-`, `+1`, `tru`, `nul`, `truex`,
		`"a`, `"a` + "\n" + `"`, `"\x"`, `{} {}`, `{}x`, `[1]]`, "\ufeff{}", "{}\x00", `{"a":1 "b":2}`, `{"a" 1}`, `[,1]`, `{,}`, "'a'",
		strings.Repeat("[", 99) + strings.Repeat("]", 99), strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500),
		strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
	}
}

// compareParse compares Parse with encoding/json.
func compareParse(t *testing.T, text []byte) {
	got, err := jsontree.Parse(text)
	if valid := json.Valid(text); valid != (err == nil) {
		t.Errorf("%.60q: got error %v, but valid JSON is %v", text, err, valid)
	} else if valid {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%.60q: got %v, want %v (%v)", text, got, want, err)
		}
	}
}

func TestParseReadsAsEncodingJSONDoes(t *testing.T) {
	for _, text := range parseTexts() {
		compareParse(t, []byte(text))
	}
}

func TestTextThatIsNotJSONIsRefusedInTheWordsOfEncodingJSON(t *testing.T) {
	for text, want := range map[string]string{
		"":        "unexpected end of JSON input",
		`{"a":1`:  "unexpected end of JSON input",
		`{"a" 1}`: "invalid character '1' after object key",
		`{} {}`:   "invalid character '{' after top-level value",
	} {
		if _, err := jsontree.Parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestAParsedValueDoesNotShareTheText(t *testing.T) {
	text := []byte(`{"name":"a plain text"}`)
	v, err := jsontree.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	clear(text)
	if want := (jsontree.Object{"name": "a plain text"}); !reflect.DeepEqual(v, want) {
		t.Errorf("after a change of the text: got %v, want %v", v, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range parseTexts() {
		f.Add([]byte(text))
	}
	f.Fuzz(compareParse)
}
