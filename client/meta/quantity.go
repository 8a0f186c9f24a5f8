package meta

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Quantity is an amount of a resource, such as "500m" of cpu or "2Gi" of memory, as the API writes it. It is exact: no
// amount passes through a floating-point number. A Quantity is an immutable value, and the zero Quantity is 0.
//
// An amount is written in one of three families of units: decimal ("n", "u", "m", "", "k", "M", "G", "T", "P", "E"),
// binary ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei") or exponents of ten ("e3"). A Quantity remembers its family, and
// [Quantity.String] writes the canonical form: an integer with the largest unit of the family that loses nothing. If
// that needs a fraction of a binary unit, it writes decimal units.
//
// Operator == compares the amount and the family: "1Gi" equals "1024Mi", and "1024" does not equal "1Ki". Zero has no
// family. [Quantity.Cmp] compares the amounts alone. A Quantity can be the key of a map, and omitzero leaves out 0.
//
// A Quantity takes 32 bytes. Parsing and calculating do not allocate as long as the amount without its trailing zeros
// fits into 63 bits, which has room for 18 digits.
type Quantity struct {
	// The amount is a mantissa times ten to the exp. The mantissa has no trailing zero, so that each amount has one
	// representation. It is small if its absolute value fits, and otherwise the decimal in large.
	small int64
	large string
	exp   int32
	units units
}

// units is a family of units.
type units uint8

const (
	decimalUnits units = iota
	binaryUnits
	exponentUnits
)

const (
	finestExp      = -9   // the API rounds to billionths
	maxQuantityExp = 1000 // the bound of an exponent in a text
	maxQuantity    = 1024 // the bound of a text, in bytes
	maxIntDigits   = 18   // 10 to this power fits int64
)

// Cmp returns -1 if q is less than other, 0 if the amounts are equal, and +1 if q is more.
func (q Quantity) Cmp(other Quantity) int {
	if a, b := q.sign(), other.sign(); a != b {
		return compareInts(a, b)
	}
	exp := min(q.exp, other.exp)
	a, fits := q.at(exp)
	b, otherFits := other.at(exp)
	switch {
	case fits && otherFits:
		return compareInts(a, b)
	case q.large == "" && other.large == "": // the one that does not fit is further from zero
		if fits {
			return -q.sign()
		}
		return q.sign()
	}
	return q.bigAt(exp).Cmp(other.bigAt(exp))
}

// Add returns the sum. It is in the units of q, or in those of other if q is 0.
func (q Quantity) Add(other Quantity) Quantity {
	if q.sign() == 0 {
		return other
	}
	exp := min(q.exp, other.exp)
	a, fits := q.at(exp)
	b, otherFits := other.at(exp)
	if sum := a + b; fits && otherFits && sum != math.MinInt64 && (sum > a) == (b > 0) {
		return smallQuantity(sum, exp, q.units)
	}
	return largeQuantity(new(big.Int).Add(q.bigAt(exp), other.bigAt(exp)), exp, q.units)
}

// Sub returns the difference. It is in the units of q, or in those of other if q is 0.
func (q Quantity) Sub(other Quantity) Quantity { return q.Add(other.negated()) }

// Scale returns q times n, in the units of q. To make a Quantity from a number, scale a unit:
//
//	meta.MustQuantity("1m").Scale(250) // 250m
func (q Quantity) Scale(n int64) Quantity {
	product := q.small * n
	if q.large == "" && n != math.MinInt64 && product != math.MinInt64 && (n == 0 || product/n == q.small) {
		return smallQuantity(product, q.exp, q.units)
	}
	return largeQuantity(new(big.Int).Mul(q.bigAt(q.exp), big.NewInt(n)), q.exp, q.units)
}

// SumQuantities returns the sum of all, in the units of the first that is not 0. The sum of none is 0.
func SumQuantities(all ...Quantity) Quantity {
	var sum Quantity
	for _, q := range all {
		sum = sum.Add(q)
	}
	return sum
}

// Value returns the amount as an integer, rounded away from zero. It is math.MaxInt64 or math.MinInt64 if the amount is
// out of range.
func (q Quantity) Value() int64 { return q.rounded(0) }

// Milli returns the amount in thousandths, such as millicores of cpu, rounded away from zero. It is math.MaxInt64 or
// math.MinInt64 if the number is out of range.
func (q Quantity) Milli() int64 { return q.rounded(-3) }

