package clienttest

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// apiAudience is the audience of a token whose request names none.
const apiAudience = "https://kubernetes.default.svc"

type tokenRequest struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Audiences         []string `json:"audiences"`
		ExpirationSeconds *int64   `json:"expirationSeconds"`
		BoundObjectRef    *struct {
			Kind       string `json:"kind,omitempty"`
			APIVersion string `json:"apiVersion,omitempty"`
			Name       string `json:"name,omitempty"`
			UID        string `json:"uid,omitempty"`
		} `json:"boundObjectRef"`
	} `json:"spec"`
	Status struct {
		Token               string    `json:"token"`
		ExpirationTimestamp meta.Time `json:"expirationTimestamp"`
	} `json:"status"`
}

// serveToken answers a TokenRequest. The token looks like a real one, but is not signed.
func serveToken(c *call) error {
	is := c.res.kindOf(c.Subresource)
	var t tokenRequest
	if err := c.readAction(&t, is); err != nil {
		return err
	}
	if t.Name != "" && t.Name != c.Key.Name {
		return status.Invalid(is.Group, is.Kind, c.Key.Name, []meta.StatusCause{
			status.InvalidValue("metadata.name", t.Name, "must match the service account name if specified"),
		})
	}
	account, err := c.read()
	if err != nil {
		return err
	}
	if len(t.Spec.Audiences) == 0 {
		t.Spec.Audiences = []string{apiAudience}
	}
	if t.Spec.ExpirationSeconds == nil {
		t.Spec.ExpirationSeconds = new(int64(3600))
	}
	if s := *t.Spec.ExpirationSeconds; s < 600 {
		return status.Invalid(is.Group, is.Kind, "", []meta.StatusCause{
			status.InvalidValue("spec.expirationSeconds", s, "may not specify a duration less than 10 minutes"),
		})
	}
	if err := c.checkBound(&t); err != nil {
		return err
	}
	created := timestamp()
	t.TypeMeta = meta.TypeMeta{Kind: is.Kind, APIVersion: is.APIVersion()}
	t.Name, t.Namespace, t.UID, t.CreationTimestamp = c.Key.Name, c.Key.Namespace, account.UID, created
	expires := created.Add(time.Duration(*t.Spec.ExpirationSeconds) * time.Second)
	t.Status.ExpirationTimestamp = meta.Time{Time: expires}
	user := User{
		Name: serviceAccountPrefix + c.Key.Namespace + ":" + c.Key.Name, UID: account.UID,
		Groups: append(accountGroups(c.Key.Namespace), authenticated),
	}
	part := func(v any) string { return base64.RawURLEncoding.EncodeToString(encoded(v)) }
	t.Status.Token = part(map[string]any{"alg": "none"}) + "." + part(map[string]any{
		"aud": t.Spec.Audiences, "sub": user.Name, "iat": created.Unix(), "exp": expires.Unix(), "jti": newUID(),
	}) + "." + rand.Text()
	c.tokens.issued.Store(t.Status.Token, issuedToken{user: user, expires: expires, audiences: t.Spec.Audiences})
	writeJSON(c.w, http.StatusCreated, t)
	return nil
}

// checkBound checks that the object that a token is bound to exists. Unlike on a real server, its later deletion does
// not end the token.
func (c *call) checkBound(t *tokenRequest) error {
	ref := t.Spec.BoundObjectRef
	if ref == nil {
		return nil
	}
	resource, key := "", meta.Key{Namespace: c.Key.Namespace, Name: ref.Name}
	switch meta.GVK(meta.TypeMeta{APIVersion: ref.APIVersion, Kind: ref.Kind}.GVK()) {
	case meta.GVK{Version: "v1", Kind: "Pod"}:
		resource = "pods"
	case meta.GVK{Version: "v1", Kind: "Secret"}:
		resource = "secrets"
	case meta.GVK{Version: "v1", Kind: "Node"}:
		resource, key.Namespace = "nodes", ""
	default:
		group, version := meta.SplitAPIVersion(ref.APIVersion)
		return status.BadRequest("cannot bind token to object of type %s/%s, Kind=%s", group, version, ref.Kind)
	}
	res := c.registry.core(resource)
	v := res.objects.Present().Get(object.PathOf(key))
	switch {
	case v == nil:
		return status.NotFound(res, ref.Name)
	case ref.UID != "" && ref.UID != v.UID:
		return status.Unfulfilled("", ref.Kind, ref.Name,
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID)
	}
	return nil
}
