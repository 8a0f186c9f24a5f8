package strategy

import (
	"encoding/json"
	"math/big"

	amounts "github.com/bowline-go/bowline/client/clienttest/internal/quantity"
)

// quantity returns a resource.Quantity as a number; nil if v does not have the form of one.
func quantity(v any) *big.Rat {
	text, _ := v.(string)
	if n, isNumber := v.(json.Number); isNumber {
		text = n.String()
	}
	q, err := amounts.Parse(text)
	if err != nil {
		return nil
	}
	return q.Amount
}

// amount returns the value of a quantity; zero if it is absent or does not have the form of one.
func (v value) amount() *big.Rat {
	if q := quantity(v.is); q != nil {
		return q
	}
	return new(big.Rat)
}

// isNegative reports whether a quantity is less than zero.
func (v value) isNegative() bool {
	text, _ := v.is.(string)
	return !amounts.IsShort(text) && v.amount().Sign() < 0 // a short one has no sign
}
