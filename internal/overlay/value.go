package overlay

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/internal/jsonlex"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// This file compares values that a server decodes and writes in its own way: quantities, times and byte strings. A
// table has their places in the built-in kinds. In a custom resource, a server keeps the text as sent, but an
// admission plugin of the kind may rewrite it. So there, places that custom resources usually copy from pods are
// recognized by their names.

// valueTable has a line for each kind with such values ("HorizontalPodAutoscaler.autoscaling"), and for each object in
// them (a number). The line has the members that lead to the values, each with its object or its value; "*" is a name
// that users choose. The elements of a list have the place of the list. A test in internal/proof/e2e makes the table
// from the OpenAPI documents of kube-apiserver.
//
//go:embed values.txt
var valueTable string

// The values of valueTable.
const (
	quantityValue = 'q' // a quantity, which the server rounds up to 9 digits after the point
	resourceValue = 'r' // a quantity in a list of resources, which the server rounds up to 3 digits
	timeValue     = 't' // a time, with as many digits as the server writes
	bytesValue    = 'b' // bytes in base64
)

// alike reports whether two values, of which live's is a scalar, are the same to the server.
func (o *overlay) alike(live, want *tree.Node, at *site) bool {
	if tree.Same(live, want) || o.isDefault(live, want, at) {
		return true
	}
	switch {
	case live.Kind() == '0' && want.Kind() == '0':
		return isFloat(live, want)
	case live.Kind() != '"':
		return false
	}
	was := string(live.Unquoted())
	switch o.valueAt(at) {
	case quantityValue:
		return o.sameQuantity(was, want, at, 9)
	case resourceValue:
		return o.sameQuantity(was, want, at, 3)
	case timeValue:
		return want.Kind() == '"' && o.sameTime(was, string(want.Unquoted()), at)
	case bytesValue:
		a, err := base64.StdEncoding.DecodeString(was)
		b, ok := bytesOf(want)
		return err == nil && ok && bytes.Equal(a, b)
	}
	return false
}

// isFloat reports whether live is the number that a server writes if it keeps want as a floating-point number.
// Integers of 64 bits stay as they are.
func isFloat(live, want *tree.Node) bool {
	text := string(want.Text())
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false
	}
	kept := tree.Literal(strconv.AppendFloat(nil, f, 'g', -1, 64))
	return tree.Same(live, &kept)
}

// isZeroValue reports whether a text is a zero that the server does not write: the zero time, or empty bytes in a
// member with a fixed name.
func (o *overlay) isZeroValue(want *tree.Node, at *site) bool {
	if !o.isBuiltIn(at) {
		return false
	}
	text := string(want.Unquoted())
	switch {
	case strings.HasPrefix(text, "0001-01-01T00:00:00"):
		t, err := time.Parse(time.RFC3339Nano, text)
		return err == nil && t.Truncate(time.Second).IsZero() && o.valueAt(at) == timeValue
	case strings.Trim(text, "\r\n") == "":
		return !at.chosen && o.valueAt(at) == bytesValue
	}
	return false
}

// valueAt returns the kind of value that the API has at the place, or 0.
func (o *overlay) valueAt(at *site) byte {
	if o.isBuiltIn(at) {
		if v := o.valueInTable(at); v != 0 {
			return v
		}
	}
	switch {
	case at.isQuantity():
		return quantityValue
	case at.isTime():
		return timeValue
	}
	return 0
}

func (o *overlay) valueInTable(at *site) byte {
	name := o.kind
	if group, _, found := strings.Cut(o.apiVersion, "/"); found {
		name += "." + group
	}
	var names []string
	for ; at != nil; at = at.up {
		names = append(names, at.name)
	}
	for _, member := range slices.Backward(names) {
		if name = valueMember(name, member); name == "" {
			return 0
		}
	}
	if strings.Trim(name, "0123456789") == "" { // an object
		return 0
	}
	return name[0]
}

// valueMember returns the object or the value of a member, from the line of the table that has the name.
func valueMember(line, member string) string {
	_, rest, found := strings.Cut(valueTable, "\n"+line+" ")
	if !found {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "\n")
	for part := range strings.SplitSeq(rest, " ") {
		if name, value, _ := strings.Cut(part, "="); name == member || name == "*" {
			return value
		}
	}
	return ""
}

// isQuantity reports whether there is a quantity at the place, by its name.
func (p *site) isQuantity() bool {
	switch p.parent(1) {
	case "requests", "limits":
		return p.parent(2) == "resources"
	case "emptyDir":
		return p.name == "sizeLimit"
	case "resourceFieldRef":
		return p.name == "divisor"
	}
	return false
}

