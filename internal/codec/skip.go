package codec

import "slices"

// maxDepth is how deep a document may nest; deeper ones are for the library, which has a bound of its own.
const maxDepth = 1000

// after returns the position behind the value at i, which it checks as thoroughly as if it were decoded.
func (d *decoder) after(i int) int { return d.afterValue(i, 0, false) }

// afterUnique is after, but gives up if an object within the value has two members of the same name, or perhaps has: it
// compares hashes. The library takes the earlier ones out of what a method or a json.RawMessage gets.
func (d *decoder) afterUnique(i int) int {
	d.hashes = d.hashes[:0]
	return d.afterValue(i, 0, true)
}

func (d *decoder) afterValue(i, depth int, unique bool) int {
	data := d.data
	if i >= len(data) {
		return giveUp
	}
	switch data[i] {
	case '"':
		end, _ := stringEnd(data, i+1)
		return behind(end)
	case '{':
		return d.afterObject(i+1, depth+1, unique)
	case '[':
		return d.afterArray(i+1, depth+1, unique)
	case 't':
		return afterLiteral(data, i, "true")
	case 'f':
		return afterLiteral(data, i, "false")
	case 'n':
		return afterLiteral(data, i, "null")
	}
	return numberEnd(data, i)
}

// behind is the position after a closing quote, or giveUp.
func behind(end int) int {
	if end < 0 {
		return giveUp
	}
	return end + 1
}

func (d *decoder) afterArray(i, depth int, unique bool) int {
	data := d.data
	if depth+d.depth > maxDepth {
		return giveUp
	}
	i, ended := afterOpen(data, i, ']')
	for i >= 0 && !ended {
		if i = d.afterValue(i, depth, unique); i >= 0 {
			i, ended = afterComma(data, i, ']')
		}
	}
	return i
}

func (d *decoder) afterObject(i, depth int, unique bool) int {
	data := d.data
	if depth+d.depth > maxDepth {
		return giveUp
	}
	first := len(d.hashes) // those of this object are from here on
	i, ended := afterOpen(data, i, '}')
	for i >= 0 && !ended {
		if data[i] != '"' {
			return giveUp
		}
		end, escaped := stringEnd(data, i+1)
		if end < 0 || escaped && unique {
			return giveUp
		}
		if unique {
			d.hashes = append(d.hashes, hash(data[i+1:end]))
		}
		if i = afterColon(data, end+1); i < 0 {
			return giveUp
		}
		if data[i] == '"' { // most are strings
			end, _ := stringEnd(data, i+1)
			i = behind(end)
		} else {
			i = d.afterValue(i, depth, unique)
		}
		if i >= 0 {
			i, ended = afterComma(data, i, '}')
		}
	}
	if unique {
		if repeats(d.hashes[first:]) {
			return giveUp
		}
		d.hashes = d.hashes[:first]
	}
	return i
}

// repeats reports whether two of the hashes are the same. It may change their order.
func repeats(hashes []uint64) bool {
	if len(hashes) > 8 {
		slices.Sort(hashes)
		return len(slices.Compact(hashes)) < len(hashes)
	}
	for i, h := range hashes {
		if slices.Contains(hashes[:i], h) {
			return true
		}
	}
	return false
}
