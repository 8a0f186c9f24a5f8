package meta_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

func TestTimeOnTheWire(t *testing.T) {
	berlin := time.FixedZone("", 2*60*60)
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"a time has seconds", meta.Time{Time: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)}, `"2024-05-06T07:08:09Z"`},
		{"a time is in UTC", meta.Time{Time: time.Date(2024, 5, 6, 7, 8, 9, 0, berlin)}, `"2024-05-06T05:08:09Z"`},
		{
			"a time loses its fraction",
			meta.Time{Time: time.Date(2024, 5, 6, 7, 8, 9, 999_999_999, time.UTC)},
			`"2024-05-06T07:08:09Z"`,
		},
		{"the zero time is null", meta.Time{}, `null`},
		{"a pointer to the zero time is null", &meta.Time{}, `null`},
		{
			"a micro time has six digits",
			meta.MicroTime{Time: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)},
			`"2024-05-06T07:08:09.000000Z"`,
		},
		{
			"a micro time keeps zeros at the end",
			meta.MicroTime{Time: time.Date(2024, 5, 6, 7, 8, 9, 120_000_000, time.UTC)},
			`"2024-05-06T07:08:09.120000Z"`,
		},
		{
			"a micro time loses what is below",
			meta.MicroTime{Time: time.Date(2024, 5, 6, 7, 8, 9, 123_456_789, berlin)},
			`"2024-05-06T05:08:09.123456Z"`,
		},
		{"the zero micro time is null", meta.MicroTime{}, `null`},
		{"the last year", meta.Time{Time: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}, `"9999-12-31T23:59:59Z"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(tt.value)
			if err != nil || string(got) != tt.want {
				t.Errorf("encoded %s, %v; want %s", got, err, tt.want)
			}
		})
	}
	for _, year := range []int{-1, 10000} {
		if out, err := json.Marshal(meta.Time{Time: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
			t.Errorf("the year %d is encoded as %s, which is no RFC 3339", year, out)
		}
	}
}

func TestTimeFromTheWire(t *testing.T) {
	tests := []struct {
		name, text string
		want       time.Time
		err        string
	}{
		{"seconds", `"2024-05-06T07:08:09Z"`, time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), ""},
		{"a fraction", `"2024-05-06T07:08:09.123456Z"`, time.Date(2024, 5, 6, 7, 8, 9, 123_456_000, time.UTC), ""},
		{"an offset", `"2024-05-06T07:08:09+02:00"`, time.Date(2024, 5, 6, 5, 8, 9, 0, time.UTC), ""},
		{"an escaped string", `"2024-05-06T07:08:09\u005a"`, time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), ""},
		{"null", `null`, time.Time{}, ""},
		{"the empty string", `""`, time.Time{}, "RFC 3339"},
		{"a number", `5`, time.Time{}, `RFC 3339 string, got "5"`},
		{"a date", `"2024-05-06"`, time.Time{}, "RFC 3339"},
		{"a day that does not exist", `"2024-02-30T00:00:00Z"`, time.Time{}, "RFC 3339"},
		{"a very long string", `"` + strings.Repeat("9", 1<<20) + `"`, time.Time{}, "got 1048576 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, micro := meta.Time{Time: time.Unix(1, 0)}, meta.MicroTime{Time: time.Unix(1, 0)}
			err, errMicro := json.Unmarshal([]byte(tt.text), &got), json.Unmarshal([]byte(tt.text), &micro)
			if tt.err != "" {
				if err == nil || errMicro == nil || !strings.Contains(err.Error(), tt.err) || len(err.Error()) > 400 {
					t.Errorf("errors %v and %v, want %q", err, errMicro, tt.err)
				}
				return
			}
			if err != nil || errMicro != nil || !got.Equal(tt.want) || !micro.Equal(tt.want) {
				t.Errorf("decoded %v, %v and %v, %v; want %v", got, err, micro, errMicro, tt.want)
			}
		})
	}
}

func FuzzTime(f *testing.F) {
	for _, seed := range []string{
		`null`, `"2024-05-06T07:08:09Z"`, `"2024-05-06T07:08:09.123456789+14:00"`, `"0001-01-01T00:00:00Z"`,
		`"9999-12-31T23:59:59-01:00"`,
		`"0000-01-01T00:00:00+01:00"`, `"2024-05-06t07:08:09z"`, `5`, `"`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got meta.Time
		if err := got.UnmarshalJSON(raw); err != nil {
			return
		}
		out, err := got.MarshalJSON()
		if err != nil {
			if year := got.UTC().Year(); year >= 0 && year <= 9999 {
				t.Fatalf("%q decodes to %v, which does not encode: %v", raw, got, err)
			}
			return
		}
		var again meta.Time
		if err := again.UnmarshalJSON(out); err != nil || !again.Equal(got.Truncate(time.Second)) {
			t.Fatalf("%q becomes %s, which decodes to %v, %v", raw, out, again, err)
		}
		var micro meta.MicroTime
		if err := micro.UnmarshalJSON(raw); err != nil || !micro.Equal(got.Time) {
			t.Fatalf("%q is %v as a Time and %v as a MicroTime, %v", raw, got, micro, err)
		}
		out, err = micro.MarshalJSON()
		if err != nil || string(out) != "null" && len(out) != len(`"2024-05-06T07:08:09.000000Z"`) {
			t.Fatalf("%q encodes as a MicroTime to %s, %v", raw, out, err)
		}
	})
}
