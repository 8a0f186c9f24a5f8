package conn

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// These are how long the contents of a file are used before the file is read again.
const (
	tokenAge = 50 * time.Second
	fileAge  = 30 * time.Second // for certificates and authorities
)

// tokenFile is a source that reads a file. If the file cannot be read, or holds no token, the last good token stays in
// use; if there is none, that is an error.
type tokenFile struct {
	header kept[fixed]
}

func newTokenFile(path string) *tokenFile {
	return &tokenFile{kept[fixed]{
		load:  func(read read) (fixed, error) { return bearer(read, path) },
		age:   tokenAge,
		eager: true,
	}}
}

// get implements source.
func (t *tokenFile) get(ctx context.Context, h *holder) (issued, error) {
	now, stale, err := t.header.get(ctx)
	if stale != nil {
		h.tell(ctx, stale)
	}
	h.reportEnd(ctx, "the token in Config.BearerTokenFile", now.end)
	return issued{header: now.header}, err
}

// renew implements source. It reads the file again, unless another request has read it since the refused token was
// issued.
func (t *tokenFile) renew(ctx context.Context, h *holder, refused issued) (issued, error) {
	if t.header.last().header == refused.header {
		t.header.expire()
	}
	return t.get(ctx, h)
}

// fresh reports whether contents that were read at a time are younger than age. The monotonic clock stops while a
// machine sleeps, and the wall clock can be set, so both clocks must say so.
func fresh(read, now time.Time, age time.Duration) bool {
	wall := now.Round(0).Sub(read.Round(0))
	return !read.IsZero() && now.Sub(read) < age && 0 <= wall && wall < age
}

// bearer returns the credential for the token in a file.
func bearer(read read, file string) (fixed, error) {
	b, err := read("Config.BearerTokenFile", file)
	if err != nil {
		return fixed{}, err
	}
	value := strings.TrimSpace(string(b))
	switch {
	case value == "":
		return fixed{}, fmt.Errorf("read Config.BearerTokenFile: %s is empty", file)
	case HasControl(value):
		return fixed{}, fmt.Errorf("read Config.BearerTokenFile: the token in %s must have no spaces or control characters", file)
	}
	return fixed{"Bearer " + value, tokenEnd(value)}, nil
}
