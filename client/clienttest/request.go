package clienttest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// Request is the meaning of an HTTP request, in the API's words.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection. For a path that is not a resource's
	// it is the HTTP method in lower case.
	Verb string
	// Resource is empty for a path that is not a resource's.
	Resource meta.GVR
	// Key is the object's key. Its Name is empty for verbs on a collection, except if a create names the object in its
	// path.
	Key meta.Key
	// Subresource is empty or a word such as "status".
	Subresource string
}

// Call is a kind of request that the server counts: a verb and the plural name of a resource, as in "list" and "pods".
// A subresource counts as its resource; tell the two apart with Server.Intercept and RequestOf. The resource is empty
// for other paths, and then the verb is the HTTP method in lower case.
type Call struct{ Verb, Resource string }

// RequestOf parses r. It uses only the method and the URL, so it does not know whether the server has such a resource.
func RequestOf(r *http.Request) Request {
	q := Request{Verb: strings.ToLower(r.Method)}
	parts := pathParts(r)
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		q.Resource.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		q.Resource.Group, q.Resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return q
	}
	// The deprecated form of a watch has the word "watch" before the rest of the path.
	watches := parts[0] == "watch" && len(parts) > 1
	if watches {
		parts = parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 2 && !(len(parts) == 3 && (parts[2] == "status" || parts[2] == "finalize")) {
		q.Key.Namespace, parts = parts[1], parts[2:]
	}
	q.Resource.Resource, parts = parts[0], parts[1:]
	if len(parts) > 0 {
		q.Key.Name, parts = parts[0], parts[1:]
	}
	q.Subresource = strings.Join(parts, "/")
	if q.Verb = verbOf(r, q.Key.Name != ""); watches {
		q.Verb = "watch"
	}
	return q
}

// pathParts returns the words of a request's path.
func pathParts(r *http.Request) []string {
	return strings.FieldsFunc(r.URL.Path, func(c rune) bool { return c == '/' })
}

// verbOf returns the verb of a request for a resource, whose path names an object or a collection.
func verbOf(r *http.Request, named bool) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		switch {
		case named:
			return "get"
		case isTrue(r.URL.Query(), "watch"):
			return "watch"
		}
		return "list"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodDelete:
		if !named {
			return "deletecollection"
		}
	}
	return strings.ToLower(r.Method)
}

// collects reports whether the request reads a collection.
func (q Request) collects() bool { return q.Verb == "list" || q.Verb == "watch" }

// isTrue reads a boolean parameter as the API does: anything but "false" and "0" is true.
func isTrue(query url.Values, name string) bool {
	v, found := query[name]
	return found && !strings.EqualFold(v[0], "false") && v[0] != "0"
}

// intParam reads an integer parameter; an absent or empty one is 0.
func intParam(query url.Values, name string) (int64, error) {
	text := query.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, status.BadRequest("%v", err)
	}
	return n, nil
}
