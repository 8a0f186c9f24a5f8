package meta

import (
	"math"
	"slices"
	"strconv"
)

// This file decides whether any labels meet all requirements. It can decide each key separately.

// CanMatch reports whether any object can match the selector: whether there are valid labels that meet all of its
// requirements. It is false for contradictions such as "a=1,a=2" and "!a,a", and for the selector of a nil
// [LabelSelector].
func (s Selector) CanMatch() bool {
	for rest := s.requirements; len(rest) > 0; {
		end := slices.IndexFunc(rest, func(r requirement) bool { return r.key != rest[0].key })
		if end < 0 {
			end = len(rest)
		}
		if !satisfiable(rest[:end]) {
			return false
		}
		rest = rest[end:]
	}
	return true
}

// Overlaps reports whether any object can match both selectors. For the selectors of two Deployments in a namespace it
// must be false. The answer is exact, and not a comparison of the texts. A selector that matches nothing overlaps no
// selector, not even itself.
func (s Selector) Overlaps(other Selector) bool {
	return selectorOf(slices.Concat(s.requirements, other.requirements)).CanMatch()
}

// satisfiable reports whether some value of a label, or its absence, meets all requirements of one key.
func satisfiable(all []requirement) bool {
	if meetsAll(all, nil) {
		return true
	}
	key := all[0].key
	least, most, numeric := int64(0), int64(math.MaxInt64), false // a valid label value is no negative number
	for _, r := range all {
		switch r.op {
		case OpDoesNotExist:
			return false
		case OpIn:
			return slices.ContainsFunc(r.values, func(v string) bool { return meetsAll(all, map[string]string{key: v}) })
		case OpGreaterThan:
			if r.number == math.MaxInt64 {
				return false
			}
			least, numeric = max(least, r.number+1), true
		case OpLessThan:
			most, numeric = min(most, r.number-1), true
		}
	}
	return !numeric || hasNumber(all, least, most)
}

func meetsAll(all []requirement, labels map[string]string) bool {
	return !slices.ContainsFunc(all, func(r requirement) bool { return !r.matches(labels) })
}

// hasNumber reports whether a label with a number from least to most meets all requirements. It tries the texts of each
// number, of which there are many, because a label may have leading zeros. A text fails only if a requirement excludes
// it, so hasNumber tries few texts.
func hasNumber(all []requirement, least, most int64) bool {
	for n := least; n <= most; n++ {
		for text := strconv.FormatInt(n, 10); len(text) <= labelNameMax; text = "0" + text {
			if meetsAll(all, map[string]string{all[0].key: text}) {
				return true
			}
		}
		if n == math.MaxInt64 {
			break
		}
	}
	return false
}
