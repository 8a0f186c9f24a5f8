package fieldset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// MaxKeyMembers is how many members the key of a list's element may have. The API's schemas have at most three.
const MaxKeyMembers = 64

// Field returns the key of a member of an object.
func Field(name string) string { return "f:" + name }

// Key returns the key of the list element that has these members. The values are decoded JSON. It is an error if one
// of them is not a scalar.
func Key(members map[string]any) (string, error) {
	if len(members) == 1 {
		for name, value := range members {
			if text, ok := value.(string); ok && isPlain(name) && isPlain(text) {
				return `k:{"` + name + `":"` + text + `"}`, nil
			}
		}
	}
	object := make(map[string]any, len(members))
	for name, value := range members {
		scalar, err := canonical(value)
		if err != nil {
			return "", err
		}
		switch scalar.(type) {
		case map[string]any, []any:
			return "", fmt.Errorf("key of an element must have scalar members, but its %q is not one", name)
		}
		object[name] = scalar
	}
	if len(object) == 0 {
		return "", errors.New("key of an element must have a member")
	}
	text, err := json.Marshal(object)
	return "k:" + string(text), err
}

// Value returns the key of the element with this value in a list that is a set. The value is decoded JSON.
func Value(value any) (string, error) {
	v, err := canonical(value)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(v)
	return "v:" + string(text), err
}

// Index returns the key of the element of a list at an index.
func Index(i int) string { return "i:" + strconv.Itoa(i) }

// Members returns the members in a key of the form k:, and false for any other key. Numbers are json.Number.
func Members(key string) (map[string]any, bool) {
	text, ok := strings.CutPrefix(key, "k:")
	if !ok {
		return nil, false
	}
	v, err := decode(text)
	members, ok := v.(map[string]any)
	return members, err == nil && ok
}

// Element returns the value in a key of the form v:, and false for any other key. Numbers are json.Number.
func Element(key string) (any, bool) {
	text, ok := strings.CutPrefix(key, "v:")
	if !ok {
		return nil, false
	}
	v, err := decode(text)
	return v, err == nil
}

// canonicalKey returns a key with its JSON in canonical form.
func canonicalKey(key string) (string, error) {
	kind, rest, ok := strings.Cut(key, ":")
	if !ok {
		return "", fmt.Errorf("key %s must start with i:, k:, v: or f: and a name", quote(key))
	}
	switch kind {
	case "f":
		return key, nil
	case "i":
		i, err := strconv.Atoi(rest)
		if err != nil || i < 0 {
			return "", fmt.Errorf("key %s must be i: and the index of an element", quote(key))
		}
		return Index(i), nil
	case "k", "v":
		if kind == "k" && isPlainKey(rest) {
			return key, nil
		}
		v, err := decode(rest)
		if err != nil {
			return "", fmt.Errorf("key %s must be %s and JSON: %w", quote(key), kind+":", err)
		}
		if kind == "v" {
			return Value(v)
		}
		members, ok := v.(map[string]any)
		if !ok {
			return "", fmt.Errorf("key %s must be k: and a JSON object", quote(key))
		}
		if len(members) > MaxKeyMembers {
			return "", fmt.Errorf("key %s has %d members, and %d are allowed", quote(key), len(members), MaxKeyMembers)
		}
		if key, err := Key(members); err == nil {
			return key, nil
		}
		return "", fmt.Errorf("key %s must be k: and a JSON object of scalars", quote(key))
	}
	return "", fmt.Errorf("key %s must start with i:, k:, v: or f: and a name", quote(key))
}

// isPlainKey reports whether text is a JSON object with one member whose name and value consist of letters, digits, and
// the bytes - . / _. Such a text is canonical. Most keys have this form, such as {"name":"web"}.
func isPlainKey(text string) bool {
	rest, opened := strings.CutPrefix(text, `{"`)
	inside, closed := strings.CutSuffix(rest, `"}`)
	name, value, isMember := strings.Cut(inside, `":"`)
	return opened && closed && isMember && isPlain(name) && isPlain(value)
}

func isPlain(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '-' <= c && c <= '9', c == '_':
		default:
			return false
		}
	}
	return true
}

// decode reads one JSON value, with numbers as json.Number.
func decode(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("found more than one value")
	}
	return v, nil
}

