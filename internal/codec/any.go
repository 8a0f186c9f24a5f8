package codec

// any decodes the value at i as encoding/json does for an any: map[string]any, []any, string, float64, bool or nil.
func (d *decoder) any(i int) (any, int) {
	data := d.data
	if i >= len(data) {
		return nil, broken
	}
	switch data[i] {
	case '"':
		s, next := d.string(i)
		return s, next
	case '{':
		m, next := d.anyMap(i + 1)
		return m, next
	case '[':
		return d.anySlice(i + 1)
	case 't':
		return true, afterLiteral(data, i, "true")
	case 'f':
		return false, afterLiteral(data, i, "false")
	case 'n':
		return nil, afterLiteral(data, i, "null")
	}
	v, next := d.float(float64Type, i, 64)
	return v, next
}

func (d *decoder) anyMap(i int) (map[string]any, int) {
	if d.depth++; d.depth > maxDepth {
		return nil, broken
	}
	names, values := len(d.strings), len(d.anys)
	var failed []failure
	i, ended := afterOpen(d.data, i, '}')
	for i >= 0 && !ended {
		var name string
		if name, i = d.name(i); i < 0 {
			return nil, broken
		}
		d.strings = append(d.strings, name)
		if i = d.pushAny(i); i < 0 {
			if i = d.memberFails(&failed, len(d.anys)-values-1, step{name: name, kind: stepKey}, i); i < 0 {
				return nil, broken
			}
		}
		i, ended = afterComma(d.data, i, '}')
	}
	if i < 0 {
		return nil, broken
	}
	if failed != nil && d.entryFails(failed, d.strings[names:], 1) {
		i = ^i
	}
	m := make(map[string]any, len(d.anys)-values)
	for n, name := range d.strings[names:] {
		m[name] = d.anys[values+n]
	}
	d.popStrings(names)
	d.popAnys(values)
	d.depth--
	return m, i
}

func (d *decoder) anySlice(i int) (any, int) {
	if d.depth++; d.depth > maxDepth {
		return nil, broken
	}
	first := len(d.anys)
	i, ended := afterOpen(d.data, i, ']')
	for i >= 0 && !ended {
		if i = d.pushAny(i); i < 0 {
			if i = d.elementFails(len(d.anys)-first-1, i); i == broken {
				return nil, broken
			}
			break
		}
		i, ended = afterComma(d.data, i, ']')
	}
	if i == broken {
		return nil, broken
	}
	all := make([]any, len(d.anys)-first)
	copy(all, d.anys[first:])
	d.popAnys(first)
	d.depth--
	return all, i
}

// pushAny decodes the value at i onto the stack.
func (d *decoder) pushAny(i int) int {
	v, next := d.any(i)
	d.anys = append(d.anys, v)
	return next
}

// popAnys removes the values from first on from the stack.
func (d *decoder) popAnys(first int) {
	clear(d.anys[first:])
	d.anys = d.anys[:first]
}
