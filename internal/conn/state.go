package conn

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// State says since when a credential is in use, until when it is valid, and why it could not be renewed. It contains
// no part of the credential itself.
type State struct {
	// From says where the credential comes from; it is empty if there is none.
	From string
	// Obtained is when the credential was fetched, or its file was read. It is zero for a credential in the options,
	// and before the first request.
	Obtained time.Time
	// Expires is the end of the credential; zero if it is unknown.
	Expires time.Time
	// Err is why the last attempt to fetch or read another credential failed; nil if it did not fail.
	Err error
}

// State returns the state of the credential in force. It waits for nothing.
func (t *Transport) State() State {
	s := t.source.state()
	t.generations.files.mu.Lock()
	defer t.generations.files.mu.Unlock()
	files := &t.generations.files
	if t.generations.o.certificateInFiles() && files.err != nil {
		s.Err = cmp.Or(s.Err, files.err)
	}
	if files.now.cert == nil {
		return s
	}
	if leaf, err := leafOf(files.now.cert); err == nil && (s.Expires.IsZero() || leaf.NotAfter.Before(s.Expires)) {
		s.Expires = leaf.NotAfter
	}
	if s.From != "" {
		s.From += " and "
	}
	s.From += "a client certificate"
	if s.Obtained.IsZero() && t.generations.o.certificateInFiles() {
		s.Obtained = files.at
	}
	return s
}

func (c *Credentials) state() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := State{From: cmp.Or(c.name, "a function"), Err: c.err}
	if c.now != nil {
		s.Obtained, s.Expires = c.now.taken, c.now.Expires
	}
	return s
}

func (t *tokenFile) state() State {
	t.header.mu.Lock()
	defer t.header.mu.Unlock()
	return State{From: "a token file", Obtained: t.header.at, Expires: t.header.now.end, Err: t.header.err}
}

func (f fixed) state() State {
	switch {
	case strings.HasPrefix(f.header, "Basic "):
		return State{From: "a password"}
	case f.header != "":
		return State{From: "a token", Expires: f.end}
	}
	return State{}
}

// tokenEnd returns when a bearer token says that it ends. Tokens of service accounts and of OpenID Connect are JSON Web
// Tokens, which have the end in the claim exp (RFC 7519, section 4.1.4). For other tokens, tokenEnd returns the zero
// time.
func tokenEnd(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Expires float64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(text, &claims) != nil || claims.Expires <= 0 || claims.Expires > 1e11 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Expires), 0)
}
