package clienttest

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// answer answers r as the replica with this cache does.
func (a *api) answer(w http.ResponseWriter, r *http.Request, cache *store.Cache) {
	defer func() {
		// A panic is a bug of this server. The sender of the request should see it, but net/http would only break the
		// connection.
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				writeStatus(w, status.Failure(http.StatusInternalServerError, "InternalError",
					"Internal error occurred: panic: %v\n%s", p, debug.Stack()).Status)
			}
			panic(http.ErrAbortHandler)
		}
	}()
	a.translated(w, r, func(w http.ResponseWriter, r *http.Request) {
		err := inTime(w, r, func(r *http.Request) error { return a.dispatch(w, r, cache) })
		failure, ok := errors.AsType[*status.Error](err)
		switch {
		case err == nil:
			return
		case err == errNoPath:
			http.NotFound(w, r)
			return
		case !ok:
			failure = status.Failure(http.StatusInternalServerError, "InternalError", "Internal error occurred: %v", err)
		}
		writeStatus(w, failure.Status)
	})
}

// inTime answers a request within the time of its parameter timeout.
func inTime(w http.ResponseWriter, r *http.Request, answer func(*http.Request) error) error {
	timeout, err := timeoutOf(r)
	switch {
	case err != nil:
		return err
	case timeout <= 0:
		return answer(r)
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	if err = answer(r.WithContext(ctx)); err == nil || ctx.Err() == nil || r.Context().Err() != nil {
		return err
	}
	// A real server writes this Status outside of its usual code, so it has no kind, and is called plain text.
	writeBody(w, http.StatusGatewayTimeout, mediaText, []byte(`{"metadata":{},"status":"Failure",`+
		`"message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}`+"\n"))
	return nil
}

// timeoutOf returns the parameter timeout. It applies to all requests except long-running ones. 0 or less means no
// limit.
func timeoutOf(r *http.Request) (time.Duration, error) {
	q := RequestOf(r)
	text := r.URL.Query().Get("timeout")
	if text == "" || q.Verb == "watch" || slices.Contains([]string{"attach", "exec", "log", "portforward", "proxy"}, q.Subresource) {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, status.BadRequest("invalid timeout specified in the request URL - %v", err)
	}
	return d, nil
}

// dispatch hands a request to the handler of its row in the table of routes.
func (a *api) dispatch(w http.ResponseWriter, r *http.Request, cache *store.Cache) error {
	user, err := a.authenticate(r)
	if err != nil {
		return err
	}
	c := &call{Request: RequestOf(r), api: a, cache: cache, user: user, w: w, r: r, query: r.URL.Query()}
	if c.Resource.Resource == "" {
		return c.dispatchRaw()
	}
	c.res = a.registry.named(c.Resource)
	if err := c.permit(); err != nil {
		return err
	}
	if err := c.checkPath(); err != nil {
		return err
	}
	switch c.res.groupResource() {
	case "endpoints":
		c.warn("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
	case "componentstatuses":
		c.warn("v1 ComponentStatus is deprecated in v1.19+")
	}
	if c.res.warning != "" {
		c.warn("%s", c.res.warning)
	}
	rest := ""
	if c.Key.Name != "" {
		rest = "/NAME"
	}
	if c.Subresource != "" {
		rest += "/" + c.Subresource
	}
	if answer := route(c.res, c.Verb, rest); answer != nil {
		return answer(c)
	}
	return c.notAllowed()
}

// dispatchRaw is dispatch for a path that is not a resource's.
func (c *call) dispatchRaw() error {
	parts := pathParts(c.r)
	if c.r.Method == http.MethodHead && len(parts) > 0 && slices.Contains([]string{"api", "apis", "version"}, parts[0]) {
		return status.MethodNotAllowed()
	}
	if err := c.mayPath(); err != nil {
		return err
	}
	if answer := routes[rawPath(parts)]; answer != nil {
		return answer(c)
	}
	return errNoPath
}

// permit checks whether the user may send the request. It runs before other checks, so that a refused user does not
// learn what the server has.
func (c *call) permit() error {
	if c.res != nil && c.res.review && strings.HasPrefix(c.res.Kind, "Self") && c.Verb == "create" {
		return nil // the roles of a real server allow every user to ask about oneself
	}
	access := Access{User: c.user, Request: c.Request}
	if c.collects() || c.Verb == "deletecollection" {
		access.LabelSelector, access.FieldSelector = c.query.Get("labelSelector"), c.query.Get("fieldSelector")
	}
	if c.collects() && access.Key.Name == "" {
		access.Key.Name = nameIn(access.FieldSelector)
	}
	if c.Verb == "watch" && isTrue(c.query, "sendInitialEvents") {
		lists := access
		lists.Verb = "list"
		c.observed.note(lists)
	}
	return c.authorize(access)
}

// nameIn returns the name of the only object that a field selector can select, or "". Rules with resourceNames allow a
// list and a watch of that object.
func nameIn(selector string) string {
	fields, err := meta.ParseFieldSelector(selector)
	if err != nil {
		return "" // the error is reported later
	}
	for _, f := range fields.Terms() {
		if f.Field == "metadata.name" && !f.Differs && !strings.ContainsAny(f.Value, "/%") && f.Value != "." && f.Value != ".." {
			return f.Value
		}
	}
	return ""
}

// checkPath refuses a path that names nothing, and a method that a path cannot have.
func (c *call) checkPath() error {
	if c.res == nil {
		if c.registry.compiledIn(c.Resource.Group) {
			return status.NoSuchResource()
		}
		return errNoPath // a real server looks for a custom resource here, and that code answers in plain text
	}
	named, homeless := c.Key.Name != "", c.res.Scope == meta.Namespaced && c.Key.Namespace == ""
	unknown := c.Subresource != "" && c.res.subresources[c.Subresource] == nil && !c.entersContainer()
	switch {
	case homeless && !c.res.Builtin && (named || !c.collects()):
		return errNoPath
	case c.res.Scope == meta.Cluster && c.Key.Namespace != "":
		return status.NoSuchResource()
	case unknown && !c.res.Builtin:
		return status.NotFound(c.res, c.Key.Name)
	case unknown, homeless && named, c.res.review && (named && route(c.res, "get", "/NAME") == nil || homeless):
		return status.NoSuchResource()
	case homeless && !c.collects(), c.r.Method == http.MethodHead && c.res.Builtin, c.Verb == "watch" && c.r.Method != http.MethodGet:
		return status.MethodNotAllowed()
	}
	return c.checkKey()
}

// entersContainer reports whether the request is for Options.Containers.
func (c *call) entersContainer() bool {
	return c.options.Containers != nil && c.Resource == meta.GVR{Version: "v1", Resource: "pods"} && c.Key.Name != "" &&
		slices.Contains([]string{"exec", "attach", "log", "portforward"}, c.Subresource)
}

// checkKey refuses names that cannot be part of a path.
func (c *call) checkKey() error {
	if ns := c.Key.Namespace; ns == "." || ns == ".." {
		return status.Failure(http.StatusInternalServerError, "", "invalid key: %q", "/"+c.res.Resource.Resource+"/"+ns)
	}
	var why string
	switch name := c.Key.Name; {
	case name == "." || name == "..":
		why = "may not be '" + name + "'"
	case strings.Contains(name, "%"):
		why = "may not contain '%'"
	default:
		return nil
	}
	return status.BadRequest("Name parameter invalid: %q: %s", c.Key.Name, why)
}
