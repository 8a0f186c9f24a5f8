package client

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "github.com/bowline-go/bowline/errors"
)

// A server's answers about a path that it does not serve: a Status within the groups that are compiled in, and plain
// text elsewhere. Neither names the resource. internal/proof/conformance asks both servers for them.
const (
	noResource = "the server could not find the requested resource"
	noPath     = "404 page not found"
)

// notServed returns an explanation of the answer if the server does not serve the resource at all, and "" otherwise. A
// NotFound about an object names the object. If e wraps another OpError, that OpError has the explanation.
func (e *OpError) notServed() string {
	status, ok := errors.AsType[*apierrors.StatusError](e.Err)
	if e.Resource.Resource == "" || errors.As(e.Err, new(*OpError)) || !ok || status.Status.Code != http.StatusNotFound {
		return ""
	}
	if message := status.Status.Message; status.FromStatus && !strings.HasPrefix(message, noResource) ||
		!status.FromStatus && !strings.HasSuffix(message, noPath) {
		return ""
	}
	what := e.Resource.String()
	if e.Subresource != "" {
		what += fmt.Sprintf(", or its subresource %q", e.Subresource)
	}
	if group := e.Resource.Group; !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") {
		return "the server does not serve " + what + "; check the version and the scope of the Type"
	}
	return "the server does not serve " + what + "; its CustomResourceDefinition may be missing, or have another version or scope"
}
