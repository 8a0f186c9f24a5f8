package clienttest

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// tokens are the tokens of service accounts that the server has issued.
type tokens struct{ issued sync.Map } // of issuedToken

type issuedToken struct {
	user    User
	expires time.Time
	// audiences are those that the token is valid for.
	audiences []string
}

// bearer returns the user of a token, and whether the server issued it. The error says that the token is not for this
// server, or has expired.
func (t *tokens) bearer(token string) (_ User, issued bool, _ error) {
	v, issued := t.issued.Load(token)
	is, _ := v.(issuedToken)
	if issued && (!slices.Contains(is.audiences, apiAudience) || !time.Now().Before(is.expires)) {
		return User{}, true, errors.New("expired, or for another audience")
	}
	return is.user, issued, nil
}
