package clienttest

import (
	"crypto/subtle"
	"fmt"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// tokenStatus is the status of a TokenReview.
type tokenStatus struct {
	Authenticated bool     `json:"authenticated,omitempty"`
	User          User     `json:"user"`
	Audiences     []string `json:"audiences,omitempty"`
	Error         string   `json:"error,omitempty"`
}

// reviewToken names the user of a token that the server has issued, or of Options.Token. Without Options.Token the
// server also accepts requests with any other token, but a review does not know that token.
func reviewToken(c *call, b *reviewBody) error {
	if b.Spec.Token == "" {
		return status.BadRequest("token is required for TokenReview in authentication")
	}
	wanted := b.Spec.Audiences
	if len(wanted) == 0 {
		wanted = []string{apiAudience}
	}
	b.Status = c.tokens.review(b.Spec.Token, wanted)
	if is := []byte(c.options.Token); len(is) > 0 && subtle.ConstantTimeCompare([]byte(b.Spec.Token), is) == 1 && slices.Contains(wanted, apiAudience) {
		b.Status = tokenStatus{Authenticated: true, User: administrator(), Audiences: []string{apiAudience}}
	}
	return nil
}

// review returns what a real server says about a token that must be valid for one of the wanted audiences.
func (t *tokens) review(token string, wanted []string) tokenStatus {
	v, issued := t.issued.Load(token)
	is, _ := v.(issuedToken)
	shared := slices.DeleteFunc(slices.Clone(wanted), func(audience string) bool { return !slices.Contains(is.audiences, audience) })
	switch {
	case !issued:
		return tokenStatus{Error: "invalid bearer token"}
	case len(shared) == 0:
		return tokenStatus{Error: fmt.Sprintf("[invalid bearer token, token audiences %q is invalid for the target audiences %q]", is.audiences, wanted)}
	case !time.Now().Before(is.expires):
		return tokenStatus{Error: "[invalid bearer token, service account token has expired]"}
	}
	return tokenStatus{Authenticated: true, User: is.user, Audiences: shared}
}
