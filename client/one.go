package client

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/bowline-go/bowline/client/meta"
)

// One returns a handle that is bound to one object. Lists, watches and DeleteCollection cover only that object, so a
// watch of the handle is a watch of the object, and an informer of the handle caches it alone. A Role that names the
// object in resourceNames allows these requests. The object need not exist. A call for an object of another name, or
// without a name, returns a [*UsageError] and sends nothing. If One is called on a bound handle with another name,
// every call of the new handle does the same.
//
//	for event, err := range pods.One(key).Watch(ctx, client.WatchOptions{}) { ... }
//
// key needs a namespace if the resource is namespaced, unless [Resource.In] has set it. The handle adds metadata.name
// to the field selector of a request.
func (r Resource[T]) One(key meta.Key) Resource[T] { return Resource[T]{r.untyped.one(key)} }

func (r resource) one(key meta.Key) resource {
	switch err := meta.ValidSegment("name", key.Name); {
	case r.err != nil:
		return r
	case err != nil:
		r.err = fmt.Errorf("client.Resource.One: %w", err)
	case r.t.Scope == meta.Cluster && key.Namespace != "":
		r.err = fmt.Errorf("client.Resource.One: namespace must be empty for a cluster-wide resource, got %q", key.Namespace)
	case r.t.Scope == meta.Namespaced && key.Namespace == "" && r.namespace == "":
		r.err = errors.New("client.Resource.One: namespace must not be empty for a namespaced resource")
	case r.name != "" && r.name != key.Name:
		r.err = fmt.Errorf("client.Resource.One: name must be %q, which this handle is bound to, got %q", r.name, key.Name)
	default:
		r.name = key.Name
	}
	if key.Namespace != "" {
		r = r.in(key.Namespace)
	}
	return r
}

// selects reports whether the request is about several objects, which selectors choose from.
func (r request) selects() bool { return r.collection && r.method() != http.MethodPost }

// checkName returns an error if the handle is bound to another object.
func (r request) checkName() error {
	if r.name == "" || r.selects() || r.key.Name == r.name {
		return nil
	}
	return fmt.Errorf("name must be %q, which this handle is bound to, got %q", r.name, r.key.Name)
}

// selected returns the request's parameters, which select the object that the handle is bound to.
func (r request) selected() url.Values {
	if r.name == "" || !r.selects() {
		return r.query
	}
	// A name that is a path segment can always be written in a selector.
	only, _ := meta.NewFieldSelector(meta.FieldTerm{Field: "metadata.name", Value: r.name})
	query := maps.Clone(r.query)
	if query == nil {
		query = url.Values{}
	}
	text := only.String()
	if and := query.Get("fieldSelector"); and != "" {
		text += "," + and
	}
	query.Set("fieldSelector", text)
	return query
}
