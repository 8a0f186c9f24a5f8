package meta_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

func TestAPercentageOfATotalIsRoundedDownAndUp(t *testing.T) {
	const third = math.MaxInt/100*33 + math.MaxInt%100*33/100 // of the largest total, rounded down
	for _, test := range []struct {
		v           meta.IntOrString
		total       int
		floor, ceil int
	}{
		{meta.FromString("25%"), 10, 2, 3},
		{meta.FromString("25%"), 8, 2, 2},
		{meta.FromString("1%"), 1, 0, 1},
		{meta.FromString("0%"), 7, 0, 0},
		{meta.FromString("100%"), 7, 7, 7},
		{meta.FromString("150%"), 3, 4, 5},
		{meta.FromString("-25%"), 10, -3, -2},
		{meta.FromString("25%"), -10, -3, -2},
		{meta.FromString("-50%"), -3, 1, 2},
		{meta.FromString("+5%"), 100, 5, 5},
		{meta.FromString("100%"), math.MaxInt, math.MaxInt, math.MaxInt},
		{meta.FromString("33%"), math.MaxInt, third, third + 1},
		{meta.FromString("50%"), 0, 0, 0},
		{meta.FromInt(3), 2, 3, 3},
		{meta.IntOrString{}, 5, 0, 0},
	} {
		floor, err := test.v.Floor(test.total)
		ceil, err2 := test.v.Ceil(test.total)
		if err != nil || err2 != nil || floor != test.floor || ceil != test.ceil {
			t.Errorf("%v of %d: %d to %d, %v, %v; want %d to %d", test.v, test.total, floor, ceil, err, err2, test.floor, test.ceil)
		}
	}
	for text, want := range map[string]string{
		"http": `such as "25%", got "http"`, "25": "whole percentage", "2.5%": "whole percentage", "": "whole percentage", "%": "whole percentage",
		"25%%": "whole percentage", "99999999999999999999%": "must fit an int", "200%": fmt.Sprintf(`"200%%" of %d must fit an int`, math.MaxInt),
		"9223372036854775807%": "must fit an int",
	} {
		if n, err := meta.FromString(text).Ceil(math.MaxInt); err == nil || n != 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d, %v; want an error with %s", text, n, err, want)
		}
	}
}

func TestIntsStringsAndDurationsInJSON(t *testing.T) {
	type values struct {
		Port *meta.IntOrString `json:"port,omitempty"`
		For  *meta.Duration    `json:"for,omitempty"`
		Zero meta.IntOrString  `json:"zero,omitzero"`
	}
	for text, want := range map[string]string{
		`{"port":80}`: ``, `{"port":-2147483648}`: ``, `{"port":"http"}`: ``, `{"port":"80"}`: ``, `{"port":""}`: ``, `{"port":0}`: ``,
		`{"port":"a\"\u00e9\n"}`: `{"port":"a\"é\u000a"}`, `{"zero":0}`: `{}`, `{"zero":""}`: ``, `{"zero":null}`: `{}`, `{"port":null}`: `{}`,
		`{"for":"90m"}`: `{"for":"1h30m0s"}`, `{"for":"0s"}`: ``, `{"for":"-1.5s"}`: ``, `{"for":"1\u0068"}`: `{"for":"1h0m0s"}`,
	} {
		if want == "" {
			want = text
		}
		var v values
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if out, err := json.Marshal(v); err != nil || string(out) != want {
			t.Errorf("%s becomes %s, %v; want %s", text, out, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"port":2147483648}`: "32 bits", `{"port":1.5}`: "32 bits", `{"port":true}`: "32 bits", `{"port":{}}`: "32 bits", `{"for":5}`: "string such as",
		`{"for":"5"}`: "number and a unit", `{"for":""}`: "number and a unit", `{"for":"` + strings.Repeat("9", 5000) + `"}`: "number and a unit",
	} {
		var v values
		if err := json.Unmarshal([]byte(text), &v); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%.60s: %v; want an error with %s", text, err, want)
		}
	}
	d := meta.Duration{Duration: time.Hour}
	if err := json.Unmarshal([]byte("null"), &d); err != nil || d.Duration != 0 {
		t.Errorf("null is %v, %v", d, err)
	}
	if n, ok := meta.FromString("80").Int(); ok || n != 0 || meta.FromInt(80) == meta.FromString("80") {
		t.Errorf("the text 80 is the number %d, %v", n, ok)
	}
	if n, ok := meta.FromInt(80).Int(); !ok || n != 80 || meta.FromInt(80).String() != "80" {
		t.Errorf("the number 80 is %d, %v", n, ok)
	}
}
