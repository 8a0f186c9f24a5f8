package clienttest

import (
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// User is the sender of a request, after impersonation.
type User struct {
	// Name is "admin" for a request without a credential and for one with Options.Token, the subject of a client certificate,
	// "system:serviceaccount:NAMESPACE:NAME" for a token of the token subresource, or the value of an Impersonate-User header.
	Name string
	// UID, Groups and Extra are further information about the user.
	UID    string
	Groups []string
	Extra  map[string][]string
}

// Access is an operation that Options.Authorize decides about.
type Access struct {
	User User
	// Request is the user's operation. In a review, Resource.Version may be empty or "*".
	Request
	// LabelSelector and FieldSelector are the selectors of a list, a watch or a deletecollection, or those of a review that has
	// them as text; an empty one selects everything.
	LabelSelector string
	FieldSelector string
	// Path is set instead of Request.Resource if a review is about a path that is not a resource's.
	Path string
}

const (
	authenticated = "system:authenticated"
	admin         = "admin"
)

// authenticate returns the sender of r.
func (s *Server) authenticate(r *http.Request) (User, error) {
	unauthorized := status.Failure(http.StatusUnauthorized, "Unauthorized", "Unauthorized")
	user := User{Name: admin, Groups: []string{"system:masters", authenticated}}
	token, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if account, issued, err := s.tokens.user(token); isBearer && issued {
		if err != nil {
			return User{}, unauthorized
		}
		user = account
	} else if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		subject := r.TLS.PeerCertificates[0].Subject
		user = User{Name: subject.CommonName, Groups: append(slices.Clone(subject.Organization), authenticated)}
	} else if s.options.Token != "" && (!isBearer || !sameText(token, s.options.Token)) {
		return User{}, unauthorized
	}
	return s.impersonate(user, r.Header)
}

// impersonate returns the user that user wants to be, if the server allows it.
func (s *Server) impersonate(user User, h http.Header) (User, error) {
	const prefix = "Impersonate-Extra-"
	as := User{Name: h.Get("Impersonate-User"), UID: h.Get("Impersonate-UID")}
	may := func(resource, subresource, name, namespace, group string) error {
		return s.authorize(Access{User: user, Request: Request{
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

// ask asks Options.Authorize about an access.
func (s *Server) ask(a Access) (allowed bool, reason string) {
	if s.options.Authorize == nil {
		return true, ""
	}
	return s.options.Authorize(a)
}

// authorize returns an error in the real server's words if a is not allowed.
func (s *Server) authorize(a Access) error {
	allowed, reason := s.ask(a)
	if allowed {
		return nil
	}
	resource, namespace := a.Resource.Resource, a.Key.Namespace
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	if a.Resource.Group == "" && a.Resource.Resource == "namespaces" {
		namespace = a.Key.Name // a namespace is in itself
	}
	where := "at the cluster scope"
	if namespace != "" {
		where = fmt.Sprintf("in the namespace %q", namespace)
	}
	why := fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", a.User.Name, a.Verb, resource, a.Resource.Group, where)
	if reason != "" {
		why += ": " + reason
	}
	about := status.Qualified(a.Resource.Resource, a.Resource.Group)
	if a.Key.Name != "" {
		about += fmt.Sprintf(" %q", a.Key.Name)
	}
	return status.Failure(http.StatusForbidden, "Forbidden", "%s is forbidden: %s", about, why).
		With(meta.StatusDetails{Name: a.Key.Name, Group: a.Resource.Group, Kind: a.Resource.Resource})
}
