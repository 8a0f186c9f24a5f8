// The JSON of values that are not messages with members.

package protobuf

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// AppendInt appends the JSON of a value of wire type Varint: of an integer, a boolean or a duration.
func AppendInt(dst []byte, t Type, v uint64) []byte {
	switch t {
	case Bool:
		return strconv.AppendBool(dst, v != 0)
	case Duration:
		return append(append(append(dst, '"'), time.Duration(v).String()...), '"')
	}
	return strconv.AppendInt(dst, int64(v), 10)
}

// AppendLeaf appends the JSON of a value of wire type Bytes that has no members: of a string, bytes, or a message with
// a special JSON form.
func AppendLeaf(dst []byte, t Type, b []byte) ([]byte, error) {
	switch t {
	case Blob:
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), b), '"'), nil
	case Time, MicroTime:
		return appendTime(dst, b, t == MicroTime)
	case Quantity:
		return appendQuantity(dst, b)
	case IntOrString:
		return appendIntOrString(dst, b)
	case Raw:
		return appendRaw(dst, b)
	}
	return jsonlex.AppendQuoted(dst, b), nil
}

// AppendDouble appends the JSON of a floating-point number as encoding/json does. JSON cannot express infinities and
// NaN, which are an error.
func AppendDouble(dst []byte, v float64) ([]byte, error) {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return dst, ErrDouble
	}
	if abs := math.Abs(v); abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, v, 'f', -1, 64), nil
	}
	dst = strconv.AppendFloat(dst, v, 'e', -1, 64)
	if n := len(dst); dst[n-4] == 'e' && dst[n-2] == '0' { // write e-09 as e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst, nil
}

// microLayout is how the API writes times with microseconds.
const microLayout = "2006-01-02T15:04:05.000000Z07:00"

func appendTime(dst, raw []byte, micro bool) ([]byte, error) {
	if len(raw) == 0 {
		return append(dst, "null"...), nil
	}
	seconds, nanos, err := numbers(raw)
	if err != nil {
		return dst, err
	}
	if !micro {
		nanos = 0
	}
	t := time.Unix(int64(seconds), int64(nanos)).UTC()
	if limit := int64(1) << 40; int64(seconds) < -limit || int64(seconds) > limit || t.Year() < 0 || t.Year() > 9999 || nanos > 999_999_999 {
		return dst, ErrTime
	}
	if t.IsZero() {
		return append(dst, "null"...), nil
	}
	layout := time.RFC3339
	if micro {
		layout = microLayout
	}
	return append(t.AppendFormat(append(dst, '"'), layout), '"'), nil
}

// numbers reads a message whose first two fields are numbers.
func numbers(raw []byte) (first, second uint64, err error) {
	for len(raw) > 0 {
		number, typ, value, err := ReadTag(raw)
		if err != nil {
			return 0, 0, err
		}
		if number > 2 {
			if raw, err = Skip(value, typ); err != nil {
				return 0, 0, err
			}
			continue
		}
		if typ != Varint {
			return 0, 0, ErrType
		}
		n, rest, err := ReadVarint(value)
		if err != nil {
			return 0, 0, err
		}
		if number == 1 {
			first = n
		} else {
			second = n
		}
		raw = rest
	}
	return first, second, nil
}

// firstBytes reads a message whose first field is bytes. ok says whether the field is there.
func firstBytes(raw []byte) (first []byte, ok bool, err error) {
	for len(raw) > 0 {
		number, typ, value, err := ReadTag(raw)
		switch {
		case err != nil:
		case number > 1:
			raw, err = Skip(value, typ)
		case typ != Bytes:
			err = ErrType
		default:
			first, raw, err = ReadBytes(value)
			ok = true
		}
		if err != nil {
			return nil, false, err
		}
	}
	return first, ok, nil
}

func appendQuantity(dst, raw []byte) ([]byte, error) {
	text, ok, err := firstBytes(raw)
	if err != nil {
		return dst, err
	}
	if !ok {
		return append(dst, `"0"`...), nil
	}
	return jsonlex.AppendQuoted(dst, text), nil
}

func appendIntOrString(dst, raw []byte) ([]byte, error) {
	var of, number uint64
	var text []byte
	for len(raw) > 0 {
		n, typ, value, err := ReadTag(raw)
		switch {
		case err != nil:
		case n > 3:
			raw, err = Skip(value, typ)
		case n == 3 && typ == Bytes:
			text, raw, err = ReadBytes(value)
		case n == 1 && typ == Varint:
			of, raw, err = ReadVarint(value)
		case n == 2 && typ == Varint:
			number, raw, err = ReadVarint(value)
		default:
			err = ErrType
		}
		if err != nil {
			return dst, err
		}
	}
	switch of {
	case 0:
		return strconv.AppendInt(dst, int64(int32(number)), 10), nil
	case 1:
		return jsonlex.AppendQuoted(dst, text), nil
	}
	return dst, fmt.Errorf("an int-or-string of the unknown type %d", of)
}

// rawLevels is how deep encoding/json lets values nest.
const rawLevels = 10_000

func appendRaw(dst, raw []byte) ([]byte, error) {
	text, _, err := firstBytes(raw)
	if err != nil {
		return dst, err
	}
	if len(text) == 0 {
		return append(dst, "null"...), nil
	}
	s := jsonlex.Skipper{Text: text, Levels: rawLevels}
	end := s.Skip(jsonlex.SkipSpace(text, 0))
	if end < 0 || jsonlex.SkipSpace(text, end) < len(text) {
		return dst, ErrRaw
	}
	return append(dst, text...), nil
}
