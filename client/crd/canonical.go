package crd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// This file writes JSON in the form that a server writes: the members in order, and numbers as the server reads them.

// canonical returns a JSON text in that form.
func canonical(text []byte) (json.RawMessage, error) {
	v, err := decode(text)
	if err != nil {
		return nil, err
	}
	return encode(v)
}

// decode returns a JSON text as maps, lists and scalars.
func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("the JSON is followed by more")
	}
	return canonicalValue(v), nil
}

func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func canonicalValue(v any) any {
	switch v := v.(type) {
	case json.Number:
		return json.Number(canonicalNumber(v))
	case []any:
		for i := range v {
			v[i] = canonicalValue(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = canonicalValue(v[name])
		}
	}
	return v
}

// canonicalNumber returns an integer of 64 bits as it is, and any other number as the floating-point number that the
// server makes of it.
func canonicalNumber(n json.Number) string {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return strconv.FormatInt(i, 10)
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil {
		return n.String()
	}
	text, err := json.Marshal(f)
	if err != nil {
		return n.String()
	}
	return string(text)
}

// same reports whether two values have the same JSON.
func same(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	if err != nil || err2 != nil {
		return false
	}
	x, err = canonical(x)
	y, err2 = canonical(y)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}
