package meta

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// String returns the canonical form, such as "1500m" for one and a half. [ParseQuantity] reads it back to the same
// amount, except that it bounds amounts in binary units. The text shows the family of units only if it has a unit.
func (q Quantity) String() string { return string(q.append(make([]byte, 0, 32))) }

// MarshalJSON implements json.Marshaler. The JSON is a string with the canonical form.
func (q Quantity) MarshalJSON() ([]byte, error) {
	return append(q.append(append(make([]byte, 0, 32), '"')), '"'), nil
}

// UnmarshalJSON implements json.Unmarshaler. The JSON is a string or a number, and null is 0. As the server does, it
// ignores white space around the text in a string.
func (q *Quantity) UnmarshalJSON(b []byte) error {
	parsed, err := Quantity{}, error(nil)
	switch n := len(b); {
	case string(b) == "null":
	case n >= 2 && b[0] == '"' && b[n-1] == '"':
		if inner := b[1 : n-1]; jsonlex.IsPlain(inner) {
			parsed, err = ParseQuantity(strings.TrimSpace(string(inner)))
		} else {
			parsed, err = ParseQuantity(strings.TrimSpace(jsonlex.Unquote(inner)))
		}
	case n > 0 && (b[0] == '-' || jsonlex.IsDigit(b[0])):
		parsed, err = ParseQuantity(string(b))
	default:
		err = fmt.Errorf("decode quantity: it must be a string or a number, got %s", cut(b))
	}
	if err == nil {
		*q = parsed
	}
	return err
}

func (q Quantity) append(b []byte) []byte {
	if q.sign() == 0 {
		return append(b, '0')
	}
	if q.units == binaryUnits && q.exp >= 0 {
		if whole, unit := q.inBinary(); whole != "" {
			return append(append(b, whole...), unit...)
		}
	}
	exp := q.exp - (q.exp%3+3)%3 // the largest multiple of 3 up to q.exp; the difference becomes zeros
	if q.units != exponentUnits {
		exp = min(exp, 3*int32(len(unitLetters)-1)+finestExp)
	}
	b = q.appendMantissa(b)
	for range q.exp - exp {
		b = append(b, '0')
	}
	switch {
	case exp == 0:
	case q.units == exponentUnits:
		b = strconv.AppendInt(append(b, 'e'), int64(exp), 10)
	default:
		b = append(b, unitLetters[(exp-finestExp)/3])
	}
	return b
}

// inBinary returns a whole amount as a number and the largest binary unit that divides it, which is empty if none does.
// If the amount is less than 1024, both are empty.
func (q Quantity) inBinary() (number, unit string) {
	units := 0
	if n, fits := q.at(0); fits {
		if -1024 < n && n < 1024 {
			return "", ""
		}
		for ; n%1024 == 0 && units < len(binaryLetters); units++ {
			n /= 1024
		}
		number = strconv.FormatInt(n, 10)
	} else {
		large := q.bigAt(0)
		for ; large.TrailingZeroBits() >= 10 && units < len(binaryLetters); units++ {
			large.Rsh(large, 10) // exact, because the bits are zero
		}
		number = large.String()
	}
	if units > 0 {
		unit = binaryLetters[units-1:units] + "i"
	}
	return number, unit
}

func (q Quantity) appendMantissa(b []byte) []byte {
	if q.large != "" {
		return append(b, q.large...)
	}
	return strconv.AppendInt(b, q.small, 10)
}
