// The wire format.

package protobuf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"unicode/utf8"
)

// WireType is how the value of a field is written.
type WireType uint8

// The wire types that are in use. Groups, 3 and 4, are not.
const (
	Varint  WireType = 0
	Fixed64 WireType = 1
	Bytes   WireType = 2
	Fixed32 WireType = 5
)

// Errors of a message that is not protobuf.
var (
	ErrVarint = errors.New("a number of more than 10 bytes")
	ErrNumber = errors.New("a field with a number that is not allowed")
	ErrGroup  = errors.New("a group or an unknown wire type, which Kubernetes does not use")
	ErrType   = errors.New("a field with another wire type than its own")
	ErrDouble = errors.New("a floating-point number that JSON does not have")
	ErrTime   = errors.New("a time that RFC 3339 does not have")
)

// maxNumber is the largest number that a field may have.
const maxNumber = 1<<29 - 1

// ReadVarint reads the number at the start of b, and returns what follows it.
func ReadVarint(b []byte) (v uint64, rest []byte, err error) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), b[1:], nil
	}
	return readVarint(b)
}

// readVarint is ReadVarint for all numbers. It is a separate function so that the compiler can inline the usual case.
func readVarint(b []byte) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(b)
	switch {
	case n > 0:
		return v, b[n:], nil
	case n == 0 && len(b) < binary.MaxVarintLen64:
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, ErrVarint
}

// ReadTag reads the tag at the start of a field, and returns what follows it.
func ReadTag(b []byte) (number int, typ WireType, rest []byte, err error) {
	v, rest, err := ReadVarint(b)
	if err != nil {
		return 0, 0, nil, err
	}
	if v>>3 == 0 || v>>3 > maxNumber {
		return 0, 0, nil, ErrNumber
	}
	return int(v >> 3), WireType(v & 7), rest, nil
}

// ReadBytes reads a value of wire type Bytes, which is a part of b, and returns what follows it.
func ReadBytes(b []byte) (value, rest []byte, err error) {
	n, rest, err := ReadVarint(b)
	if err != nil {
		return nil, nil, err
	}
	if n > uint64(len(rest)) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return rest[:n:n], rest[n:], nil
}

// Text returns a string as a server's JSON has it: with a replacement character for each byte that is not UTF-8. A
// string that is valid is returned as it is.
func Text(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return []byte(string(bytes.Runes(b)))
}

// Skip returns what follows the value of a field at the start of b.
func Skip(b []byte, typ WireType) (rest []byte, err error) {
	n := 0
	switch typ {
	case Varint:
		_, rest, err = ReadVarint(b)
		return rest, err
	case Bytes:
		_, rest, err = ReadBytes(b)
		return rest, err
	case Fixed64:
		n = 8
	case Fixed32:
		n = 4
	default:
		return nil, ErrGroup
	}
	if len(b) < n {
		return nil, io.ErrUnexpectedEOF
	}
	return b[n:], nil
}

// ReadDouble reads a value of wire type Fixed64 as a floating-point number, and returns what follows it.
func ReadDouble(b []byte) (v float64, rest []byte, err error) {
	if len(b) < 8 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b)), b[8:], nil
}

// AppendTag appends the tag of a field.
func AppendTag(dst []byte, number int, typ WireType) []byte {
	return binary.AppendUvarint(dst, uint64(number)<<3|uint64(typ))
}

// AppendBytes appends a field of wire type Bytes.
func AppendBytes(dst []byte, number int, value []byte) []byte {
	dst = binary.AppendUvarint(AppendTag(dst, number, Bytes), uint64(len(value)))
	return append(dst, value...)
}

// AppendString appends a field that is a string.
func AppendString(dst []byte, number int, value string) []byte {
	dst = binary.AppendUvarint(AppendTag(dst, number, Bytes), uint64(len(value)))
	return append(dst, value...)
}

// AppendVarint appends a field that is an integer.
func AppendVarint(dst []byte, number int, value uint64) []byte {
	return binary.AppendUvarint(AppendTag(dst, number, Varint), value)
}
