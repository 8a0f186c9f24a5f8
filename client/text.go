package client

import apierrors "github.com/bowline-go/bowline/errors"

// maxText bounds a text that a server chose, in bytes. It is what the API server allows all the warnings of an answer together.
const maxText = 4096

// shown returns err, or an error around it whose text may be shown: in those of package net/http there may be what a server or
// a proxy wrote.
func shown(err error) error {
	text := err.Error()
	if clean := show(text); clean != text {
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

// show returns text that the server chose as it may be shown to people.
func show(s string) string { return apierrors.Clean(s, maxText) }
