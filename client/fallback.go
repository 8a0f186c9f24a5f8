package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// versions knows which version of a resource a server serves, out of those that a Type names. The handles of one
// client with the same Type share it.
type versions struct {
	gvk meta.GVK
	all []string // in order of preference; never changes

	mu     sync.Mutex // guards the fields below
	used   string     // the version of new requests
	served bool       // a server has served used
}

// versionsKey identifies a Type's versions in Client.versions.
type versionsKey struct {
	gvk                meta.GVK
	resource, fallback string
}

// versions returns what the client knows about the versions of the resource; nil if there is only one.
func (r Resource[T]) versions() *versions {
	if r.t.Fallback == "" || r.c == nil {
		return nil
	}
	key := versionsKey{r.t.GVK(), r.t.Resource, r.t.Fallback}
	if known, ok := r.c.versions.Load(key); ok {
		return known.(*versions)
	}
	v := &versions{gvk: r.t.GVK(), all: append([]string{r.t.Version}, r.t.fallbacks()...), used: r.t.Version}
	known, _ := r.c.versions.LoadOrStore(key, v)
	return known.(*versions)
}

// Served returns the descriptor with the version that the handle uses in the place of Type.Version. Before the first
// answer of the server, and for a Type without Fallback, that is Type.Version. Names of the kind that the server stores
// need it, such as that of an owner:
//
//	err := client.SetController(pod, client.OwnerOf(sites.Served(), site))
func (r Resource[T]) Served() Type[T] {
	t := r.t
	if v := r.versions(); v != nil {
		t.Version, _ = v.use()
	}
	return t
}

// use returns the version of the next request, and whether it has been served.
func (v *versions) use() (version string, served bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.used, v.served
}

// found remembers a version that the server serves.
func (v *versions) found(version string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.used, v.served = version, true
}

// callVersions is call for a request of a resource with several versions. If the server does not serve the version, it
// sends the request in the others, in order of preference.
//
// The 404 of a subresource does not tell whether the resource or only the subresource is missing. It changes nothing if
// the version has been served before.
func (c *Client) callVersions(ctx context.Context, r request, read func(*http.Response) error) error {
	v := r.versions
	send := func(r request) error {
		err := c.callOnce(ctx, r, func(resp *http.Response) error {
			v.found(r.resource.Version) // before read, which asks for the version
			return read(resp)
		})
		if concernsObject(err) {
			v.found(r.resource.Version)
		}
		return err
	}
	used, served := v.use()
	if used != r.resource.Version { // it was made before the version was known
		r = r.inVersion(used)
	}
	err := send(r)
	if !isUnserved(err) || served && r.subresource != "" {
		return err
	}
	for _, version := range v.all {
		if version == r.resource.Version {
			continue
		}
		if other := send(r.inVersion(version)); !isUnserved(other) {
			return other
		}
	}
	return err
}

// concernsObject reports whether an error is the server's word about an object, so that it serves the resource.
func concernsObject(err error) bool {
	switch apierrors.ReasonOf(err) {
	case apierrors.AlreadyExists, apierrors.Conflict, apierrors.Invalid:
		return true
	case apierrors.NotFound:
		return !isUnserved(err)
	}
	return false
}

// has reports whether an object of a kind is one of the resource, in any version.
func (v *versions) has(apiVersion, kind string) bool {
	group, version := meta.SplitAPIVersion(apiVersion)
	return group == v.gvk.Group && kind == v.gvk.Kind && slices.Contains(v.all, version)
}

// inVersion returns the request in another version of the resource. The body of an object names it too.
func (r request) inVersion(version string) request {
	was := meta.GVK{Group: r.resource.Group, Version: r.resource.Version, Kind: r.versions.gvk.Kind}
	r.resource.Version = version
	var members map[string]json.RawMessage
	if json.Unmarshal(r.body, &members) != nil || !isString(members["apiVersion"], was.APIVersion()) || !isString(members["kind"], was.Kind) {
		return r
	}
	members["apiVersion"], _ = json.Marshal(r.resource.APIVersion())
	r.body, _ = json.Marshal(members) // it was JSON before
	return r
}

func isString(text json.RawMessage, want string) bool {
	var s string
	return json.Unmarshal(text, &s) == nil && s == want
}

// isUnserved reports whether a server has answered that it does not serve the resource.
func isUnserved(err error) bool {
	op, ok := errors.AsType[*OpError](err)
	return ok && op.notServed() != ""
}

// fallbacks returns the versions of Type.Fallback.
func (t Type[T]) fallbacks() []string {
	if t.Fallback == "" {
		return nil
	}
	return strings.Split(t.Fallback, ",")
}

// validateFallback checks Type.Fallback.
func (t Type[T]) validateFallback() error {
	seen := []string{t.Version}
	for _, version := range t.fallbacks() {
		if err := meta.ValidSegment("client.Type: a version of Fallback", version); err != nil {
			return err
		}
		if slices.Contains(seen, version) {
			return fmt.Errorf("client.Type: Fallback must name other versions than Version, each once, got %q twice", version)
		}
		seen = append(seen, version)
	}
	return nil
}
