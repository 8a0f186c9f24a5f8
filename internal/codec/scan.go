package codec

import "github.com/bowline-go/bowline/internal/jsonlex"

// The functions of this file are those of jsonlex, except that they return broken for any text that is not JSON. Those
// of jsonlex return its position as a negative number, but decoding gives negative numbers another meaning: see
// decoder.

// broken stands for the position after a text that is not JSON.
const broken = -1

func afterColon(data []byte, i int) int { return max(jsonlex.AfterColon(data, i), broken) }

func afterComma(data []byte, i int, shut byte) (next int, ended bool) {
	if i+1 < len(data) && data[i] == ',' && data[i+1] > ' ' { // the usual case; saves a call
		return i + 1, false
	}
	next, ended = jsonlex.AfterComma(data, i, shut)
	return max(next, broken), ended
}

func afterOpen(data []byte, i int, shut byte) (next int, ended bool) {
	next, ended = jsonlex.AfterOpen(data, i, shut)
	return max(next, broken), ended
}

func afterLiteral(data []byte, i int, literal string) int {
	return max(jsonlex.LiteralEnd(data, i, literal), broken)
}

// numberEnd returns broken for 01, so that the error is about this value. For jsonlex the number ends before the 1.
func numberEnd(data []byte, i int) int {
	end := jsonlex.NumberEnd(data, i)
	if uint(end) < uint(len(data)) && jsonlex.IsDigit(data[end]) {
		return broken
	}
	return max(end, broken)
}

// integer reads an integer of up to 19 digits, without fraction and exponent.
func integer(data []byte, i int) (v uint64, negative bool, next int) {
	if data[i] == '-' {
		negative = true
		i++
	}
	start := i
	for i < len(data) && data[i]-'0' <= 9 {
		v = v*10 + uint64(data[i]-'0')
		i++
	}
	if n := i - start; n == 0 || n > 19 || n > 1 && data[start] == '0' {
		return 0, false, broken
	}
	if i < len(data) && (data[i] == '.' || data[i]|' ' == 'e') {
		return 0, false, broken
	}
	return v, negative, i
}
