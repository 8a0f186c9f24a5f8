package codec_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
)

type timed struct {
	At    meta.Time      `json:"at"`
	Micro meta.MicroTime `json:"micro"`
	Plain *time.Time     `json:"plain"`
	Took  time.Duration  `json:"took"`
	Other ownTime        `json:"other"`
}

// ownTime decodes itself, as metav1.Time does.
type ownTime struct{ time.Time }

func (o *ownTime) UnmarshalJSON(b []byte) error {
	at, err := time.Parse(`"`+time.RFC3339+`"`, string(b))
	o.Time = at
	return err
}

// An error about a time named the place, and nobody could see what was wrong with the time.
func TestErrorsOfTimesShowTheText(t *testing.T) {
	long := strings.Repeat("9", 1000)
	for _, test := range []struct{ raw, want string }{
		{`{"at":"yesterday"}`, `decode into meta.Time: a JSON string does not fit: got "yesterday" at at (byte 6)`},
		{`{"at":5}`, `got 5 at at`},
		{`{"at":{"a":"hunter2"}}`, `got a JSON object at at`},
		{`{"micro":"2024-02-30T00:00:00Z"}`, `got "2024-02-30T00:00:00Z" at micro`},
		{`{"plain":"x\u001b"}`, `got "x\\u001b" at plain`},
		{`{"plain":[1]}`, `got a JSON array at plain`},
		{`{"took":"5m"}`, `got "5m" at took`},
		{`{"other":"soon"}`, `got "soon" at other`},
		{`{"other":"` + long + `"}`, `got "` + long[:63] + `... at other`},
	} {
		_, err := codec.Unmarshal[*timed]([]byte(test.raw))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error is %v, want %s", err, test.want)
		}
	}
}