// isTime reports whether there is a time at the place, by its name.
func (p *site) isTime() bool {
	switch p.parent(1) {
	case "labels", "annotations", "matchLabels", "nodeSelector", "data", "binaryData", "stringData":
		return false
	}
	return strings.HasSuffix(p.name, "Time") || strings.HasSuffix(p.name, "Timestamp")
}

// sameQuantity compares a quantity of live with a wanted one, which may be a number. In a built-in kind, the server
// rounds a wanted quantity away from zero if it has more than digits digits after the point.
func (o *overlay) sameQuantity(live string, want *tree.Node, at *site, digits int64) bool {
	if want.Kind() != '"' && want.Kind() != '0' {
		return false
	}
	x, ok1 := quantity(live)
	y, ok2 := quantity(strings.TrimSpace(want.Scalar()))
	if !ok1 || !ok2 {
		return false
	}
	return x.Cmp(y) == 0 || o.isBuiltIn(at) && x.Cmp(rounded(y, digits)) == 0
}

func rounded(q *big.Rat, digits int64) *big.Rat {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil)
	n, rest := new(big.Int).QuoRem(new(big.Int).Mul(q.Num(), scale), q.Denom(), new(big.Int))
	n.Add(n, big.NewInt(int64(rest.Sign())))
	return new(big.Rat).SetFrac(n, scale)
}

// quantity reads a quantity of the API: a decimal number, and a suffix of SI, of IEC, or an exponent. A server caps
// quantities with an IEC suffix at 2^63-1.
func quantity(text string) (*big.Rat, bool) {
	const longest = 64
	if text == "" || len(text) > longest {
		return nil, false
	}
	end := len(text) - len(strings.TrimLeft(text, "+-.0123456789"))
	number, suffix := text[:end], text[end:]
	if strings.LastIndexAny(number, "+-") > 0 || strings.Count(number, ".") > 1 || !strings.ContainsAny(number, "0123456789") {
		return nil, false
	}
	value, ok := new(big.Rat).SetString(strings.TrimPrefix(number, "+"))
	if !ok {
		return nil, false
	}
	power := int64(0)
	switch i := slices.Index(binarySuffixes, suffix); {
	case suffix == "":
	case i >= 0:
		value.Mul(value, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(10*(i+1)))))
		if limit := big.NewRat(1<<63-1, 1); new(big.Rat).Abs(value).Cmp(limit) > 0 {
			value.Mul(limit, big.NewRat(int64(value.Sign()), 1))
		}
	case slices.Contains(decimalSuffixes, suffix):
		power = int64(3 * (slices.Index(decimalSuffixes, suffix) - 3))
	case suffix[0] == 'e' || suffix[0] == 'E':
		if power, ok = exponent(suffix[1:]); !ok {
			return nil, false
		}
	default:
		return nil, false
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(power, -power)), nil))
	if power < 0 {
		return value.Quo(value, scale), true
	}
	return value.Mul(value, scale), true
}

var (
	binarySuffixes  = []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	decimalSuffixes = []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"}
)

// exponent reads an exponent of up to two digits after leading zeros; quantities with more are not compared.
func exponent(text string) (power int64, ok bool) {
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "+"), "-")
	if digits == "" || len(strings.TrimLeft(digits, "0")) > 2 || len(text)-len(digits) > 1 {
		return 0, false
	}
	for _, c := range []byte(digits) {
		if !jsonlex.IsDigit(c) {
			return 0, false
		}
		power = power*10 + int64(c-'0')
	}
	if text[0] == '-' {
		power = -power
	}
	return power, true
}

// sameTime compares two times of RFC 3339. In a built-in kind, a server keeps only as many digits as it writes.
func (o *overlay) sameTime(live, want string, at *site) bool {
	was, err1 := time.Parse(time.RFC3339Nano, live)
	is, err2 := time.Parse(time.RFC3339Nano, want)
	if err1 != nil || err2 != nil {
		return false
	}
	if o.isBuiltIn(at) {
		precision := time.Second
		if strings.Contains(live, ".") {
			precision = time.Microsecond
		}
		is = is.Truncate(precision)
	}
	return was.Equal(is)
}

// bytesOf returns the bytes of a value: a string in base64, which may have line breaks, or a list of numbers, as
// encoding/json writes an array of bytes.
func bytesOf(n *tree.Node) ([]byte, bool) {
	switch n.Kind() {
	case '"':
		b, err := base64.StdEncoding.DecodeString(string(n.Unquoted()))
		return b, err == nil
	case '[':
		items := n.Open().Items
		b := make([]byte, len(items))
		for i := range items {
			v, err := strconv.ParseUint(items[i].Scalar(), 10, 8)
			if err != nil || items[i].Kind() != '0' {
				return nil, false
			}
			b[i] = byte(v)
		}
		return b, true
	}
	return nil, false
}
