package shown

import "fmt"

// MaxText bounds, in bytes, a server's text in an error of the client. The API server allows the same for all warnings
// of an answer together.
const MaxText = 4096

// Text returns s as Clean does, cut to MaxText.
func Text(s string) string { return Clean(s, MaxText) }

// Error returns err with a clean text: an error of package net/http may quote a server or a proxy.
func Error(err error) error {
	s := err.Error()
	if clean := Text(s); clean != s {
		return &shownError{clean, err}
	}
	return err
}

type shownError struct {
	text string
	err  error
}

func (e *shownError) Error() string { return e.text }
func (e *shownError) Unwrap() error { return e.err }

// Name returns the name of the i-th value of a type.
func Name(of string, i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s(%d)", of, i)
	}
	return names[i]
}
