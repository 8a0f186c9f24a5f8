package clienttest

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

const serviceAccountPrefix = "system:serviceaccount:"

func accountGroups(namespace string) []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
}

func sameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

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

// user returns the user of a token, and whether the server issued it. The error says that the token is not valid here, or no
// longer.
func (t *tokens) user(token string) (_ User, issued bool, _ error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, issued := t.issued[token]
	if issued && (!i.api || !time.Now().Before(i.expires)) {
		return User{}, true, errors.New("expired, or for another audience")
	}
	return i.user, issued, nil
}

func (t *tokens) add(token string, i issuedToken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.issued == nil {
		t.issued = map[string]issuedToken{}
	}
	t.issued[token] = i
}

// apiAudience is the audience of a token that was requested without one.
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

// token answers a TokenRequest. The token looks like a real one, but is not signed.
func (c *call) token(w http.ResponseWriter) error {
	const group, kind = "authentication.k8s.io", "TokenRequest"
	var t tokenRequest
	if err := c.readCall(w, &t, group+"/v1", kind); err != nil {
		return err
	}
	if t.Name != "" && t.Name != c.Key.Name {
		return status.Invalid(group, kind, c.Key.Name, []meta.StatusCause{
			status.InvalidValue("metadata.name", t.Name, "must match the service account name if specified"),
		})
	}
	account := c.read(true)
	if account == nil {
		return status.NotFound(c.res, c.Key.Name)
	}
	if len(t.Spec.Audiences) == 0 {
		t.Spec.Audiences = []string{apiAudience}
	}
	if t.Spec.ExpirationSeconds == nil {
		hour := int64(3600)
		t.Spec.ExpirationSeconds = &hour
	}
	if s := *t.Spec.ExpirationSeconds; s < 600 {
		return status.Invalid(group, kind, "", []meta.StatusCause{
			status.InvalidValue("spec.expirationSeconds", s, "may not specify a duration less than 10 minutes"),
		})
	}
	if err := c.checkBound(&t); err != nil {
		return err
	}
	created := now()
	t.TypeMeta = meta.TypeMeta{Kind: kind, APIVersion: group + "/v1"}
	t.Name, t.Namespace, t.UID, t.CreationTimestamp = c.Key.Name, c.Key.Namespace, account.UID, created
	expires := created.Add(time.Duration(*t.Spec.ExpirationSeconds) * time.Second)
	t.Status.ExpirationTimestamp = meta.Time{Time: expires}
	user := User{
		Name: serviceAccountPrefix + c.Key.Namespace + ":" + c.Key.Name, UID: account.UID,
		Groups: append(accountGroups(c.Key.Namespace), authenticated),
	}
	part := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // maps of strings and numbers can always be encoded
		}
		return base64.RawURLEncoding.EncodeToString(b)
	}
	t.Status.Token = part(map[string]any{"alg": "none"}) + "." + part(map[string]any{
		"aud": t.Spec.Audiences, "sub": user.Name, "iat": created.Unix(), "exp": expires.Unix(), "jti": newUID(),
	}) + "." + rand.Text()
	issued := issuedToken{user: user, expires: expires}
	for _, audience := range t.Spec.Audiences {
		issued.api = issued.api || audience == apiAudience
	}
	c.s.tokens.add(t.Status.Token, issued)
	writeJSON(w, http.StatusCreated, t)
	return nil
}

// checkBound looks for the object that a token is bound to. Its later deletion does not end the token here.
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
	c.s.store.mu.Lock()
	defer c.s.store.mu.Unlock()
	res := c.s.store.resources[meta.GVR{Version: "v1", Resource: resource}]
	v := res.objects.tree.Get(object.PathOf(key))
	switch {
	case v == nil:
		return status.NotFound(res, ref.Name)
	case ref.UID != "" && ref.UID != v.UID:
		return status.Failure(http.StatusConflict, "Conflict", "Operation cannot be fulfilled on %s %q: %s", ref.Kind, ref.Name, fmt.Sprintf(
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated",
			ref.UID)).With(meta.StatusDetails{Name: ref.Name, Kind: ref.Kind})
	}
	return nil
}
