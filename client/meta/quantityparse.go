package meta

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// ParseQuantity parses an amount: an optional sign, a decimal number, and an optional unit (see [Quantity]) or an
// exponent such as "e3". It accepts what the API server accepts, including forms that are not canonical, such as "0.5"
// and "1024Mi". It changes an amount as the server does: it rounds away from zero to a billionth, and limits an amount
// in binary units to 2^63-1.
//
// The error names the text and says what is allowed. ParseQuantity refuses three texts that a server accepts: one
// without a digit, one of more than 1024 bytes, and one with an exponent outside -1000 to 1000.
func ParseQuantity(text string) (Quantity, error) {
	q, err := parseQuantity(text)
	if err != nil {
		// The copy keeps the text itself off the heap.
		return Quantity{}, fmt.Errorf("parse quantity %s: %w", strconv.Quote(clip(strings.Clone(text))), err)
	}
	return q, nil
}

func parseQuantity(text string) (Quantity, error) {
	if len(text) > maxQuantity {
		return Quantity{}, fmt.Errorf("it must have at most %d bytes, got %d", maxQuantity, len(text))
	}
	n, rest, err := scanNumber(text)
	if err != nil {
		return Quantity{}, err
	}
	unit, err := parseUnit(rest)
	if err != nil {
		return Quantity{}, err
	}
	exp := n.exp + unit.exp
	if high, low := bits.Mul64(n.mantissa, 1<<unit.shift); !n.wide && high == 0 && low <= math.MaxInt64 {
		return quantityOf(int64(low), n.negative, exp, unit.in), nil
	}
	mantissa := new(big.Int).Lsh(n.big(), unit.shift)
	return bigQuantityOf(mantissa, n.negative, exp, unit.in), nil
}

// quantityOf applies the rules of the server to the absolute value of an amount.
func quantityOf(mantissa int64, negative bool, exp int32, in units) Quantity {
	if exp < finestExp {
		mantissa, exp = roundedAway(mantissa, finestExp-exp), finestExp
	}
	q := smallQuantity(mantissa, exp, in)
	if in == binaryUnits {
		if q.exp > 0 {
			if _, fits := q.at(0); !fits {
				q = Quantity{small: math.MaxInt64, units: in}
			}
		}
		q = q.whole()
	}
	if negative {
		q = q.negated()
	}
	return q
}

// bigQuantityOf is quantityOf for any mantissa.
func bigQuantityOf(mantissa *big.Int, negative bool, exp int32, in units) Quantity {
	if exp < finestExp {
		mantissa, exp = bigRoundedAway(mantissa, finestExp-exp), finestExp
	}
	q := largeQuantity(mantissa, exp, in)
	if most := (Quantity{small: math.MaxInt64}); in == binaryUnits && q.Cmp(most) > 0 {
		q.small, q.large, q.exp = most.small, "", 0
	}
	q = q.whole()
	if negative {
		q = q.negated()
	}
	return q
}

// whole returns q. If q is in binary units, and more than 0 and less than 1, the result is in decimal units.
func (q Quantity) whole() Quantity {
	if q.units == binaryUnits && q.sign() > 0 && q.Cmp(Quantity{small: 1}) < 0 {
		q.units = decimalUnits
	}
	return q
}

// number is the number in a text: a sign, and a mantissa times ten to the exp.
type number struct {
	negative bool
	mantissa uint64
	exp      int32
	wide     bool   // the mantissa does not fit
	digits   string // the text of the number, which may have a point
}

func (n number) big() *big.Int {
	if !n.wide {
		return new(big.Int).SetUint64(n.mantissa)
	}
	text := strings.TrimRight(strings.Replace(n.digits, ".", "", 1), "0")
	mantissa, _ := new(big.Int).SetString(strings.Clone(text), 10) // the digits have been checked; SetString keeps the text
	return mantissa
}

// scanNumber reads the number at the start of a text, and returns what follows.
func scanNumber(text string) (n number, rest string, err error) {
	if rest = text; rest != "" && (rest[0] == '+' || rest[0] == '-') {
		n.negative, rest = rest[0] == '-', rest[1:]
	}
	point, zeros, count := -1, int32(0), 0
	i := 0
	for ; i < len(rest); i++ {
		c := rest[i]
		if c == '.' && point < 0 {
			point = i
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		count++
		switch {
		case c != '0':
			n.push(zeros, c-'0')
			zeros = 0
		case n.mantissa > 0 || n.wide:
			zeros++
		}
	}
	if count == 0 {
		return n, "", errors.New(`it must begin with a number, such as "1", "0.5" or "-3"`)
	}
	if n.digits = rest[:i]; point >= 0 {
		n.exp = -int32(i - point - 1)
	}
	n.exp += zeros
	return n, rest[i:], nil
}

// push appends zeros and a digit to the mantissa.
func (n *number) push(zeros int32, digit byte) {
	for ; zeros >= 0 && !n.wide; zeros-- {
		high, low := bits.Mul64(n.mantissa, 10)
		n.mantissa, n.wide = low, high > 0
	}
	sum, carry := bits.Add64(n.mantissa, uint64(digit), 0)
	n.mantissa, n.wide = sum, n.wide || carry > 0
}

// unit is ten to the exp, times two to the shift.
type unit struct {
	exp   int32
	shift uint
	in    units
}

// unitLetters has the units of the powers of 1000, from 10^-9 on. binaryLetters has the units of the powers of 1024,
// from Ki on, without the i.
const (
	unitLetters   = "num kMGTPE"
	binaryLetters = "KMGTPE"
)

func parseUnit(text string) (unit, error) {
	switch {
	case text == "":
		return unit{}, nil
	case len(text) == 1 && text != " ":
		if i := strings.IndexByte(unitLetters, text[0]); i >= 0 {
			return unit{exp: int32(3*i) + finestExp}, nil
		}
	case len(text) == 2 && text[1] == 'i':
		if i := strings.IndexByte(binaryLetters, text[0]); i >= 0 {
			return unit{shift: uint(10 * (i + 1)), in: binaryUnits}, nil
		}
	case text[0] == 'e' || text[0] == 'E':
		if exp, err := strconv.Atoi(text[1:]); err == nil {
			if exp < -maxQuantityExp || exp > maxQuantityExp {
				return unit{}, fmt.Errorf("the exponent must be from -%d to %[1]d, got %d", maxQuantityExp, exp)
			}
			return unit{exp: int32(exp), in: exponentUnits}, nil
		}
	}
	return unit{}, fmt.Errorf("the unit must be one of n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3, got %s",
		strconv.Quote(clip(strings.Clone(text))))
}
