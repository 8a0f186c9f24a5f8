package meta

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// IntOrString is a number of 32 bits or a text, as the API writes the port of a service ("http" or 80) and the limits
// of a rollout ("25%" or 2). The zero value is the number 0. Values can be compared with ==; the number 80 and the text
// "80" differ.
type IntOrString struct {
	number int32
	text   string
	isText bool
}

// FromInt returns a number.
func FromInt(n int32) IntOrString { return IntOrString{number: n} }

// FromString returns a text, even if it consists of digits.
func FromString(text string) IntOrString { return IntOrString{text: text, isText: true} }

// Int returns the number; false if it is a text.
func (v IntOrString) Int() (n int32, ok bool) { return v.number, !v.isText }

// String returns the text, or the number in digits.
func (v IntOrString) String() string {
	if v.isText {
		return v.text
	}
	return strconv.Itoa(int(v.number))
}

// Floor returns the number itself, or the percentage of total, rounded down: "25%" of 10 is 2. Kubernetes rounds
// maxUnavailable of a Deployment down. Floor returns an error for a text that is not a whole percentage, and for a
// result that exceeds an int.
func (v IntOrString) Floor(total int) (int, error) { return v.of(total, false) }

// Ceil is [IntOrString.Floor], rounded up: "25%" of 10 is 3. Kubernetes rounds up maxSurge of a Deployment and both
// numbers of a PodDisruptionBudget.
func (v IntOrString) Ceil(total int) (int, error) { return v.of(total, true) }

func (v IntOrString) of(total int, up bool) (int, error) {
	if !v.isText {
		return int(v.number), nil
	}
	digits, found := strings.CutSuffix(v.text, "%")
	percent, err := strconv.Atoi(digits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("the percentage %q must fit an int", clip(v.text))
	case !found || err != nil:
		return 0, fmt.Errorf(`the text must be a whole percentage, such as "25%%", got %q`, clip(v.text))
	}
	negative := (percent < 0) != (total < 0)
	high, low := bits.Mul64(magnitude(percent), magnitude(total))
	if high >= 100 {
		return 0, tooMuch(v, total)
	}
	quotient, rest := bits.Div64(high, low, 100)
	if rest > 0 && up != negative { // rounds away from zero
		quotient++
	}
	if quotient > math.MaxInt {
		return 0, tooMuch(v, total)
	}
	if negative {
		return -int(quotient), nil
	}
	return int(quotient), nil
}

func tooMuch(v IntOrString, total int) error {
	return fmt.Errorf("%q of %d must fit an int", clip(v.text), total)
}

// magnitude returns the absolute value, even of math.MinInt.
func magnitude(n int) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// MarshalJSON implements json.Marshaler. The JSON is a number or a string.
func (v IntOrString) MarshalJSON() ([]byte, error) {
	if v.isText {
		return jsonlex.AppendQuoted(make([]byte, 0, len(v.text)+2), v.text), nil
	}
	return strconv.AppendInt(nil, int64(v.number), 10), nil
}

// UnmarshalJSON implements json.Unmarshaler. The JSON is an integer of 32 bits or a string, and null is the number 0.
func (v *IntOrString) UnmarshalJSON(b []byte) error {
	switch n := len(b); {
	case string(b) == "null":
		*v = IntOrString{}
		return nil
	case n >= 2 && b[0] == '"' && b[n-1] == '"':
		*v = FromString(jsonlex.Unquote(b[1 : n-1]))
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 32)
	if err != nil {
		return fmt.Errorf("decode an integer or a string: it must be an integer of 32 bits or a string, got %s", cut(b))
	}
	*v = FromInt(int32(n))
	return nil
}
