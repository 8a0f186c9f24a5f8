package jsonlex_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// texts are JSON and nearly JSON, for the tests and as seeds for fuzzing.
var texts = []string{
	``, ` `, `""`, `"a"`, `"`, `"a`, `{}`, `[]`, `{`, `[`, ` { } `, "[\n]\r\t ", `[1,2]`, `[1 , 2]`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1}`,
	`{ "a" : 1 , "b" : [ { } , "x" ] }`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{"a" 1}`, `{a:1}`, `{1:1}`, `{"a":1 "b":2}`, `{]`, `[}`, `]`, `[1]]`,
	`true`, `false`, `null`, `tru`, `truE`, `nul`, `nulll`, `fals e`, `True`, `[true,false,null]`, `x`, `'a'`, `/**/1`, "\x00", "\ufeff1", "\v1", "\u00a01",
	`0`, `-0`, `-`, `--1`, `+1`, `01`, `-01`, `1.`, `.5`, `1.5`, `1.50`, `1e`, `1e+`, `1e-`, `1e5`, `1E+05`, `1e5.5`, `0e0`, `0.0e-0`, `1.e1`, `12345678901234567890`, `1a`, `0x10`,
	`Infinity`, `NaN`, `1_000`, `[-]`, `[1.]`, `{"a":01}`,
	`"\n\t\r\b\f\"\\\/"`, `"\u0041"`, `"\u00e9\u20AC"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83d\u0041"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\ud83dx"`, `"\ud83d\n"`, `"\uD83D\uDE0"`,
	`"\`, `"\"`, `"\u`, `"\u1`, `"\u12`, `"\u123`, `"\u1234`, `"\u12"`, `"\u123g"`, `"\uxxxx"`, `"\x41"`, `"\a"`, `"\'"`, `"\\`, `"\\"`, `"\\\"`, `"\\\""`, `"a\qb"`, `"\\u12g"`, `"\\\u12g"`,
	"\"\x00\"", "\"\x1f\"", "\"\x7f\"", "\"\n\"", "\"\\\n\"", "\"\\u12\n\"", "\"\\\\\n\"", "\"abcdefg\x01hijk\"", "{\"a\x02\":1}",
	`"é"`, `"日本語"`, `"😀"`, "\"\xff\"", "\"\xc3\"", "\"\xe6\x97\"", "\"\xed\xa0\xbd\"", "\"\xc0\xaf\"", "\"\xf0\x9f\x98", "\"abc\xffdef\xfe\"", "\"\ufffd\"", "\"\u2028\u2029\"", "\xff", "[\"\xff\",\xff]",
	`"" `, `"a"b`, `"12345678"`, `"1234567"`, `"123456789"`, `"1234567890123456"`, `"12345678\n12345678"`, `"<a href='x'>&</a>"`,
	`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"x":"y"}},"spec":{"n":-1.5e3,"l":["a","b"],"t":true}}`,
	`{"a":{"a":{"a":{"a":[[[[[["\u00e9"]]]]]]}}}}`, "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": \"c d\"\n}\n", `[[[[[[[[[[`, `[{"a":[{"a":[{`,
}

// levels is how deep encoding/json lets values nest.
const levels = 10_000

// end returns the position after the only value of a text, and the white space around it, or ^at.
func end(text []byte) (end, spaces int) {
	s := jsonlex.Skipper{Text: text, Levels: levels}
	start := jsonlex.SkipSpace(text, 0)
	i := s.Skip(start)
	if i < 0 {
		return i, 0
	}
	if end = jsonlex.SkipSpace(text, i); end < len(text) {
		return ^end, 0
	}
	return end, s.Spaces + start + end - i
}

// isCut reports whether encoding/json finds nothing wrong with a text but that it ends in the middle of a value, or before it.
func isCut(text []byte) bool {
	var v json.RawMessage
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&v)
	return err == io.EOF || err == io.ErrUnexpectedEOF
}

func checkValue(t *testing.T, text []byte) {
	t.Helper()
	got, spaces := end(text)
	if valid := json.Valid(text); valid != (got >= 0) {
		t.Fatalf("%q ends at %d, and is valid: %v", text, got, valid)
	}
	if got < 0 {
		checkBroken(t, text, ^got)
		return
	}
	if got != len(text) {
		t.Fatalf("%q ends at %d", text, got)
	}
	var want bytes.Buffer
	if err := json.Compact(&want, text); err != nil {
		t.Fatal(err)
	}
	compact := jsonlex.AppendCompact([]byte("before"), text)
	if string(compact) != "before"+want.String() {
		t.Fatalf("%q is compacted to %q, not to %q", text, compact, want.Bytes())
	}
	if want := len(text) - want.Len(); spaces != want {
		t.Fatalf("%q has %d bytes of white space, counted are %d", text, want, spaces)
	}
}

// checkBroken checks that at is the first byte that does not fit: all that is before it can go on to be JSON.
func checkBroken(t *testing.T, text []byte, at int) {
	t.Helper()
	if at > len(text) {
		t.Fatalf("%q is broken at %d", text, at)
	}
	// A number or a value alone is complete, too.
	if before := text[:at]; !isCut(before) && !json.Valid(before) {
		t.Fatalf("%q is said to be broken at %d, but is before", text, at)
	}
	if at < len(text) {
		if with := text[:at+1]; isCut(with) || json.Valid(with) {
			t.Fatalf("%q is said to be broken at %d, but is not", text, at)
		}
	}
	start := jsonlex.EscapeStart(text, at)
	if start == at {
		return
	}
	// What stands there is an escape, cut or bad, and the string before it is none of its business.
	if start > at || at-start > 5 || text[start] != '\\' || !isCut(text[:start]) || json.Valid([]byte(`"`+string(text[start:min(at+1, len(text))])+`"`)) {
		t.Fatalf("%q is broken at %d, and no escape starts at %d", text, at, start)
	}
}

func TestAValueEndsWhereEncodingJSONSays(t *testing.T) {
	for _, text := range texts {
		checkValue(t, []byte(text))
		for cut := range len(text) {
			checkValue(t, []byte(text[:cut]))
		}
		for _, around := range []string{"[%]", `{"a":%}`, `["",%,1]`, " % ", "[ % , % ]", "% %", "%,"} {
			checkValue(t, []byte(strings.ReplaceAll(around, "%", text)))
		}
	}
}

func TestEveryByteInEveryPlaceIsJudgedAsEncodingJSONDoes(t *testing.T) {
	for _, text := range texts {
		if len(text) > 40 {
			continue
		}
		for i := range len(text) {
			for c := range 256 {
				changed := []byte(text)
				changed[i] = byte(c)
				checkValue(t, changed)
			}
		}
	}
}

func TestLevelsAreCounted(t *testing.T) {
	for _, c := range []struct {
		text   string
		levels int
		want   int
		deep   bool
	}{
		{`1`, 0, 1, false},
		{`"a"`, 0, 3, false},
		{`[]`, 0, ^0, true},
		{`{}`, 0, ^0, true},
		{`[]`, 1, 2, false},
		{`[1,[2]]`, 1, ^3, true},
		{`[1,[2]]`, 2, 7, false},
		{`{"a":{"b":[]}}`, 2, ^10, true},
		{`{"a":{"b":[]}}`, 3, 14, false},
		{`{"a":[],"b":[],"c":[{}]}`, 2, ^20, true},
		{`{"a":[],"b":[],"c":[{}]}`, 3, 24, false},
		{`{[`, 2, ^1, false},
		{`[[x`, 2, ^2, false},
	} {
		s := jsonlex.Skipper{Text: []byte(c.text), Levels: c.levels}
		if got := s.Skip(0); got != c.want || s.Deep != c.deep {
			t.Errorf("%s with %d levels ends at %d, too deep: %v; want %d, %v", c.text, c.levels, got, s.Deep, c.want, c.deep)
		}
	}
	deep := []byte(strings.Repeat("[", levels+1) + strings.Repeat("]", levels+1))
	checkValue(t, deep)
	checkValue(t, deep[1:len(deep)-1])
}

func TestScalarsAreNeitherObjectsNorArrays(t *testing.T) {
	for _, text := range texts {
		text := []byte(text)
		end := jsonlex.ScalarEnd(text, 0)
		composite := len(text) > 0 && (text[0] == '{' || text[0] == '[')
		s := jsonlex.Skipper{Text: text, Levels: levels}
		if skipped := s.Skip(0); composite && end != ^0 || !composite && end != skipped {
			t.Errorf("%q ends at %d as a scalar, and at %d", text, end, skipped)
		}
	}
}

func TestLiteralsAreSpeltOut(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"true", 5}, {"true,", 5}, {"truely", 5}, {"", ^1}, {"t", ^2}, {"tru", ^4}, {"trUe", ^3}, {"False", ^1}, {"x", ^1},
	} {
		if got := jsonlex.LiteralEnd([]byte("["+c.text), 1, "true"); got != c.want {
			t.Errorf("%q ends at %d, want %d", c.text, got, c.want)
		}
	}
}

func TestSeparatorsMayHaveSpace(t *testing.T) {
	for _, c := range []struct {
		text                string
		colon, comma, first int
		shut, shutFirst     bool
	}{
		{text: ``, colon: ^0, comma: ^0, first: ^0},
		{text: ` `, colon: ^1, comma: ^1, first: ^1},
		{text: `:1`, colon: 1, comma: ^0, first: 0},
		{text: ` : 1`, colon: 3, comma: ^1, first: 1},
		{text: `:`, colon: ^1, comma: ^0, first: 0},
		{text: `: `, colon: ^2, comma: ^0, first: 0},
		{text: `,1`, colon: ^0, comma: 1, first: 0},
		{text: " ,\t1", colon: ^1, comma: 3, first: 1},
		{text: `,`, colon: ^0, comma: ^1, first: 0},
		{text: ", \n", colon: ^0, comma: ^3, first: 0},
		{text: `,]`, colon: ^0, comma: 1, first: 0},
		{text: `]`, colon: ^0, comma: 1, first: 1, shut: true, shutFirst: true},
		{text: "\r]1", colon: ^1, comma: 2, first: 2, shut: true, shutFirst: true},
		{text: `}`, colon: ^0, comma: ^0, first: 0},
		{text: `1]`, colon: ^0, comma: ^0, first: 0},
	} {
		text := []byte(c.text)
		if got := jsonlex.AfterColon(text, 0); got != c.colon {
			t.Errorf("%q as a colon: %d, want %d", text, got, c.colon)
		}
		if got, shut := jsonlex.AfterComma(text, 0, ']'); got != c.comma || shut != c.shut {
			t.Errorf("%q as a comma: %d, %v; want %d, %v", text, got, shut, c.comma, c.shut)
		}
		if got, shut := jsonlex.AfterOpen(text, 0, ']'); got != c.first || shut != c.shutFirst {
			t.Errorf("%q behind a bracket: %d, %v; want %d, %v", text, got, shut, c.first, c.shutFirst)
		}
	}
}

// checkNumber compares with what encoding/json takes for a number. A number ends before what cannot be part of it.
func checkNumber(t *testing.T, text []byte) {
	t.Helper()
	isNumber := len(text) > 0 && (text[0] == '-' || jsonlex.IsDigit(text[0])) && json.Valid(text) && bytes.TrimSpace(text)[len(bytes.TrimSpace(text))-1] == text[len(text)-1]
	got := jsonlex.NumberEnd(text, 0)
	if isNumber != (got == len(text)) {
		t.Fatalf("%q ends at %d, and is a number: %v", text, got, isNumber)
	}
	if got >= 0 && !json.Valid(text[:got]) {
		t.Fatalf("%q ends at %d, where it is no number", text, got)
	}
	if lax := laxEnd(text); got >= 0 && got > lax {
		t.Fatalf("%q ends at %d, but its characters do at %d", text, got, lax)
	}
}

// laxEnd returns where the characters of numbers and literals end.
func laxEnd(text []byte) int {
	for i, c := range text {
		if !jsonlex.IsScalar(c) {
			return i
		}
	}
	return len(text)
}

func TestANumberEndsWhereEncodingJSONSays(t *testing.T) {
	for _, text := range texts {
		checkNumber(t, []byte(text))
	}
	// All texts of up to six of these characters.
	var try func(text []byte, left int)
	try = func(text []byte, left int) {
		checkNumber(t, text)
		if left > 0 {
			for _, c := range []byte("-+.eE015 ") {
				try(append(text, c), left-1)
			}
		}
	}
	try(nil, 6)
}

func TestScalarsHaveTheBytesOfNumbersAndLiterals(t *testing.T) {
	for c := range 256 {
		want := strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", byte(c)) >= 0
		if got := jsonlex.IsScalar(byte(c)); got != want {
			t.Errorf("%q: %v", byte(c), got)
		}
		if got, want := jsonlex.IsDigit(byte(c)), '0' <= c && c <= '9'; got != want {
			t.Errorf("%q: a digit: %v", byte(c), got)
		}
	}
}
