package remote

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// chunks returns n bytes at most for each Read, and fails at the end.
type chunks struct {
	text []byte
	n    int
	err  error
}

func (c *chunks) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), c.n)], c.text)
	if c.text = c.text[n:]; n == 0 {
		return 0, c.err
	}
	return n, nil
}

// FuzzLines takes anything apart as a log, in reads of any size, and compares the lines with those of strings.Split.
func FuzzLines(f *testing.F) {
	stamp := "2026-05-01T12:00:00.000000001Z "
	for _, s := range []string{
		"", "\n", "a", stamp + "a\n" + stamp + "b", stamp + "\n", stamp, stamp[:10], "2026-05-01T12:00:00+14:00 \x00\xff\r\n\n", " a\n",
		"2026-05-01T12:00:00,5Z a\n", "0001-01-01T00:00:00Z a\n", stamp + stamp + "a\n", "9999-12-31T23:59:59.999999999-23:59 a\n",
	} {
		f.Add([]byte(s), 7, uint8(100))
		f.Add([]byte(s), 1, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, n int, longest uint8) {
		broken := errors.New("broken")
		s := newLineScanner(&chunks{text, max(n, 1), broken})
		s.max = maxStamp + int(longest) // so that lines reach it
		var got []scanned
		for {
			l, err := s.next()
			if err != nil {
				if err != broken {
					t.Fatal(err)
				}
				break
			}
			got = append(got, l)
		}
		if _, err := s.next(); err != broken {
			t.Errorf("after the end: %v", err)
		}
		raw := strings.Split(string(text), "\n")
		open := raw[len(raw)-1] != ""
		if !open {
			raw = raw[:len(raw)-1]
		}
		for i, want := range raw {
			var when time.Time
			if stamp, rest, found := strings.Cut(want, " "); found && len(stamp) < maxStamp {
				if parsed, err := time.Parse(time.RFC3339Nano, stamp); err == nil && !parsed.IsZero() {
					when, want = parsed, rest
				}
			}
			var line strings.Builder
			for more := true; more; {
				if len(got) == 0 {
					t.Fatalf("line %d is missing", i)
				}
				l := got[0]
				got, more = got[1:], l.Continues
				if !l.Time.Equal(when) || len(l.Text) > s.max || more && len(l.Text) != s.max || l.open != (open && i == len(raw)-1 && !more) {
					t.Errorf("line %d: %.40q of %d bytes at %v, open: %v, continues: %v, want %v", i, l.Text, len(l.Text), l.Time, l.open, more, when)
				}
				line.WriteString(l.Text)
			}
			if line.String() != want {
				t.Errorf("line %d is %.60q, want %.60q", i, line.String(), want)
			}
		}
		if len(got) > 0 {
			t.Errorf("%d lines too many", len(got))
		}
	})
}
