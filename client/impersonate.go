package client

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/conn"
)

// Subject is a user as a server sees it. [WhoAmI] returns one, [Can] asks about one, and requests can act for one. To
// act for a user, the client's own identity needs permission (the Kubernetes documentation, "Authenticating", user
// impersonation).
//
// No request acts for a Subject without a User: it would act with the client's own rights, which are usually greater. A
// nil *Subject means that the client acts for itself.
type Subject struct {
	// User is the user's name.
	User string
	// UID distinguishes two users that had the same name one after the other.
	UID string
	// Groups are the groups that the user is in.
	Groups []string
	// Extra is further information about the user, from the authenticator. Keys may have any bytes; the server gets
	// them unchanged.
	Extra map[string][]string
}

// As returns a handle whose requests, including reads and watches, act for i instead of Config.Impersonate. If i cannot
// be sent, because its User is empty for instance, every call of the handle, and of handles made from it, returns a
// [*UsageError] and sends nothing.
func (r Resource[T]) As(i Subject) Resource[T] { return Resource[T]{r.untyped.actingAs(i)} }

func (r resource) actingAs(i Subject) resource {
	i = i.clone()
	r.as = &i
	if reasons := i.validate(); len(reasons) > 0 && r.err == nil {
		r.err = fmt.Errorf("client.Subject: %s", strings.Join(reasons, "; "))
	}
	return r
}

func (i Subject) clone() Subject {
	i.Groups = append([]string(nil), i.Groups...)
	i.Extra = maps.Clone(i.Extra)
	for k, v := range i.Extra {
		i.Extra[k] = append([]string(nil), v...)
	}
	return i
}

// validate returns every reason why i cannot be sent, naming the field. HTTP trims spaces around a value, which would
// change it.
func (i Subject) validate() (reasons []string) {
	if i.User == "" {
		reasons = append(reasons, "User is empty; it must name a user")
	}
	check := func(field, value string) {
		switch {
		case conn.BreaksHeader(value):
			reasons = append(reasons, field+" must have no control characters")
		case strings.TrimSpace(value) != value:
			reasons = append(reasons, field+" must not start or end with a space")
		}
	}
	check("User", i.User)
	check("UID", i.UID)
	for _, group := range i.Groups {
		if group == "" {
			reasons = append(reasons, "Groups must not have an empty name")
		}
		check("Groups", group)
	}
	for _, key := range slices.Sorted(maps.Keys(i.Extra)) {
		values := i.Extra[key]
		if key == "" {
			reasons = append(reasons, "Extra must not have an empty key")
		}
		for _, value := range values {
			check(fmt.Sprintf("Extra[%q]", key), value)
		}
	}
	return reasons
}

// header returns the headers of the impersonation; nil for a nil i.
func (i *Subject) header() http.Header {
	if i == nil {
		return nil
	}
	h := http.Header{conn.Impersonate + "User": {i.User}}
	if i.UID != "" {
		h[conn.Impersonate+"Uid"] = []string{i.UID}
	}
	if len(i.Groups) > 0 {
		h[conn.Impersonate+"Group"] = append([]string(nil), i.Groups...)
	}
	for key, values := range i.Extra {
		if len(values) > 0 {
			h[conn.Impersonate+"Extra-"+escapeKey(key)] = append([]string(nil), values...)
		}
	}
	return h
}

// escapeKey percent-encodes the bytes that a header's name cannot have, and capital letters too: the server reads the
// name in lower case and then decodes it, so the key arrives unchanged.
func escapeKey(key string) string {
	var b strings.Builder
	for _, c := range []byte(key) {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("!#$&'*+-.^_`|~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}