// Float64 returns the nearest floating-point number, for metrics and ratios. It is an infinity if the amount is out of
// range.
func (q Quantity) Float64() float64 {
	b := strconv.AppendInt(append(q.appendMantissa(make([]byte, 0, 32)), 'e'), int64(q.exp), 10)
	f, _ := strconv.ParseFloat(string(b), 64) // the error says that f is an infinity
	return f
}

// sign returns -1, 0 or 1.
func (q Quantity) sign() int {
	switch {
	case q.small < 0 || q.large != "" && q.large[0] == '-':
		return -1
	case q.small > 0 || q.large != "":
		return 1
	}
	return 0
}

func (q Quantity) negated() Quantity {
	q.small = -q.small
	if digits, negative := strings.CutPrefix(q.large, "-"); negative {
		q.large = digits
	} else if digits != "" {
		q.large = "-" + digits
	}
	return q
}

// at returns the amount in units of ten to the exp, and false if the number does not fit. If q.small is not 0, exp must
// be at most q.exp.
func (q Quantity) at(exp int32) (int64, bool) {
	if q.small == 0 {
		return 0, q.large == ""
	}
	return timesTen(q.small, q.exp-exp)
}

// bigAt returns the same as at, for any amount.
func (q Quantity) bigAt(exp int32) *big.Int {
	mantissa := big.NewInt(q.small)
	if q.large != "" {
		mantissa.SetString(q.large, 10)
	}
	return mantissa.Mul(mantissa, tenTo(q.exp-exp))
}

// rounded returns the amount in units of ten to the exp, rounded away from zero, within the range of int64.
func (q Quantity) rounded(exp int32) int64 {
	beyond := int64(math.MaxInt64)
	if q.sign() < 0 {
		beyond = math.MinInt64
	}
	if q.large == "" && q.exp < exp {
		return roundedAway(q.small, exp-q.exp)
	}
	if n, fits := q.at(exp); fits {
		return n
	}
	if q.large == "" {
		return beyond
	}
	n := q.bigAt(min(q.exp, exp))
	if q.exp < exp {
		n = bigRoundedAway(n, exp-q.exp)
	}
	if !n.IsInt64() {
		return beyond
	}
	return n.Int64()
}

// smallQuantity returns a mantissa times ten to the exp in its only representation.
func smallQuantity(mantissa int64, exp int32, in units) Quantity {
	if mantissa == 0 {
		return Quantity{}
	}
	for mantissa%10 == 0 {
		mantissa, exp = mantissa/10, exp+1
	}
	return Quantity{small: mantissa, exp: exp, units: in}
}

// largeQuantity is smallQuantity for any mantissa.
func largeQuantity(mantissa *big.Int, exp int32, in units) Quantity {
	if mantissa.Sign() == 0 {
		return Quantity{}
	}
	text := mantissa.String()
	digits := strings.TrimRight(text, "0")
	exp += int32(len(text) - len(digits))
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n != math.MinInt64 {
		return Quantity{small: n, exp: exp, units: in}
	}
	return Quantity{large: strings.Clone(digits), exp: exp, units: in}
}

// timesTen returns n times ten to the power; false if the absolute value is not less than 2^63.
func timesTen(n int64, power int32) (int64, bool) {
	if power > maxIntDigits {
		return 0, n == 0
	}
	for ; power > 0; power-- {
		if n > math.MaxInt64/10 || n < -math.MaxInt64/10 {
			return 0, false
		}
		n *= 10
	}
	return n, true
}

// roundedAway returns n divided by ten to the power, rounded away from zero.
func roundedAway(n int64, power int32) int64 {
	divisor, fits := timesTen(1, power)
	if !fits {
		return int64(compareInts(n, 0))
	}
	quotient := n / divisor
	if n%divisor != 0 {
		quotient += int64(compareInts(n, 0))
	}
	return quotient
}

func bigRoundedAway(n *big.Int, power int32) *big.Int {
	quotient, rest := new(big.Int).QuoRem(n, tenTo(power), new(big.Int))
	return quotient.Add(quotient, big.NewInt(int64(rest.Sign())))
}

func tenTo(power int32) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(power)), nil)
}

func compareInts[N int | int64](a, b N) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// MustQuantity is [ParseQuantity] for a text in the program. It panics if the text is not a quantity.
func MustQuantity(text string) Quantity {
	q, err := ParseQuantity(text)
	if err != nil {
		panic(fmt.Sprintf("meta.MustQuantity: %v", err))
	}
	return q
}
