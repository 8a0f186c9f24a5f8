package meta

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Time is a point in time with the API's resolution of seconds. On the wire it is an RFC 3339 string in UTC; the zero
// Time is null, and null decodes to the zero Time. Fractions of a second are decoded but not encoded. A year beyond
// 9999, which RFC 3339 cannot write, is an error.
type Time struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) { return marshalTime(t.Time, time.RFC3339) }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(b []byte) error { return unmarshalTime(&t.Time, b) }

// MicroTime is a point in time with a resolution of microseconds, for leases and event records: RFC 3339 in UTC with
// exactly six digits of fraction; the zero MicroTime is null.
type MicroTime struct{ time.Time }

// microLayout keeps trailing zeros, as the API server writes them.
const microLayout = "2006-01-02T15:04:05.000000Z07:00"

// MarshalJSON implements json.Marshaler.
func (t MicroTime) MarshalJSON() ([]byte, error) { return marshalTime(t.Time, microLayout) }

// UnmarshalJSON implements json.Unmarshaler.
func (t *MicroTime) UnmarshalJSON(b []byte) error { return unmarshalTime(&t.Time, b) }

func marshalTime(t time.Time, layout string) ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	t = t.UTC()
	if year := t.Year(); year < 0 || year > 9999 { // RFC 3339 has four digits for the year
		return nil, fmt.Errorf("encode time: the year must be from 0 to 9999 in UTC, got %d", year)
	}
	b := make([]byte, 0, len(layout)+2)
	b = append(b, '"')
	b = t.AppendFormat(b, layout)
	return append(b, '"'), nil
}

func unmarshalTime(t *time.Time, b []byte) error {
	if string(b) == "null" {
		*t = time.Time{}
		return nil
	}
	var s string
	if n := len(b); n > 2 && b[0] == '"' && b[n-1] == '"' && bytes.IndexByte(b, '\\') < 0 {
		s = string(b[1 : n-1])
	} else if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("decode time: it must be an RFC 3339 string, got %s: %w", cut(b), err)
	}
	if len(s) > 128 { // the error would repeat the whole text
		return fmt.Errorf("decode time: it must be an RFC 3339 string, got %d bytes: %s", len(s), cut(b))
	}
	parsed, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf("decode time: it must be an RFC 3339 string: %w", err)
	}
	*t = parsed.Local()
	return nil
}

// cut shortens a text for an error. It leaves more than the length of any valid time.
func cut(b []byte) string {
	const most = 64
	if len(b) <= most {
		return strconv.QuoteToASCII(string(b))
	}
	return strconv.QuoteToASCII(string(b[:most])) + "..."
}
