// Package quantity reads and writes amounts of resources, such as "500m" or "2Gi", as a compiled-in type of
// kube-apiserver does.
package quantity

import (
	"errors"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Quantity is an amount.
type Quantity struct {
	Amount *big.Rat
	binary bool // it is written with suffixes such as Gi
	power  bool // it is written with an exponent
}

// Parse reads an amount. As in a real server, it is rounded up to a billionth.
func Parse(text string) (Quantity, error) {
	if IsShort(text) {
		if q, ok := parseShort(text); ok {
			return q, nil
		}
	}
	parts := form().FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return Quantity{}, errors.New("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
	}
	scale := suffix(parts[2])
	if scale == nil {
		return Quantity{}, errors.New("unable to parse quantity's suffix")
	}
	amount, ok := new(big.Rat).SetString(strings.TrimSuffix(parts[1], "."))
	if !ok {
		return Quantity{}, errors.New("unable to parse numeric part of quantity")
	}
	q := Quantity{Amount: roundUp(amount.Mul(amount, scale), 9), binary: strings.HasSuffix(parts[2], "i")}
	q.power = len(parts[2]) > 1 && !q.binary
	return q, nil
}

var form = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([+-]?(?:\d+\.?\d*|\.\d+))([eE][+-]?\d+|[eEinumkKMGTP]*)$`)
})

// IsShort reports whether a text is a quantity in its canonical form that is easily recognized: up to three digits, and
// perhaps a suffix. Most quantities are.
func IsShort(text string) bool {
	number := strings.TrimRight(text, "mkKMGTPEi")
	if number == "" || len(number) > 3 || number[0] == '0' || strings.Trim(number, "0123456789") != "" {
		return false
	}
	switch suffix := text[len(number):]; len(suffix) {
	case 0:
		return true
	case 1:
		return suffix != "i" && suffix != "K"
	case 2:
		return suffix[0] != 'm' && suffix[0] != 'k' && suffix[0] != 'i' && suffix[1] == 'i'
	}
	return false
}

// parseShort is Parse for a short quantity with one of the usual suffixes.
func parseShort(text string) (Quantity, bool) {
	factors := [...]struct {
		suffix string
		factor int64
	}{{"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1}}
	if number, found := strings.CutSuffix(text, "m"); found {
		n, err := strconv.ParseInt(number, 10, 64)
		return Quantity{Amount: big.NewRat(n, 1000)}, err == nil
	}
	for _, f := range factors {
		if number, found := strings.CutSuffix(text, f.suffix); found {
			n, err := strconv.ParseInt(number, 10, 64)
			return Quantity{Amount: big.NewRat(n*f.factor, 1), binary: len(f.suffix) == 2}, err == nil
		}
	}
	return Quantity{}, false
}

// suffix returns the factor of a suffix; nil if there is no such suffix.
func suffix(s string) *big.Rat {
	switch {
	case s == "":
		return power(10, 0)
	case len(s) > 1 && strings.ContainsAny(s[:1], "eE") && strings.Trim(s[1:], "+-0123456789") == "":
		n, err := strconv.Atoi(strings.TrimPrefix(s[1:], "+"))
		if err != nil || n < -1000 || n > 1000 {
			return nil
		}
		return power(10, n)
	case len(s) == 2 && s[1] == 'i':
		if i := strings.IndexByte("KMGTPE", s[0]); i >= 0 {
			return power(1024, i+1)
		}
	case len(s) == 1:
		if i := strings.Index("num kMGTPE", s); i >= 0 {
			return power(1000, i-3)
		}
	}
	return nil
}

// power returns base to the n, which may be negative.
func power(base int64, n int) *big.Rat {
	abs := max(n, -n)
	r := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(abs)), nil))
	if n < 0 {
		r.Inv(r)
	}
	return r
}

// roundUp rounds away from zero to a number of decimals.
func roundUp(amount *big.Rat, decimals int) *big.Rat {
	scale := power(10, decimals)
	scaled := new(big.Rat).Mul(amount, scale)
	if scaled.IsInt() {
		return amount
	}
	whole := new(big.Int).Quo(scaled.Num(), scaled.Denom()) // toward zero
	whole.Add(whole, big.NewInt(int64(scaled.Sign())))
	return new(big.Rat).Quo(new(big.Rat).SetInt(whole), scale)
}

// RoundUp returns the amount rounded up to a thousandth.
func (q Quantity) RoundUp() Quantity {
	q.Amount = roundUp(q.Amount, 3)
	return q
}

// String returns the canonical form: an integer with the largest suffix that fits.
func (q Quantity) String() string {
	if q.Amount.Sign() == 0 {
		return "0"
	}
	if abs := new(big.Rat).Abs(q.Amount); q.binary && q.Amount.IsInt() && abs.Cmp(power(1024, 1)) >= 0 {
		whole, n := divide(q.Amount.Num(), 1024, 6)
		return whole.String() + []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}[n]
	}
	n := -3
	nano := new(big.Rat).Mul(q.Amount, power(1000, 3))
	whole, up := divide(nano.Num(), 1000, 9)
	switch n += up; {
	case q.power && n != 0:
		return whole.String() + "e" + strconv.Itoa(3*n)
	case q.power:
		return whole.String()
	}
	return whole.String() + []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"}[n+3]
}

// divide divides by base as long as there is no remainder, at most limit times. It returns the quotient and the number
// of divisions.
func divide(whole *big.Int, base int64, limit int) (*big.Int, int) {
	whole = new(big.Int).Set(whole)
	for n := 0; ; n++ {
		quotient, rest := new(big.Int).QuoRem(whole, big.NewInt(base), new(big.Int))
		if n == limit || rest.Sign() != 0 {
			return whole, n
		}
		whole = quotient
	}
}

// Of returns an amount as a quantity. If binary is true, its text has a suffix such as Gi; otherwise a suffix such as
// G.
func Of(amount *big.Rat, binary bool) Quantity { return Quantity{Amount: amount, binary: binary} }
