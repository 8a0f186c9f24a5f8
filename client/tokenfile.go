package client

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// How long what a file holds is used before the file is looked at again.
const (
	tokenAge = 50 * time.Second
	fileAge  = 30 * time.Second // certificates and authorities
)

// tokenFile is a source that reads a file. Reading it is cheap, so it is done while the requests wait.
type tokenFile struct {
	path string

	mu   sync.Mutex // guards the rest; held while the file is read, so that it is read once for all
	now  issued
	read time.Time // when now was read; zero where it is to be read again
	told time.Time // when Hooks.Stale was last told
}

// get returns the token. A file that cannot be read, or holds no token, leaves the last good one in use; without one it is
// an error.
func (t *tokenFile) get(ctx context.Context, h *holder) (issued, error) {
	current, stale, err := t.look()
	if stale != nil {
		h.tell(ctx, stale)
	}
	return current, err
}

// look returns the token, and beside it why it could not be read again, where somebody should be told.
func (t *tokenFile) look() (current issued, stale, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.now.header != "" && fresh(t.read, now, tokenAge) {
		return t.now, nil, nil
	}
	token, err := readToken(t.path)
	switch {
	case err == nil:
		t.now, t.read, t.told = issued{header: "Bearer " + token}, now, time.Time{}
	case t.now.header == "":
		return issued{}, nil, err
	case !fresh(t.told, now, tokenAge): // the file is looked at for each request now
		t.told, stale = now, err
	}
	return t.now, stale, nil
}

// renew reads the file again, unless another has done so since what was refused was taken.
func (t *tokenFile) renew(ctx context.Context, h *holder, refused issued) (issued, error) {
	t.mu.Lock()
	if t.now == refused {
		t.read = time.Time{}
	}
	t.mu.Unlock()
	return t.get(ctx, h)
}

// fresh reports whether what was read at a time is to be used now. The monotonic clock stops while a machine sleeps, and
// the wall clock can be set, so both must say so.
func fresh(read, now time.Time, age time.Duration) bool {
	wall := now.Round(0).Sub(read.Round(0))
	return !read.IsZero() && now.Sub(read) < age && 0 <= wall && wall < age
}

func readToken(file string) (string, error) {
	b, err := readFile(file)
	if err != nil {
		return "", fmt.Errorf("read Config.BearerTokenFile: %w", err)
	}
	value := strings.TrimSpace(string(b))
	switch {
	case value == "":
		return "", fmt.Errorf("read Config.BearerTokenFile: %s is empty", file)
	case hasControl(value):
		return "", fmt.Errorf("read Config.BearerTokenFile: %s has a space or a control character within the token", file)
	}
	return value, nil
}
