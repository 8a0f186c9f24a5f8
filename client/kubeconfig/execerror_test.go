package kubeconfig

import "testing"

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
