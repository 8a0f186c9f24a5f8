package jsonlex_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// checkString checks the string that is the whole of a text, or fails to be: its end, what it reads, and that it makes no difference
// what is around it and where.
func checkString(t *testing.T, text []byte) {
	t.Helper()
	got, plain := jsonlex.StringEnd(text, 0)
	isString := json.Valid(text) && text[len(text)-1] == '"' // and not white space
	if isString != (got == len(text)) {
		t.Fatalf("%q ends at %d, and is a string: %v", text, got, isString)
	}
	if got >= 0 {
		checkRead(t, text[:got], plain)
	} else {
		checkBroken(t, text, ^got)
	}
	for at := 1; at <= 9; at++ {
		moved := append(bytes.Repeat([]byte{'"'}, at), text...)
		want := got + at
		if got < 0 {
			want = got - at
		}
		if end, again := jsonlex.StringEnd(moved, at); end != want || again != plain {
			t.Fatalf("%q ends at %d, plain: %v; behind %d bytes at %d, %v", text, got, plain, at, end, again)
		}
		if got < 0 {
			continue
		}
		for n := range 9 { // what is behind it
			longer := append(bytes.Clone(moved), "\"\\\x00\xffabcde"[n:]...)
			if end, again := jsonlex.StringEnd(longer, at); end != want || again != plain {
				t.Fatalf("%q ends at %d, plain: %v; in %q at %d, %v", text, got, plain, longer, end, again)
			}
		}
	}
}

// checkRead checks a string that is JSON.
func checkRead(t *testing.T, quoted []byte, plain bool) {
	t.Helper()
	var want string
	if err := json.Unmarshal(quoted, &want); err != nil {
		t.Fatal(err)
	}
	inner := quoted[1 : len(quoted)-1]
	original := bytes.Clone(quoted)
	if got := jsonlex.Unquote(inner); got != want {
		t.Fatalf("%q reads %q, not %q", quoted, got, want)
	}
	if got := jsonlex.AppendUnquoted([]byte("before"), inner); string(got) != "before"+want {
		t.Fatalf("%q reads %q, not %q", quoted, got, want)
	}
	asIs := bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner)
	if plain != asIs || jsonlex.IsPlain(inner) != asIs || jsonlex.IsPlain(quoted) != asIs || plain && string(inner) != want {
		t.Fatalf("%q is plain: %v, and is said to be so: %v, %v", quoted, asIs, plain, jsonlex.IsPlain(inner))
	}
	if !bytes.Equal(quoted, original) {
		t.Fatalf("%q was changed to %q", original, quoted)
	}

	closing := len(quoted) - 1
	for behind := range 20 {
		longer := append(bytes.Clone(quoted), `"\"abcdefghijklmnopqrs`[:behind]...)
		if got := jsonlex.ClosingQuote(longer, 1); got != closing {
			t.Fatalf("the closing quote of %q is at %d, not at %d", longer, got, closing)
		}
	}
	for cut := 1; cut <= closing; cut++ {
		if got := jsonlex.ClosingQuote(quoted[:cut], 1); got != -1 {
			t.Fatalf("%q is cut, and has its closing quote at %d", quoted[:cut], got)
		}
		if got := jsonlex.ClosingQuote(quoted, cut); got != closing {
			t.Fatalf("the closing quote of %q is at %d, not at %d, looked for from %d", quoted, got, closing, cut)
		}
	}
}

func TestAStringEndsAndReadsAsEncodingJSONSays(t *testing.T) {
	for _, text := range texts {
		if !strings.HasPrefix(text, `"`) {
			text = `"` + text + `"`
		}
		for cut := 1; cut <= len(text); cut++ {
			checkString(t, []byte(text[:cut]))
		}
	}
}

// Strings are read eight bytes at a time. Each byte is put into each place of a window of them, before and behind other bytes that
// are looked at.
func TestEveryByteIsReadInEveryPlaceOfAString(t *testing.T) {
	for c := range 256 {
		for length := range 18 {
			for i := range length {
				text := []byte(`"` + strings.Repeat("a", length) + `"`)
				text[1+i] = byte(c)
				checkString(t, text)
				if i > 0 {
					text[i] = '\\'
					checkString(t, text)
				}
			}
		}
	}
}

