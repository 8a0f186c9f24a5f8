package clienttest

import (
	"crypto/subtle"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/rbac"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// authenticate returns the sender of r.
func (a *api) authenticate(r *http.Request) (User, error) {
	unauthorized := status.Failure(http.StatusUnauthorized, "Unauthorized", "Unauthorized")
	user := administrator()
	token, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if account, issued, err := a.tokens.bearer(token); isBearer && issued {
		if err != nil {
			return User{}, unauthorized
		}
		user = account
	} else if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		subject := r.TLS.PeerCertificates[0].Subject
		user = User{Name: subject.CommonName, Groups: append(slices.Clone(subject.Organization), authenticated)}
	} else if a.options.Token != "" && (!isBearer || subtle.ConstantTimeCompare([]byte(token), []byte(a.options.Token)) == 0) {
		return User{}, unauthorized
	}
	return a.impersonate(user, r.Header)
}

// administrator returns the user of requests without a credential and of those with Options.Token.
func administrator() User { return User{Name: "admin", Groups: []string{rbac.Masters, authenticated}} }

// impersonate returns the user that the impersonation headers in h name. It returns an error if the sender, user, may
// not impersonate that user.
func (a *api) impersonate(user User, h http.Header) (User, error) {
	const prefix = "Impersonate-Extra-"
	as := User{Name: h.Get("Impersonate-User"), UID: h.Get("Impersonate-UID")}
	may := func(resource, subresource, name, namespace, group string) error {
		return a.authorize(Access{User: user, Request: Request{
			Verb: "impersonate", Resource: meta.GVR{Group: group, Resource: resource}, Key: meta.Key{Namespace: namespace, Name: name},
			Subresource: subresource,
		}})
	}
	var errs []error
	if account, isAccount := strings.CutPrefix(as.Name, serviceAccountPrefix); isAccount && strings.Count(account, ":") == 1 {
		namespace, name, _ := strings.Cut(account, ":")
		errs = append(errs, may("serviceaccounts", "", name, namespace, ""))
		if len(h["Impersonate-Group"]) == 0 {
			as.Groups = accountGroups(namespace)
		}
	} else if as.Name != "" {
		errs = append(errs, may("users", "", as.Name, "", ""))
	}
	for _, group := range h["Impersonate-Group"] {
		errs = append(errs, may("groups", "", group, "", ""))
		as.Groups = append(as.Groups, group)
	}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		key, found := strings.CutPrefix(textproto.CanonicalMIMEHeaderKey(name), prefix)
		if !found {
			continue
		}
		if decoded, err := url.PathUnescape(strings.ToLower(key)); err == nil {
			key = decoded
		}
		for _, value := range h[name] {
			errs = append(errs, may("userextras", key, value, "", "authentication.k8s.io"))
			if as.Extra == nil {
				as.Extra = map[string][]string{}
			}
			as.Extra[key] = append(as.Extra[key], value)
		}
	}
	if as.UID != "" {
		errs = append(errs, may("uids", "", as.UID, "", "authentication.k8s.io"))
	}
	switch {
	case as.Name == "" && len(errs) > 0:
		return User{}, status.BadRequest("requested %v without impersonating a user", as)
	case as.Name == "":
		return user, nil
	}
	for _, err := range errs {
		if err != nil {
			return User{}, err
		}
	}
	if !slices.Contains(as.Groups, authenticated) && !slices.Contains(as.Groups, "system:unauthenticated") {
		as.Groups = append(as.Groups, authenticated)
	}
	return as, nil
}

// authorize returns an error in the real server's words if an access is not allowed.
func (a *api) authorize(access Access) error {
	a.observed.note(access)
	resource, namespace := access.Resource.Resource, access.Key.Namespace
	if access.Resource.Group == "" && resource == "namespaces" {
		namespace = access.Key.Name // a Namespace object counts as an object in that namespace
	}
	allowed, reason := a.ask(access, namespace)
	if allowed {
		return nil
	}
	if access.Subresource != "" {
		resource += "/" + access.Subresource
	}
	where := "at the cluster scope"
	if namespace != "" {
		where = fmt.Sprintf("in the namespace %q", namespace)
	}
	why := fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", access.User.Name, access.Verb, resource, access.Resource.Group, where)
	if reason != "" {
		why += ": " + reason
	}
	about := status.Qualified(access.Resource.Resource, access.Resource.Group)
	if access.Key.Name != "" {
		about += fmt.Sprintf(" %q", access.Key.Name)
	}
	return status.Failure(http.StatusForbidden, "Forbidden", "%s is forbidden: %s", about, why).
		With(meta.StatusDetails{Name: access.Key.Name, Group: access.Resource.Group, Kind: access.Resource.Resource})
}
