package clienttest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// call is one request and its answer. A handler answers it or returns an error. For a *status.Error, the answer is
// that Status; any other error is an internal error of the server.
type call struct {
	Request
	*api
	cache *store.Cache // of the replica that the request has reached
	res   *resource    // nil for a path that is not a resource's
	user  User
	w     http.ResponseWriter
	r     *http.Request
	query url.Values

	form        form   // of the objects in the answer
	formVersion string // of metadata alone and of Tables, if it is not v1
	media       string // of the answer
	drop        bool   // the answer has no managedFields

	internal bool // no client has sent the request, so admission is not asked
}

// errNoPath reports a path that the server does not have. The answer is plain text.
var errNoPath = errors.New("404 page not found")

// handler answers a call.
type handler func(c *call) error

// current sets res to the resource that is served now, within a transaction. A write to a CustomResourceDefinition may
// have replaced it since the request came.
func (c *call) current() error {
	select {
	case <-c.res.objects.Gone():
		now := c.registry.named(c.Resource)
		if now == nil {
			return status.NoSuchResource()
		}
		c.res = now
	default:
	}
	return nil
}

// present returns the object that the request names, within a transaction.
func (c *call) present(tx store.Tx) (*object.Revision, error) {
	if err := c.current(); err != nil {
		return nil, err
	}
	v := tx.Get(c.res.objects, c.Key)
	if v == nil {
		return nil, status.NotFound(c.res, c.Key.Name)
	}
	return v, nil
}

// read returns the present state of the object that the request names.
func (c *call) read() (*object.Revision, error) {
	tx := c.store.Begin()
	defer tx.End()
	return c.present(tx)
}

// warn adds a warning to the answer.
func (c *call) warn(format string, args ...any) {
	c.w.Header().Add("Warning", fmt.Sprintf("299 - %q", fmt.Sprintf(format, args...)))
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

// checkNamespace compares the namespace of an object in the body with that of the request.
func (c *call) checkNamespace(namespace string) error {
	if namespace != "" && namespace != c.Key.Namespace && c.res.Scope == meta.Namespaced {
		return status.BadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// checkName compares an object's name with that in the path.
func (c *call) checkName(name string) error {
	switch name {
	case c.Key.Name:
		return nil
	case "":
		return status.BadRequest("the name of the object (%s based on URL) was undeterminable: name must be provided", c.Key.Name)
	}
	return status.BadRequest("the name of the object (%s) does not match the name on the URL (%s)", name, c.Key.Name)
}
