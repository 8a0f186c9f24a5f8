package codec_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/codec"
)

// scripted is a time whose UnmarshalJSON calls a function of the test.
type scripted struct{ time.Time }

var scriptedDecode func(text string) (time.Time, error)

func (s *scripted) UnmarshalJSON(b []byte) (err error) {
	var text string
	if err = json.Unmarshal(b, &text); err == nil {
		s.Time, err = scriptedDecode(text)
	}
	return err
}

// What a method made of a text was remembered whatever it was, so that a duration from now, or a time in a zone that the
// type chooses, stayed what it had been for the first object. Only what the text alone says may be remembered.
func TestOnlyTimesThatTheTextDeterminesAreRemembered(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	zone := time.UTC
	parse := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Error(err)
		}
		return at
	}
	for _, test := range []struct {
		name, text string
		decode     func(text string) (time.Time, error)
		remembered bool
	}{
		{"a time", "2026-09-14T08:21:30Z", func(text string) (time.Time, error) { return parse(text), nil }, true},
		{"a time made local", "2026-09-14T08:21:31Z", func(text string) (time.Time, error) { return parse(text).Local(), nil }, true},
		{"a duration from now", "5m", func(text string) (time.Time, error) {
			d, err := time.ParseDuration(text)
			return now.Add(d), err
		}, false},
		{"a time that is never in the future", "2026-09-14T08:21:32Z", func(text string) (time.Time, error) {
			if at := parse(text); at.Before(now) {
				return at, nil
			}
			return now, nil
		}, false},
		{"a time in a zone of its own", "2026-09-14T08:21:33Z", func(text string) (time.Time, error) { return parse(text).In(zone), nil }, false},
		{"a time with an offset", "2026-09-14T08:21:30+09:30", func(text string) (time.Time, error) { return parse(text), nil }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			calls := 0
			scriptedDecode = func(text string) (time.Time, error) {
				calls++
				return test.decode(text)
			}
			const times = 4
			for i := range times {
				now, zone = now.Add(time.Hour), time.FixedZone("", 60*(i+1))
				v, err := codec.Unmarshal[*scripted]([]byte(`"` + test.text + `"`))
				want, _ := test.decode(test.text)
				if err != nil || v.String() != want.String() {
					t.Errorf("got %v, %v; want %v", v, err, want)
				}
			}
			// The pool may give another decoder, and the race detector makes it do so: so calls may be more, never fewer.
			if !test.remembered && calls != times {
				t.Errorf("the method was called %d times for %d objects", calls, times)
			}
		})
	}
}
