package client

import apierrors "github.com/bowline-go/bowline/errors"

// maxText bounds a text that a server chose, in bytes. It is what the API server allows all the warnings of an answer together.
const maxText = 4096

// show returns text that the server chose as it may be shown to people.
func show(s string) string { return apierrors.Clean(s, maxText) }