// canonical returns a decoded JSON value whose numbers are written in one way.
func canonical(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case nil, bool, string:
		return v, nil
	case json.Number:
		return number(v), nil
	case float64:
		text, err := json.Marshal(v)
		return number(json.Number(text)), err
	case int64:
		return json.Number(strconv.FormatInt(v, 10)), nil
	case int:
		return json.Number(strconv.Itoa(v)), nil
	case []any:
		list := make([]any, len(v))
		for i := range v {
			if list[i], err = canonical(v[i]); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for name := range v {
			if object[name], err = canonical(v[name]); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return nil, fmt.Errorf("a %T is not decoded JSON", v)
}

// number returns a number as a server reads and writes it: as the nearest floating point number, unless it is an
// integer.
func number(n json.Number) json.Number {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return json.Number(strconv.FormatInt(i, 10))
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return n
	}
	if f == 0 {
		return "0"
	}
	text, err := json.Marshal(f)
	if err != nil {
		return n
	}
	return json.Number(text)
}

// Path returns the path of the field that the keys lead to, in the form in which a server names it in a conflict, such
// as .spec.template.spec.containers[name="web"].image.
func Path(keys []string) string {
	var b strings.Builder
	for _, key := range keys {
		kind, rest, _ := strings.Cut(key, ":")
		switch kind {
		case "f":
			b.WriteString("." + rest)
		case "i":
			b.WriteString("[" + rest + "]")
		case "v":
			v, err := decode(rest)
			if err != nil {
				v = rest
			}
			b.WriteString("[=" + text(v) + "]")
		case "k":
			members, _ := Members(key)
			b.WriteByte('[')
			for i, name := range slices.Sorted(maps.Keys(members)) {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(name + "=" + text(members[name]))
			}
			b.WriteByte(']')
		}
	}
	return b.String()
}

// text writes a value as a server does in a path.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, text(e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+"="+text(v[name]))
		}
		return "{" + strings.Join(parts, ";") + "}"
	}
	return fmt.Sprint(v)
}

// keys returns the keys of the children in the order in which a server writes them.
func (s *Set) keys() []string {
	keys := slices.AppendSeq(make([]string, 0, len(s.Children)), maps.Keys(s.Children))
	if !slices.ContainsFunc(keys, func(key string) bool { return !sortsAsText(key) }) {
		slices.Sort(keys)
		return keys
	}
	if len(keys) == 1 {
		return keys
	}
	type entry struct {
		key   string
		value any // of k: and v:
	}
	entries := make([]entry, 0, len(keys))
	for _, key := range keys {
		e := entry{key: key}
		if key[:min(1, len(key))] == "k" {
			e.value, _ = Members(key)
		} else {
			e.value, _ = Element(key)
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if c := cmp.Compare(rank(a.key), rank(b.key)); c != 0 {
			return c
		}
		switch {
		case strings.HasPrefix(a.key, "k:"), strings.HasPrefix(a.key, "v:"):
			if c := compare(a.value, b.value); c != 0 {
				return c
			}
		case strings.HasPrefix(a.key, "i:"):
			if c := cmp.Or(cmp.Compare(len(a.key), len(b.key)), cmp.Compare(a.key, b.key)); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.key, b.key)
	})
	for i, e := range entries {
		keys[i] = e.key
	}
	return keys
}

// sortsAsText reports whether a server sorts keys of this form by their texts. It does so for most keys: the quotes
// around plain texts come before all of their characters.
func sortsAsText(key string) bool {
	rest, isElement := strings.CutPrefix(key, "k:")
	return isElement && isPlainKey(rest) || strings.HasPrefix(key, "f:")
}

// rank orders the forms of keys.
func rank(key string) int {
	kind, _, _ := strings.Cut(key, ":")
	return slices.Index([]string{"f", "k", "v", "i"}, kind)
}

// compare orders values of JSON: numbers, strings, booleans, lists, objects, null.
func compare(a, b any) int {
	if c := cmp.Compare(order(a), order(b)); c != 0 {
		return c
	}
	switch a := a.(type) {
	case json.Number:
		x, errA := a.Int64()
		y, errB := b.(json.Number).Int64()
		if errA == nil && errB == nil {
			return cmp.Compare(x, y)
		}
		f, _ := a.Float64()
		g, _ := b.(json.Number).Float64()
		return cmp.Compare(f, g)
	case string:
		return cmp.Compare(a, b.(string))
	case []any:
		return slices.CompareFunc(a, b.([]any), compare)
	case map[string]any:
		b := b.(map[string]any)
		namesA, namesB := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))
		for i := range min(len(namesA), len(namesB)) {
			if c := cmp.Or(cmp.Compare(namesA[i], namesB[i]), compare(a[namesA[i]], b[namesB[i]])); c != 0 {
				return c
			}
		}
		return cmp.Compare(len(namesA), len(namesB))
	}
	return bytes.Compare([]byte(text(a)), []byte(text(b)))
}

func order(v any) int {
	switch v.(type) {
	case json.Number:
		return 0
	case string:
		return 1
	case bool:
		return 2
	case []any:
		return 3
	case map[string]any:
		return 4
	}
	return 5
}

// quote quotes a key for an error's text, without its middle if it is long.
func quote(text string) string {
	const most = 120
	if len(text) > most {
		text = text[:most/2] + "..." + text[len(text)-most/2:]
	}
	return strconv.Quote(text)
}
