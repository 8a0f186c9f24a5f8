package kubeconfig

import (
	"strings"
	"testing"
)

// behaviour 103
func TestTextOfOthersIsShownInOneLineWithoutControlCharacters(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{" plain  text\n", "plain text"},
		{"two\r\nlines\tof it", "two lines of it"},
		{"\x1b[31mred\x1b[0m \x1b[1;4mbold\x1b[m", "red bold"},
		{"\u009b31mred\u009b0m", "red"},
		{"a\x1b[?25lb\x1b[2J\x1b[Hc", "abc"},
		{"a\x1b]0;title\ab\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\c", "ablinkc"},
		{"a\u009d0;title\u009cb", "ab"},
		{"a\x1bPq#0\x1b\\b", "ab"},
		{"a\x1b]never ends", "a"},
		{"a\x1b[1;2", "a"},
		{"a\x1b", "a"},
		{"a\x1bcb", "ab"},
		{"a\x1béb", "ab"},
		{"a\x1b[31éb", "aéb"},
		{"a\x00b\x7fc\x08d\u0085e", "abcde"},
		{"a\u202eb\u2066c", "abc"},
		{"a\xffb\ufffdc", "abc"},
		{"ünïcö 世界", "ünïcö 世界"},
		{strings.Repeat("é", 10), strings.Repeat("é", 8) + "..."},
	} {
		if got := legible(test.text, 17); got != test.want {
			t.Errorf("%q is shown as %q, want %q", test.text, got, test.want)
		}
	}
}

func FuzzLegible(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m")
	f.Add("a\x1b]0;title\ab\u009d0;x\u009c\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := legible(text, 100)
		if len(got) > 103 || strings.ContainsAny(got, "\x1b\u009b\r\n\x00\a\u202e") || strings.ToValidUTF8(got, "") != got {
			t.Errorf("%q is shown as %q", text, got)
		}
	})
}

// guarantee S2: what is cut off at the beginning may be the beginning of a secret.
func TestHalfASecretIsNotShown(t *testing.T) {
	p := &plugin{secrets: secretsOf(nil, []string{"A=abcdef", "B=bc", "C=cdef-ghi"})}
	for _, test := range []struct {
		text string
		cut  bool
		want string
	}{
		{"abcdef and cdef-ghi", false, "[redacted] and [redacted]"},
		{"def and more", true, "... and more"},
		{"def-ghi and more", true, "... and more"},
		{"def and more", false, "def and more"},
		{"abc\x1b[0mdef", false, "[redacted]"},
		{"nothing", true, "...nothing"},
	} {
		if got := p.withoutSecrets(test.text, test.cut); got != test.want {
			t.Errorf("%q is shown as %q, want %q", test.text, got, test.want)
		}
	}
}
