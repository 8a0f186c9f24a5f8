package clienttest

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/network"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// Request is the meaning of an HTTP request, in the API's words.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection. For a path that is not a resource's it
	// is the HTTP method in lower case.
	Verb string
	// Resource is empty for a path that is not a resource's.
	Resource meta.GVR
	// Key is the object's key. Its Name is empty for verbs on a collection, except if a create names the object in its path.
	Key meta.Key
	// Subresource is empty or a word such as "status".
	Subresource string
}

// RequestOf parses r. It uses only the method and the URL, so it does not know whether the server has such a resource.
func RequestOf(r *http.Request) Request {
	plain := Request{Verb: strings.ToLower(r.Method)}
	parts := strings.FieldsFunc(r.URL.Path, func(c rune) bool { return c == '/' })
	var q Request
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		q.Resource.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		q.Resource.Group, q.Resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return plain
	}
	// The deprecated way to ask for a watch is the word before the rest of the path.
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
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		switch {
		case q.Key.Name != "":
			q.Verb = "get"
		case isTrue(r.URL.Query(), "watch"):
			q.Verb = "watch"
		default:
			q.Verb = "list"
		}
	case http.MethodPost:
		q.Verb = "create"
	case http.MethodPut:
		q.Verb = "update"
	case http.MethodPatch:
		q.Verb = "patch"
	case http.MethodDelete:
		q.Verb = "delete"
		if q.Key.Name == "" {
			q.Verb = "deletecollection"
		}
	default:
		q.Verb = plain.Verb
	}
	if watches {
		q.Verb = "watch"
	}
	return q
}

// isTrue reads a boolean parameter as the API does: anything but "false" and "0" is true.
func isTrue(query url.Values, name string) bool {
	v, found := query[name]
	return found && !strings.EqualFold(v[0], "false") && v[0] != "0"
}

// Call is a kind of request that the server counts: a verb and the plural name of a resource, as in "list" and
// "pods". A subresource counts as its resource; tell
// the two apart with Server.Intercept and RequestOf. The resource is empty for other paths, and then the verb is the HTTP method in
// lower case.
type Call struct{ Verb, Resource string }

// Requests returns the number of requests of each kind until now, whatever their answers.
func (s *Server) Requests() map[Call]int {
	s.callsMu.Lock()
	defer s.callsMu.Unlock()
	return maps.Clone(s.calls)
}

// handle answers one request from the network: it counts the request, and calls the hook first.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	q := RequestOf(r)
	s.callsMu.Lock()
	s.calls[Call{q.Verb, q.Resource.Resource}]++
	s.callsMu.Unlock()
	if hook := s.hook.Load(); hook != nil {
		if answer := (*hook)(r); answer != nil {
			answer(w, r)
			return
		}
	}
	s.ServeHTTP(w, r)
}

// ServeHTTP answers r as the server usually does. It does not call the function of Intercept, and Requests does not count r. Use
// it in handlers for Intercept that add to the usual answer or change it.
//
// If there are several replicas, the one of the request's connection answers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := 0
	if c := network.ConnOf(r); c != nil {
		n = c.Replica
	}
	s.replicas[n].ServeHTTP(w, r)
}

// answer answers r as a replica does.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, p *Replica) {
	defer func() {
		// A panic is a bug of this server. The sender of the request should know, and net/http would not tell.
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				writeStatus(w, status.Failure(http.StatusInternalServerError, "InternalError",
					"Internal error occurred: panic: %v\n%s", p, debug.Stack()).Status)
			}
			panic(http.ErrAbortHandler)
		}
	}()
	if namesOther(r) {
		s.answerOther(w, r, p)
		return
	}
	s.answerJSON(w, r, p)
}

func (s *Server) answerJSON(w http.ResponseWriter, r *http.Request, p *Replica) {
	if err := s.serve(w, r, p); err != nil {
		var failure *status.Error
		if !errors.As(err, &failure) {
			failure = status.Failure(http.StatusInternalServerError, "InternalError", "Internal error occurred: %v", err)
		}
		writeStatus(w, failure.Status)
	}
}

