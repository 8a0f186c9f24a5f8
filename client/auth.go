package client

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// authorizer puts the bearer token on requests to the configured server, and on no others.
type authorizer struct {
	next   http.RoundTripper
	server *url.URL
	token  *token
}

// RoundTrip implements http.RoundTripper.
func (a *authorizer) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameOrigin(r.URL, a.server) {
		return a.next.RoundTrip(r)
	}
	value, err := a.token.get()
	if err != nil {
		closeBody(r)
		return nil, err
	}
	if value == "" {
		return a.next.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+value)
	resp, err := a.next.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		a.token.refused(value)
	}
	return resp, err
}

// CloseIdleConnections lets http.Client reach what is below.
func (a *authorizer) CloseIdleConnections() {
	if c, ok := a.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// tokenAge is how long a token file's content is used before it is read again.
const tokenAge = 50 * time.Second

// token is a bearer token, fixed or from a file.
type token struct {
	file string

	mu    sync.Mutex // guards value and read; held while the file is read, so that it is read once for all
	value string
	read  time.Time // when value was read; zero where it is to be read again
}

func newToken(value, file string) *token {
	if file != "" {
		value = ""
	}
	return &token{value: value, file: file}
}

// get returns the token. A file that cannot be read, or holds no token, leaves the last good one in use; without one it is
// an error.
func (t *token) get() (string, error) {
	if t.file == "" {
		return t.value, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.value != "" && fresh(t.read, now) {
		return t.value, nil
	}
	value, err := readToken(t.file)
	if err == nil {
		t.value, t.read = value, now
		return value, nil
	}
	if t.value != "" {
		return t.value, nil
	}
	return "", err
}

// refused makes the next request read the file again, unless another has done so since value was taken.
func (t *token) refused(value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.value == value {
		t.read = time.Time{}
	}
}

// fresh reports whether what was read at a time is to be used now. The monotonic clock stops while a machine sleeps, and
// the wall clock can be set, so both must say so.
func fresh(read, now time.Time) bool {
	wall := now.Round(0).Sub(read.Round(0))
	return !read.IsZero() && now.Sub(read) < tokenAge && 0 <= wall && wall < tokenAge
}

func readToken(file string) (string, error) {
	b, err := os.ReadFile(file)
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