func TestEveryPairOfBytesIsReadInAString(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			text := []byte{'"', 'a', 'b', byte(a), byte(b), 'e', 'f', 'g', 'h', '"'}
			got, plain := jsonlex.StringEnd(text, 0)
			if got != len(text) {
				if json.Valid(text) {
					t.Fatalf("%q ends at %d", text, got)
				}
				continue
			}
			checkRead(t, text, plain)
		}
	}
}

// IndexQuote finds what bytes.IndexByte finds, wherever it is and whatever is around it.
func TestIndexQuoteFindsTheFirstQuote(t *testing.T) {
	for _, around := range []byte{'a', 0, 1, 0x21, 0x23, 0x7f, 0x80, 0xa2, 0xff} {
		for size := range 40 {
			for first := range size + 1 {
				for second := first; second <= size; second++ {
					b := bytes.Repeat([]byte{around}, size)
					for _, at := range []int{first, second} {
						if at < size {
							b[at] = '"'
						}
					}
					if got, want := jsonlex.IndexQuote(b), bytes.IndexByte(b, '"'); got != want {
						t.Fatalf("%q: got %d, want %d", b, got, want)
					}
				}
			}
		}
	}
}

func TestEscapeStartFindsTheBrokenEscape(t *testing.T) {
	for _, c := range []struct {
		text string // broken in the place of the %
		want int
	}{
		{`"%`, 1},
		{`"ab\%`, 3},
		{`"ab\\%`, 5},
		{`"ab\\\%`, 5},
		{`"ab\n%`, 5},
		{`"ab\u%`, 3},
		{`"ab\u12%`, 3},
		{`"ab\u123%`, 3},
		{`"ab\u1234%`, 9},
		{`"ab\b1%`, 6},
		{`"ab\\u12%`, 8},
		{`"ab\\\u12%`, 5},
		{`["\"",%`, 6},
	} {
		at := strings.IndexByte(c.text, '%')
		for _, text := range []string{c.text[:at], c.text[:at] + "\x01"} {
			if got := jsonlex.EscapeStart([]byte(text), at); got != c.want {
				t.Errorf("%q is broken in an escape at %d, want %d", text, got, c.want)
			}
		}
	}
}

// checkQuoted checks that a text is written so that it is read again.
func checkQuoted(t *testing.T, text string) {
	t.Helper()
	want := string([]rune(text)) // with the replacement character for what is not UTF-8
	quoted := jsonlex.AppendQuoted([]byte("before"), text)
	if again := jsonlex.AppendQuoted([]byte("before"), []byte(text)); !bytes.Equal(again, quoted) {
		t.Fatalf("%q is quoted as %q and %q", text, quoted, again)
	}
	quoted = quoted[len("before"):]
	var got string
	if err := json.Unmarshal(quoted, &got); err != nil || got != want {
		t.Fatalf("%q is quoted as %q, which reads %q, %v", text, quoted, got, err)
	}
	if got := jsonlex.Unquote(quoted[1 : len(quoted)-1]); got != want {
		t.Fatalf("%q is quoted as %q, which reads %q", text, quoted, got)
	}
	// Nothing is escaped that need not be.
	least := len(`""`) + len(want)
	for _, c := range want {
		switch {
		case c == '"' || c == '\\':
			least++
		case c < ' ':
			least += len(`\u0000`) - 1
		}
	}
	if len(quoted) != least {
		t.Fatalf("%q is quoted as %q, in %d bytes, not in %d", text, quoted, len(quoted), least)
	}
}

func TestAStringIsWrittenSoThatItReadsTheSame(t *testing.T) {
	for _, text := range texts {
		checkQuoted(t, text)
	}
	for c := range 256 {
		checkQuoted(t, string([]byte{'a', byte(c), 'b', byte(c)}))
	}
}
