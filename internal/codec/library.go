package codec

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"io"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// This file is decoding by github.com/go-json-experiment/json. It knows every Go type and every document, and says what is
// wrong with those that do not fit. What is faster (decodeFast) gives the same or leaves it to this.

// formats are the options that make the library read what encoding/json writes. Not among them: case-insensitive names,
// because the API's names are case-sensitive; and everything that concerns encoding, because Marshal uses encoding/json.
// They never change, and are built once because each call would otherwise join them anew.
var formats = json.JoinOptions(
	// UnmarshalJSON is not called for the keys of a map, only UnmarshalText.
	jsonv1.CallMethodsWithLegacySemantics(true),
	// [N]byte is an array of numbers; []byte is base64, also if its elements are of a named type, and may be an array.
	jsonv1.FormatByteArrayAsArray(true),
	jsonv1.FormatBytesWithLegacySemantics(true),
	// Line breaks in base64 are skipped.
	jsonv1.ParseBytesWithLooseRFC4648(true),
	// A time.Duration is a number of nanoseconds; the library refuses it otherwise.
	jsonv1.FormatDurationAsNano(true),
	// A time.Time may have a comma before the fraction, or an hour with one digit.
	jsonv1.ParseTimeWithLooseRFC3339(true),
	// The option `string` is for strings and booleans too, and not for what is inside a composite.
	jsonv1.StringifyWithLegacySemantics(true),
	// An array may have more or fewer elements than the Go type.
	jsonv1.UnmarshalArrayFromAnyLength(true),
	// null leaves a field as it is. It is only ever filled already with the kind and apiVersion that Decode puts there.
	jsonv1.MergeWithLegacySemantics(true),
)

// fast is for what the API server sends. That duplicate names are refused costs little, allows a faster way to fill an
// any, and shows which objects need lenient. Without jsonv1.ReportErrorsWithLegacySemantics the library validates an
// object while it decodes it, not before, which for a small T is half of the time, and its errors say where they are.
var fast = json.JoinOptions(formats, jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))

// lenient is for the rest: text that is not Unicode, for which the replacement character stands, types whose tags the
// library calls malformed, and encoding/json's Number, which the library does not know. (To say so in fast would cost
// every field of every type a look-up.)
var lenient = json.JoinOptions(
	formats,
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
	jsonv1.ReportErrorsWithLegacySemantics(true),
	json.WithUnmarshalers(json.UnmarshalFromFunc(unmarshalNumber)),
)

// These refuse what has no place in the Go type. Members of a struct's fallback count as such, since encoding/json, which
// encodes, knows of none. whole says where: it is fast but for the numbers, so that it takes nearly every type.
var (
	wholeFast    = json.JoinOptions(fast, json.RejectUnknownMembers(true))
	wholeLenient = json.JoinOptions(lenient, json.RejectUnknownMembers(true))
	whole        = json.JoinOptions(wholeFast, json.WithUnmarshalers(json.UnmarshalFromFunc(unmarshalNumber)))
)

// unmarshalNumber takes a JSON number as it is spelt. Everything else is for the type underneath, which is a string.
func unmarshalNumber(d *jsontext.Decoder, n *stdjson.Number) error {
	if d.PeekKind() != '0' {
		return json.SkipFunc
	}
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	*n = stdjson.Number(v)
	return nil
}

// unmarshalByLibrary is unmarshal without the fast way. With refuse it is an error, too, if T has no place for a member.
func unmarshalByLibrary[T any](raw []byte, apiVersion, kind string, refuse bool) (T, error) {
	var zero T
	fast, lenient := fast, lenient
	if refuse {
		fast, lenient = wholeFast, wholeLenient
	}
	switch string(bytes.Trim(raw, " \t\r\n")) {
	case "":
		return zero, &Error{Type: reflect.TypeFor[T](), message: "the document is empty", cause: io.ErrUnexpectedEOF}
	case "null":
		return zero, &Error{Type: reflect.TypeFor[T](), message: "the document is null"}
	}
	v := typed[T](apiVersion, kind)
	err := json.Unmarshal(raw, &v, fast)
	if err == nil {
		return v, nil
	}
	v = typed[T](apiVersion, kind)
	lenientErr := unmarshalLenient(raw, &v, lenient)
	if lenientErr == nil {
		return v, nil
	}
	return zero, newError(reflect.TypeFor[T](), err, lenientErr)
}

// typed returns a T that has nothing but its kind and apiVersion, as far as it has members for them. If both are empty, it
// is zero.
func typed[T any](apiVersion, kind string) (v T) {
	if apiVersion == "" && kind == "" {
		return v
	}
	raw := append(make([]byte, 0, 96), `{"kind":`...)
	raw, _ = jsontext.AppendQuote(raw, kind)
	raw = append(raw, `,"apiVersion":`...)
	raw, _ = jsontext.AppendQuote(raw, apiVersion)
	raw = append(raw, '}')
	if json.Unmarshal(raw, &v, fast) != nil {
		var zero T // its kind is something else than a string; the object itself will tell
		return zero
	}
	return v
}

func unmarshalLenient(raw []byte, v any, lenient json.Options) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(true))
	_, err := d.ReadValue()
	if errors.Is(err, jsontext.ErrDuplicateName) {
		raw, err = lastOfEach(raw)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v, lenient)
}
