package tree

import (
	"math/big"
	"strings"
)

// sameNumber reports whether two JSON numbers with different texts have the same value. It is exact, without rounding.
// The one exception: numbers with exponents of more than a thousand digits are the same only if their texts are.
func sameNumber(a, b []byte) bool {
	x, y := decimalOf(a), decimalOf(b)
	if x.digits == "" || y.digits == "" { // zero, whatever its sign and exponent
		return x.digits == y.digits
	}
	return x.negative == y.negative && x.digits == y.digits && sameExponent(x, y)
}

// decimal is 0.digits times ten to the power of exponent plus shift. digits neither starts nor ends with 0.
type decimal struct {
	negative bool
	digits   string
	exponent string
	shift    int64
}

func decimalOf(number []byte) decimal {
	text := string(number)
	var d decimal
	text, d.negative = strings.CutPrefix(text, "-")
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		text, d.exponent = text[:i], strings.TrimPrefix(text[i+1:], "+")
	}
	whole, fraction, _ := strings.Cut(text, ".")
	d.shift = int64(len(whole))
	d.digits = strings.TrimLeft(whole+fraction, "0")
	d.shift -= int64(len(whole) + len(fraction) - len(d.digits))
	d.digits = strings.TrimRight(d.digits, "0")
	return d
}

func sameExponent(x, y decimal) bool {
	if x.exponent == y.exponent {
		return x.shift == y.shift
	}
	a, ok1 := power(x)
	b, ok2 := power(y)
	return ok1 && ok2 && a.Cmp(b) == 0
}

func power(d decimal) (*big.Int, bool) {
	if len(d.exponent) > 1000 {
		return nil, false
	}
	n := new(big.Int)
	if d.exponent != "" {
		n.SetString(d.exponent, 10)
	}
	return n.Add(n, big.NewInt(d.shift)), true
}

// appendNumber appends a number in a canonical form: numbers with the same value have the same form.
func appendNumber(dst, number []byte) []byte {
	d := decimalOf(number)
	p, ok := power(d)
	switch {
	case d.digits == "":
		return append(dst, '0')
	case !ok:
		return append(dst, number...)
	case d.negative:
		dst = append(dst, '-')
	}
	return p.Append(append(append(dst, d.digits...), 'e'), 10)
}
