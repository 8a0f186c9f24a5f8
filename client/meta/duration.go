package meta

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is a length of time that the API writes as a text, such as "1h30m0s", which Go's time.ParseDuration reads.
// The zero Duration is "0s". Fields whose names end in Seconds are numbers instead.
type Duration struct{ time.Duration }

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return []byte(`"` + d.Duration.String() + `"`), nil }

// UnmarshalJSON implements json.Unmarshaler. Null is the zero Duration.
func (d *Duration) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*d = Duration{}
		return nil
	}
	var text string
	if json.Unmarshal(b, &text) != nil {
		return fmt.Errorf(`decode duration: it must be a string such as "1h30m", got %s`, cut(b))
	}
	parsed, err := time.ParseDuration(text)
	if err != nil { // the text of err repeats the whole of b
		return fmt.Errorf(`decode duration: it must be a number and a unit (ns, us, ms, s, m, h), such as "1h30m", got %s`, cut(b))
	}
	d.Duration = parsed
	return nil
}
