package patch

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// decoder makes values of a source. Their strings are parts of one copy of its text.
type decoder struct {
	*source
	copied string
}

// decoded returns a document as nil, bool, json.Number, string, []any and map[string]any. Of members with one name the last
// counts.
func (s *source) decoded() any { return decoder{s, string(s.text)}.value(0) }

func (d decoder) value(at uint32) any {
	t := d.tokens[at]
	switch d.copied[t.start] {
	case '{':
		n := 0
		for i := at + 1; i < t.next; i = d.tokens[i+1].next {
			n++
		}
		object := make(map[string]any, n)
		for i := at + 1; i < t.next; i = d.tokens[i+1].next {
			object[d.said(i)] = d.value(i + 1)
		}
		return object
	case '[':
		n := 0
		for i := at + 1; i < t.next; i = d.tokens[i].next {
			n++
		}
		list := make([]any, 0, n)
		for i := at + 1; i < t.next; i = d.tokens[i].next {
			list = append(list, d.value(i))
		}
		return list
	case '"':
		return d.said(at)
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	}
	return json.Number(d.copied[t.start:t.end])
}

// said returns what a string says, with replacement characters for what is no Unicode.
func (d decoder) said(at uint32) string {
	t := d.tokens[at]
	if text := d.copied[t.start+1 : t.end-1]; t.plain && utf8.ValidString(text) {
		return text
	}
	return string(unquote(d.raw(at)))
}

// appendValue appends a value as a source decodes it, with the members of objects sorted.
func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		dst = append(dst, '{')
		for i, name := range names(v) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, []byte(name)), ':')
			dst = appendValue(dst, v[name])
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, item)
		}
		return append(dst, ']')
	case string:
		return appendQuoted(dst, []byte(v))
	case json.Number:
		return append(dst, v...)
	case bool:
		return strconv.AppendBool(dst, v)
	}
	return append(dst, "null"...)
}
