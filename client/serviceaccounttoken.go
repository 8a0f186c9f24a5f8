package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// TokenOptions choose what a service account's token is good for. The zero value makes a token for the API server itself, for an
// hour.
type TokenOptions struct {
	// Audiences are the intended recipients of the token; any other must refuse it. Empty means the API server.
	Audiences []string
	// Lifetime is how long the token is good, in whole seconds: at least ten minutes, or 0 for an hour. The server may choose a
	// shorter or longer time; Token.Expires has the result.
	Lifetime time.Duration
	// BoundTo is an object whose end ends the token; the zero value means none.
	BoundTo TokenBinding
}

// TokenBinding is an object that a token is bound to: the token ends with the object.
type TokenBinding struct {
	// APIVersion and Kind are the object's kind: v1 Pod or v1 Secret, and v1 Node since Kubernetes 1.29.
	APIVersion, Kind string
	// Name is the object's name. A Pod or a Secret is in the namespace of the service account.
	Name string
	// UID is the object's uid; empty means that of the present object of that name.
	UID string
}

// Token is a service account's token.
type Token struct {
	// Secret is the token itself, to send as a bearer token.
	Secret Secret
	// Expires is when the token ends.
	Expires time.Time
}

// Format prints t for every verb, without the token, also behind a pointer.
func (t Token) Format(f fmt.State, _ rune) {
	type plain Token
	_, _ = fmt.Fprintf(f, "%+v", plain(t))
}

type tokenBody struct {
	meta.TypeMeta `json:",inline"`
	Spec          tokenSpec   `json:"spec"`
	Status        tokenStatus `json:"status,omitzero"`
}

type tokenSpec struct {
	Audiences         []string   `json:"audiences"`
	ExpirationSeconds *int64     `json:"expirationSeconds,omitempty"`
	BoundObjectRef    *tokenBond `json:"boundObjectRef,omitempty"`
}

type tokenBond struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

type tokenStatus struct {
	Token               string    `json:"token"`
	ExpirationTimestamp meta.Time `json:"expirationTimestamp"`
}

// A TokenRequest has no identity of its own: its metadata is that of the service account.
func (tokenBody) GetNamespace() string       { return "" }
func (tokenBody) GetName() string            { return "" }
func (tokenBody) GetResourceVersion() string { return "" }

var tokenKind = meta.GVK{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}

const minTokenLifetime = 10 * time.Minute

func (o TokenOptions) spec() (tokenSpec, error) {
	s := tokenSpec{Audiences: append([]string{}, o.Audiences...)}
	switch {
	case slices.Contains(o.Audiences, ""):
		return s, errors.New("client.TokenOptions: Audiences must not have an empty one")
	case o.Lifetime != 0 && (o.Lifetime < minTokenLifetime || o.Lifetime%time.Second != 0):
		return s, fmt.Errorf("client.TokenOptions: Lifetime must be whole seconds, at least %v, or 0, got %v", minTokenLifetime, o.Lifetime)
	case o.Lifetime != 0:
		seconds := int64(o.Lifetime / time.Second)
		s.ExpirationSeconds = &seconds
	}
	if b := o.BoundTo; b != (TokenBinding{}) {
		if b.APIVersion == "" || b.Kind == "" || b.Name == "" {
			return s, fmt.Errorf("client.TokenOptions: BoundTo must have an APIVersion, a Kind and a Name, or nothing, got %+v", b)
		}
		s.BoundObjectRef = &tokenBond{Kind: b.Kind, APIVersion: b.APIVersion, Name: b.Name, UID: b.UID}
	}
	return s, nil
}

// RequestToken gets a new token for a service account (authentication.k8s.io/v1, TokenRequest). The server does not store the
// token. To revoke it, delete the account or the object that the token is bound to.
//
// serviceAccounts is a handle on core v1 serviceaccounts, of any T.
func RequestToken[T meta.Object](ctx context.Context, serviceAccounts Resource[T], key meta.Key, o TokenOptions) (Token, error) {
	q := serviceAccounts.request("create", key)
	q.subresource = "token"
	err := serviceAccounts.is("client.RequestToken", "serviceaccounts")
	var body tokenBody
	if err == nil {
		body.Spec, err = o.spec()
	}
	if err != nil {
		return Token{}, q.fail(&UsageError{Err: err})
	}
	r := withKind[*tokenBody](serviceAccounts, tokenKind)
	if q.body, err = r.encode(body); err != nil {
		return Token{}, q.fail(&UsageError{Err: err})
	}
	q.accept = jsonType
	answer, err := r.sendBody(ctx, q, jsonType, q.body)
	if err != nil {
		return Token{}, err
	}
	if answer.Status.Token == "" {
		return Token{}, q.fail(errors.New("server sent no token"))
	}
	return Token{Secret: Secret(answer.Status.Token), Expires: answer.Status.ExpirationTimestamp.Time}, nil
}

// TokenCredentials returns credentials that are tokens of a service account. They call RequestToken when the present token is
// about to end. Use them in the Config of another client; serviceAccounts is a handle of a client that may request the tokens.
func TokenCredentials[T meta.Object](serviceAccounts Resource[T], key meta.Key, o TokenOptions) *Credentials {
	return NewCredentials(func(ctx context.Context) (Credential, error) {
		t, err := RequestToken(ctx, serviceAccounts, key, o)
		return Credential{Token: t.Secret, Expires: t.Expires}, err
	})
}
