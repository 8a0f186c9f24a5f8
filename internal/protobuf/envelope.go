// The envelope around an object.

package protobuf

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// MediaType is the type of a body that is an envelope.
const MediaType = "application/vnd.kubernetes.protobuf"

// Magic is the start of an envelope. A message of k8s.io/apimachinery's runtime.Unknown follows.
const Magic = "k8s\x00"

// Envelope says what an object is.
type Envelope struct {
	APIVersion, Kind string
	// Raw is the object's message. It is a part of the envelope.
	Raw []byte
}

// ErrMagic means that the bytes are not an envelope.
var ErrMagic = errors.New("it does not begin with the prefix of Kubernetes' protobuf")

// Open reads an envelope.
func Open(b []byte) (Envelope, error) {
	rest, ok := bytes.CutPrefix(b, []byte(Magic))
	if !ok {
		return Envelope{}, ErrMagic
	}
	var e Envelope
	for len(rest) > 0 {
		number, typ, value, err := ReadTag(rest)
		if err != nil {
			return Envelope{}, err
		}
		if number > 4 {
			if rest, err = Skip(value, typ); err != nil {
				return Envelope{}, err
			}
			continue
		}
		if typ != Bytes {
			return Envelope{}, ErrType
		}
		var content []byte
		if content, rest, err = ReadBytes(value); err != nil {
			return Envelope{}, err
		}
		switch number {
		case 1:
			e.APIVersion, e.Kind, err = ReadTypeMeta(content)
		case 2:
			e.Raw = content
		case 3:
			if len(content) > 0 {
				err = fmt.Errorf("its content has the encoding %.20q; only content without an encoding can be read", content)
			}
		case 4:
			if len(content) > 0 && string(content) != MediaType {
				err = fmt.Errorf("its content has the type %.60q, want %s", content, MediaType)
			}
		}
		if err != nil {
			return Envelope{}, err
		}
	}
	return e, nil
}

// Append appends an envelope around an object's message.
func (e Envelope) Append(dst []byte) []byte {
	dst = append(dst, Magic...)
	dst = AppendBytes(dst, 1, e.typeMeta())
	dst = AppendBytes(dst, 2, e.Raw)
	dst = AppendString(dst, 3, "")
	return AppendString(dst, 4, "")
}

// ReadTypeMeta reads the message that has the kind and the apiVersion.
func ReadTypeMeta(b []byte) (apiVersion, kind string, err error) {
	for len(b) > 0 {
		number, typ, value, err := ReadTag(b)
		if err != nil {
			return "", "", err
		}
		if number > 2 || typ != Bytes {
			if b, err = Skip(value, typ); err != nil {
				return "", "", err
			}
			continue
		}
		var text []byte
		if text, b, err = ReadBytes(value); err != nil {
			return "", "", err
		}
		if number == 1 {
			apiVersion = string(text)
		} else {
			kind = string(text)
		}
	}
	return apiVersion, kind, nil
}

// ErrKind means that no table has a kind.
var ErrKind = errors.New("no table has the kind")

// AppendObject appends the envelope of an object from its JSON, which names its kind and apiVersion. unknown is as for
// [Message.AppendProto].
func (s *Schema) AppendObject(dst, text []byte, unknown func(path string) error) ([]byte, error) {
	t, err := readTape(text)
	if err != nil {
		return dst, err
	}
	var e Envelope
	if t.kind(0) == '{' {
		for i, end := int32(1), t.nodes[0].next; i < end; i = t.nodes[i+1].next {
			if t.kind(i+1) != '"' {
				continue
			}
			switch string(t.string(i)) {
			case "kind":
				e.Kind = string(t.string(i + 1))
			case "apiVersion":
				e.APIVersion = string(t.string(i + 1))
			}
		}
	}
	m := s.Of(e)
	if m == nil {
		return dst, fmt.Errorf("%w %q of %q", ErrKind, e.Kind, e.APIVersion)
	}
	dst = append(dst, Magic...)
	dst = AppendBytes(dst, 1, e.typeMeta())
	dst, mark := begin(dst, 2)
	w := writer{tape: t, unknown: unknown}
	if dst, err = w.message(dst, m, 0, maxLevels); err != nil {
		return dst, err
	}
	dst = end(dst, mark)
	return AppendString(AppendString(dst, 3, ""), 4, ""), nil
}

// Of returns the message of the kind that an envelope names, nil if no table has it.
func (s *Schema) Of(e Envelope) *Message {
	group, version, found := strings.Cut(e.APIVersion, "/")
	if !found {
		group, version = "", e.APIVersion
	}
	return s.Kind(group, version, e.Kind)
}

// typeMeta returns the message of the kind and the apiVersion.
func (e Envelope) typeMeta() []byte {
	return AppendString(AppendString(nil, 1, e.APIVersion), 2, e.Kind)
}
