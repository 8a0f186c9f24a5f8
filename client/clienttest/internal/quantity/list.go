package quantity

import (
	"maps"
	"math/big"
	"slices"
	"strings"
)

// List has the amounts of resources by their names, such as the requests of a container.
type List map[string]Quantity

// Read returns the amounts in a JSON object. It leaves out values that are not quantities.
func Read(v any) List {
	m, _ := v.(map[string]any)
	list := make(List, len(m))
	for name, is := range m {
		text, _ := is.(string)
		if q, err := Parse(text); err == nil {
			list[name] = q
		}
	}
	return list
}

// Object returns the amounts as a JSON object.
func (l List) Object() map[string]any {
	m := make(map[string]any, len(l))
	for name, q := range l {
		m[name] = q.String()
	}
	return m
}

// Names returns the names in order.
func (l List) Names() []string { return slices.Sorted(maps.Keys(l)) }

// String returns the amounts as a server names them in an error, such as "cpu=1,memory=2Gi".
func (l List) String() string {
	parts := make([]string, 0, len(l))
	for _, name := range l.Names() {
		parts = append(parts, name+"="+l[name].String())
	}
	return strings.Join(parts, ",")
}

// Only returns the amounts of some names.
func (l List) Only(names []string) List {
	part := List{}
	for _, name := range names {
		if q, found := l[name]; found {
			part[name] = q
		}
	}
	return part
}

// Equal reports whether two lists have the same names with the same amounts.
func (l List) Equal(other List) bool {
	return maps.EqualFunc(l, other, func(a, b Quantity) bool { return a.Amount.Cmp(b.Amount) == 0 })
}

// Add adds the amounts of another list.
func (l List) Add(other List) {
	for name, q := range other {
		if is, found := l[name]; found {
			q = is.plus(q)
		}
		l[name] = q
	}
}

// Raise sets the amounts that are smaller than those of another list, or missing, to the amounts there.
func (l List) Raise(other List) {
	for name, q := range other {
		if is, found := l[name]; !found || q.Amount.Cmp(is.Amount) > 0 {
			l[name] = q
		}
	}
}

// More returns by how much the amounts are greater than those of another list. It leaves out the amounts that are not
// greater.
func (l List) More(than List) List {
	more := List{}
	for name, q := range l {
		if was, found := than[name]; found {
			q = q.plus(Quantity{Amount: new(big.Rat).Neg(was.Amount), binary: was.binary, power: was.power})
		}
		if q.Amount.Sign() > 0 {
			more[name] = q
		}
	}
	return more
}

// plus returns the sum, in the form of q, or in the other's if q is zero.
func (q Quantity) plus(other Quantity) Quantity {
	sum := q
	if q.Amount.Sign() == 0 {
		sum = other
	}
	sum.Amount = new(big.Rat).Add(q.Amount, other.Amount)
	return sum
}

// Whole returns the amount rounded up to an integer.
func (q Quantity) Whole() Quantity {
	q.Amount = roundUp(q.Amount, 0)
	return q
}

// Count returns a number of objects.
func Count(n int64) Quantity { return Of(new(big.Rat).SetInt64(n), false) }
