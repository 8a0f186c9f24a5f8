package clienttest

import (
	"errors"
	"sync"
	"time"
)

// tokens are the tokens of service accounts that the server has issued.
type tokens struct {
	mu     sync.Mutex // guards issued
	issued map[string]issuedToken
}

type issuedToken struct {
	user    User
	expires time.Time
	api     bool // it is for this server
}

// bearer returns the user of a token, and whether the server issued it. The error says that the token is not valid here, or no
// longer.
func (t *tokens) bearer(token string) (_ User, issued bool, _ error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, issued := t.issued[token]
	if issued && (!i.api || !time.Now().Before(i.expires)) {
		return User{}, true, errors.New("expired, or for another audience")
	}
	return i.user, issued, nil
}

func (t *tokens) issue(token string, i issuedToken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.issued == nil {
		t.issued = map[string]issuedToken{}
	}
	t.issued[token] = i
}
