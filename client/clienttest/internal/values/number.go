package values

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// checkNumber checks an int64 or a float64.
func (s *Schema) checkNumber(v any, path string) (r result) {
	f, isInt := 0.0, false
	switch v := v.(type) {
	case int64:
		f, isInt = float64(v), true
	case float64:
		f = v
	}
	typ := strings.Join(s.types, ",")
	// The server prints a floating-point number without an exponent before it reads it as an integer.
	fits := func(f float64, text string) bool {
		switch {
		case typ == "integer" && s.Format == "int32":
			_, err := strconv.ParseInt(text, 10, 32)
			return err == nil
		case typ == "integer":
			_, err := strconv.ParseInt(text, 10, 64)
			return err == nil
		case typ == "number" && s.Format == "float":
			return math.Abs(f) <= math.MaxFloat32
		}
		return true
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if isInt {
		text = fmt.Sprint(v)
	}
	within := func(what string, f float64, text string) bool {
		if fits(f, text) {
			return true
		}
		format := "(default format)"
		if s.Format != "" {
			format = "with format " + s.Format
		}
		r.add(problem{
			reason: "FieldValueInvalid", whole: true,
			why: fmt.Sprintf("%s value must be of type %s %s in %s", what, typ, format, strings.TrimPrefix(path, ".")),
		})
		return false
	}
	within("Checked", f, text)
	limit := func(what string, bound float64) (exact bool) {
		return within(what, bound, strconv.FormatFloat(bound, 'f', -1, 64)) && isInt
	}
	if s.MultipleOf != nil {
		factor := *s.MultipleOf
		exact := limit("MultipleOf", factor)
		if exact {
			factor = math.Trunc(factor) // as the server does
		}
		switch {
		case factor <= 0:
			r.add(invalid(path, factor, "factor MultipleOf declared for %s must be positive: %v", strings.TrimPrefix(path, "."), factor))
		case exact && v.(int64)%int64(factor) != 0, !exact && !isWhole(quotient(f, factor)):
			r.add(invalid(path, v, "%s should be a multiple of %v", in(path), factor))
		}
	}
	bound := func(what string, at *float64, exclusive bool, than string, outside func(order int) bool) {
		if at == nil {
			return
		}
		order, shown, bad := cmp.Compare(f, *at), any(*at), any(f)
		if limit(what, *at) {
			order, shown, bad = cmp.Compare(v.(int64), int64(*at)), int64(*at), v
		}
		if outside(order) || exclusive && order == 0 {
			if !exclusive {
				than += " than or equal to"
			} else {
				than += " than"
			}
			r.add(invalid(path, bad, "%s should be %s %v", in(path), than, shown))
		}
	}
	bound("Minimum boundary", s.Minimum, s.ExclusiveMinimum, "greater", func(order int) bool { return order < 0 })
	bound("Maximum boundary", s.Maximum, s.ExclusiveMaximum, "less", func(order int) bool { return order > 0 })
	r.matched++
	return r
}

func quotient(f, factor float64) float64 {
	if factor < 1 {
		return 1 / factor * f
	}
	return f / factor
}

// isWhole reports whether a number is an integer that a floating-point number holds exactly, but for a small error of
// the calculation.
func isWhole(f float64) bool {
	const most, tolerance = 1<<53 - 1, 1e-9
	if math.Abs(f) > most || math.IsNaN(f) {
		return false
	}
	whole := math.Trunc(f)
	return f == whole || f > 1 && (f-whole)/(f+whole) < tolerance
}