// route answers a request by its path and verb.
func (s *Server) route(w http.ResponseWriter, r *http.Request, p *Replica) error {
	user, err := s.authenticate(r)
	if err != nil {
		return err
	}
	q := RequestOf(r)
	if q.Resource.Resource == "" {
		return s.serveOther(w, r)
	}
	enters := s.entersContainer(q)
	s.store.mu.Lock()
	res := s.store.resources[q.Resource]
	served := res != nil || s.store.compiledIn(q.Resource.Group) // the code that looks for custom resources fails in plain text
	s.store.mu.Unlock()
	if res == nil || !res.asksAboutOneself(q.Verb) {
		access := Access{User: user, Request: q}
		if q.collects() || q.Verb == "deletecollection" {
			access.LabelSelector, access.FieldSelector = r.URL.Query().Get("labelSelector"), r.URL.Query().Get("fieldSelector")
		}
		if err := s.authorize(access); err != nil {
			return err
		}
	}
	switch {
	case !served, res != nil && !res.Builtin && res.Scope == meta.Namespaced && q.Key.Namespace == "" && (q.Key.Name != "" || !q.collects()):
		http.NotFound(w, r)
		return nil
	case res == nil, res.Scope == meta.Cluster && q.Key.Namespace != "":
		return status.NoSuchResource()
	case enters && q.Key.Namespace != "":
	case q.Subresource != "" && res.subresources[q.Subresource] == nil && !res.Builtin:
		return status.NotFound(res, q.Key.Name)
	case q.Subresource != "" && res.subresources[q.Subresource] == nil:
		return status.NoSuchResource()
	case res.review != nil && (q.Key.Name != "" || res.Scope == meta.Namespaced && q.Key.Namespace == ""):
		return status.NoSuchResource()
	case res.Scope == meta.Namespaced && q.Key.Namespace == "" && q.Key.Name != "":
		return status.NoSuchResource()
	case res.Scope == meta.Namespaced && q.Key.Namespace == "" && !q.collects():
		return status.MethodNotAllowed()
	case r.Method == http.MethodHead && res.Builtin, q.Verb == "watch" && r.Method != http.MethodGet:
		return status.MethodNotAllowed()
	}
	if err := checkPath(res, q.Key); err != nil {
		return err
	}
	res.warnDeprecated(w)
	c := &call{Request: q, s: s, replica: p, res: res, user: user, r: r, query: r.URL.Query()}
	if res.review != nil {
		return c.review(w)
	}
	if enters {
		return c.enter(w)
	}
	if sub := res.subresources[q.Subresource]; sub != nil {
		return sub.serve(c, w)
	}
	switch {
	case q.Verb == "list":
		return c.list(w)
	case q.Verb == "watch":
		return c.watch(w)
	case q.Verb == "get":
		return c.get(w)
	case q.Verb == "create" && q.Key.Name == "":
		return c.create(w)
	case q.Verb == "update" && q.Key.Name != "":
		return c.update(w)
	case q.Verb == "patch" && q.Key.Name != "":
		return c.patch(w)
	case q.Verb == "delete":
		return c.delete(w)
	case q.Verb == "deletecollection" && !res.Single:
		return c.deleteCollection(w)
	}
	return c.notAllowed()
}

// notAllowed returns the error for a method that the path does not have. Its words differ for custom resources.
func (c *call) notAllowed() error {
	verb := c.Verb
	switch {
	case c.res.Builtin:
		return status.MethodNotAllowed()
	case c.Key.Name == "" && (verb == "update" || verb == "patch"):
		return status.BadRequest("name must be provided")
	case verb != "create" && verb != "delete":
		verb = "" // as for a method without a verb
	}
	return status.Failure(http.StatusMethodNotAllowed, "MethodNotAllowed", "%s is not supported on resources of kind %q", verb, c.res.groupResource()).
		About(c.res, "")
}

// collects reports whether the request reads a collection.
func (q Request) collects() bool { return q.Verb == "list" || q.Verb == "watch" }

// checkPath refuses names that cannot be part of a path.
func checkPath(r *resource, key meta.Key) error {
	if ns := key.Namespace; ns == "." || ns == ".." {
		return status.Failure(http.StatusInternalServerError, "", "invalid key: %q", "/"+r.Resource.Resource+"/"+ns)
	}
	var why string
	switch name := key.Name; {
	case name == "." || name == "..":
		why = "may not be '" + name + "'"
	case strings.Contains(name, "%"):
		why = "may not contain '%'"
	default:
		return nil
	}
	return status.BadRequest("Name parameter invalid: %q: %s", key.Name, why)
}

// serveOther answers the paths that are not a resource's.
func (s *Server) serveOther(w http.ResponseWriter, r *http.Request) error {
	switch root, _, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/"); {
	case root == "", r.URL.Path == "/index.html":
		return s.servePaths(w)
	case r.Method == http.MethodHead && (root == "api" || root == "apis" || root == "version"):
		return status.MethodNotAllowed()
	}
	return s.discover(w, r)
}

// servePaths lists the paths that the server has.
func (s *Server) servePaths(w http.ResponseWriter) error {
	paths := []string{"/api", "/api/v1", "/apis", "/apis/", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"}
	for _, g := range s.groups() {
		paths = append(paths, "/apis/"+g.Name)
		for _, v := range g.Versions {
			paths = append(paths, "/apis/"+v.GroupVersion)
		}
	}
	slices.Sort(paths)
	writeJSON(w, http.StatusOK, map[string][]string{"paths": paths})
	return nil
}

// call is one request for a resource that the server has.
type call struct {
	Request
	s       *Server
	replica *Replica
	res     *resource
	user    User
	r       *http.Request
	query   url.Values

	formVersion string // of metadata alone and of Tables, if it is not v1
	media       string // of the answer
	drop        bool   // the answer has no managedFields
}
