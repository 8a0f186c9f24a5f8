package client

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// TokenOptions choose what a service account's token is good for. The zero value makes a token for the API server
// itself, for an hour.
type TokenOptions struct {
	// Audiences are the intended recipients of the token; any other must refuse it. Empty means the API server.
	Audiences []string
	// Lifetime is how long the token is good, in whole seconds: at least ten minutes, or 0 for an hour. The server may
	// choose a shorter or longer time; Credential.Expires has the result.
	Lifetime time.Duration
	// BoundTo is an object whose deletion ends the token, as made by [OwnerOf]: a core v1 Pod or Secret in the
	// namespace of the service account, or a Node (since Kubernetes 1.29). The zero value means none. An empty uid
	// means that of the present object of that name.
	BoundTo Owner
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

// A TokenRequest has no identity: its metadata is that of the service account.
func (tokenBody) GetNamespace() string       { return "" }
func (tokenBody) GetName() string            { return "" }
func (tokenBody) GetResourceVersion() string { return "" }

var tokenKind = meta.GVK{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}

const minTokenLifetime = 10 * time.Minute

// spec returns the request for a token of a service account in a namespace.
func (o TokenOptions) spec(namespace string) (tokenSpec, error) {
	s := tokenSpec{Audiences: append([]string{}, o.Audiences...)}
	switch {
	case slices.Contains(o.Audiences, ""):
		return s, errors.New("client.TokenOptions: Audiences must not contain an empty text")
	case o.Lifetime != 0 && (o.Lifetime < minTokenLifetime || o.Lifetime%time.Second != 0):
		return s, fmt.Errorf("client.TokenOptions: Lifetime must be whole seconds, at least %v, or 0, got %v", minTokenLifetime, o.Lifetime)
	case o.Lifetime != 0:
		s.ExpirationSeconds = new(int64(o.Lifetime / time.Second))
	}
	if b := o.BoundTo; b != (Owner{}) {
		switch in := b.Identity.Namespace; {
		case b.GVK.Version == "" || b.GVK.Kind == "" || b.Identity.Name == "":
			return s, fmt.Errorf("client.TokenOptions: BoundTo must be empty, or have a version, a kind and a name, got %+v", b)
		case in != "" && in != namespace:
			return s, fmt.Errorf("client.TokenOptions: BoundTo must be in the namespace of the service account, %q, got %q", namespace, in)
		}
		s.BoundObjectRef = &tokenBond{Kind: b.GVK.Kind, APIVersion: b.GVK.APIVersion(), Name: b.Identity.Name, UID: b.Identity.UID}
	}
	return s, nil
}

// RequestToken gets a new token for a service account (authentication.k8s.io/v1, TokenRequest). The server does not
// store the token. To revoke it, delete the account or the object that the token is bound to.
//
// serviceAccounts is a handle on core v1 serviceaccounts, of any T.
func RequestToken[T meta.Object](ctx context.Context, serviceAccounts Resource[T], key meta.Key, o TokenOptions) (Credential, error) {
	return serviceAccounts.untyped.requestToken(ctx, key, o)
}

func (r resource) requestToken(ctx context.Context, key meta.Key, o TokenOptions) (Credential, error) {
	q := r.subrequest("create", key, "token")
	err := r.is("client.RequestToken", "serviceaccounts")
	var body tokenBody
	if err == nil {
		body.Spec, err = o.spec(q.key.Namespace)
	}
	if err != nil {
		return Credential{}, q.fail(&UsageError{Err: err})
	}
	r = r.withKind(reflect.TypeFor[*tokenBody](), tokenKind)
	if q.body, err = r.encode(body); err != nil {
		return Credential{}, q.fail(&UsageError{Err: err})
	}
	q.accept = jsonType
	answer, err := typed[*tokenBody](r.sendBody(ctx, q, jsonType, q.body))
	if err != nil {
		return Credential{}, err
	}
	if answer.Status.Token == "" {
		return Credential{}, q.fail(errors.New("server sent no token"))
	}
	return Credential{Token: Secret(answer.Status.Token), Expires: answer.Status.ExpirationTimestamp.Time}, nil
}

// TokenCredentials returns credentials that are tokens of a service account. They call RequestToken when the present
// token is about to end. Use them in the Config of another client; serviceAccounts is a handle of a client that may
// request the tokens.
func TokenCredentials[T meta.Object](serviceAccounts Resource[T], key meta.Key, o TokenOptions) *Credentials {
	return NewCredentials(func(ctx context.Context) (Credential, error) { return RequestToken(ctx, serviceAccounts, key, o) })
}
