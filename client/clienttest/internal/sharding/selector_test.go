package sharding_test

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/sharding"
)

// Hashes by hash/fnv: that of "" is cbf29ce484222325, of "a" af63dc4c8601ec8c.
func TestMatches(t *testing.T) {
	const uid, namespace = "object.metadata.uid", "object.metadata.namespace"
	term := func(field, start, end string) string {
		return "shardRange(" + field + ", '" + start + "', '" + end + "')"
	}
	const all = "0x10000000000000000"
	for _, test := range []struct {
		selector       string
		namespace, uid string
		want           bool
	}{
		{term(uid, "0xaf63dc4c8601ec8c", "0xaf63dc4c8601ec8d"), "", "a", true},
		{term(uid, "0xaf63dc4c8601ec8d", all), "", "a", false},
		{term(uid, "0x0000000000000000", "0xaf63dc4c8601ec8c"), "", "a", false},
		{term(uid, "0xaf63dc4c8601ec8c", all), "", "a", true},
		{term(namespace, "0xaf63dc4c8601ec8c", "0xaf63dc4c8601ec8d"), "", "a", false},
		{term(namespace, "0xaf63dc4c8601ec8c", "0xaf63dc4c8601ec8d"), "a", "", true},
		{term(namespace, "0xcbf29ce484222325", all), "", "a", true},
		{term(uid, "0x0000000000000000", "0x0000000000000001") + "||" + term(uid, "0xaf63dc4c8601ec8c", all), "", "a", true},
		{term(uid, "0xaf63dc4c8601ec8c", all) + "||" + term(uid, "0x0000000000000000", "0x0000000000000001"), "", "a", true},
	} {
		s, err := sharding.Parse(test.selector)
		if err != nil || s.Matches(test.namespace, test.uid) != test.want {
			t.Errorf("%s, %q and %q: %v, want %t", test.selector, test.namespace, test.uid, err, test.want)
		}
	}
	// A selector of meta.Ranges has up to 128 terms, and one of another client has as many as fit in a URL.
	term0 := term(uid, "0x0000000000000000", all)
	if s, err := sharding.Parse(term0 + strings.Repeat(" || "+term0, 999)); err != nil || s.String() != term0+strings.Repeat(" || "+term0, 999) {
		t.Errorf("a thousand terms: %v", err)
	}
	for _, open := range []string{"(", "f("} {
		if _, err := sharding.Parse(strings.Repeat(open, 1e6)); err == nil || !strings.Contains(err.Error(), "recursion limit exceeded") {
			t.Errorf("a million of %s: %v", open, err)
		}
	}
}

// Whatever the text is, it is read or refused, and what is read has a text that reads back as the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "shardRange(object.metadata.uid, '0x0000000000000000', \"0x10000000000000000\")", "(a.b(1, true) || null) // c\n", ".a.f()", "'a", "a.", "f(,", "'\\x'",
		strings.Repeat("(", 300), strings.Repeat("f(", 300), strings.Repeat("a||", 300), strings.Repeat("a.", 300),
		"shardRange(object.metadata.namespace, '0xf000000000000000', '0xff00000000000000')||shardRange(object.metadata.namespace, '0x0000000000000000', '0x0000000000000001')",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := sharding.Parse(text)
		if err != nil {
			return
		}
		again, err := sharding.Parse(s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%q is %q, which is %v, %v", text, s, again, err)
		}
		s.Matches("a", "b")
	})
}
