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

// Fallback names versions of a resource for [Type.Fallback]. [Versions] makes one. Values can be compared with ==. Nil
// means no other version.
//
// It is an interface so that a program that names no versions does not link the code that tries them.
type Fallback interface {
	validate(version string) error
	of(c *Client, kind meta.GVK, resource string) served
}

// Versions returns the versions for [Type.Fallback], in order of preference.
func Versions(versions ...string) Fallback { return fallback(strings.Join(versions, "/")) }

// fallback has versions with slashes between them, so that it can be compared.
type fallback string

func (f fallback) all() []string { return strings.Split(string(f), "/") }

// validate checks the versions that may replace a version.
func (f fallback) validate(version string) error {
	seen := []string{version}
	for _, v := range f.all() {
		if err := meta.ValidSegment("client.Type: a version of Fallback", v); err != nil {
			return err
		}
		if slices.Contains(seen, v) {
			return fmt.Errorf("client.Type: Fallback must name other versions than Version, each once, got %q twice", v)
		}
		seen = append(seen, v)
	}
	return nil
}

// of returns what a client knows about the versions of a resource.
func (f fallback) of(c *Client, kind meta.GVK, resource string) served {
	key := versionsKey{kind, resource, f}
	if known, ok := c.versions.Load(key); ok {
		return known.(*versions)
	}
	known, _ := c.versions.LoadOrStore(key, &versions{kind: kind, all: append([]string{kind.Version}, f.all()...), inUse: kind.Version})
	return known.(*versions)
}

// versionsKey identifies the versions of a resource in Client.versions.
type versionsKey struct {
	kind     meta.GVK
	resource string
	fallback fallback
}

// versions knows which version of a resource a server serves. The handles of one client with the same Type share it.
type versions struct {
	kind meta.GVK
	all  []string // the versions in order of preference; never changes

	mu    sync.Mutex // guards the fields below
	inUse string     // the version of new requests
	known bool       // a server has served inUse
}

func (v *versions) use() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.inUse
}

func (v *versions) isKnown() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.known
}

// found remembers a version that the server serves.
func (v *versions) found(version string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.inUse, v.known = version, true
}

func (v *versions) has(apiVersion, kind string) bool {
	group, version := meta.SplitAPIVersion(apiVersion)
	return group == v.kind.Group && kind == v.kind.Kind && slices.Contains(v.all, version)
}

// call sends r in the version in use. If the server does not serve that version, call tries the others in order of
// preference.
//
// The 404 of a subresource does not tell whether the resource or only the subresource is missing. If the server has
// served the version before, call returns the 404 and tries no other version.
func (v *versions) call(ctx context.Context, c *Client, r request, read func(*http.Response) error) error {
	known := v.isKnown()
	if inUse := v.use(); inUse != r.resource.Version { // r was made before the version was known
		r = v.convert(r, inUse)
	}
	err := v.send(ctx, c, r, read)
	if !isUnserved(err) || known && r.subresource != "" {
		return err
	}
	for _, version := range v.all {
		if version == r.resource.Version {
			continue
		}
		if other := v.send(ctx, c, v.convert(r, version), read); !isUnserved(other) {
			return other
		}
	}
	return err
}

// send sends r, and remembers the version of r if the server serves it.
func (v *versions) send(ctx context.Context, c *Client, r request, read func(*http.Response) error) error {
	err := c.callOnce(ctx, r, func(resp *http.Response) error {
		v.found(r.resource.Version) // before read, which asks for the version
		return read(resp)
	})
	if concernsObject(err) {
		v.found(r.resource.Version)
	}
	return err
}

// convert returns the request in another version of the resource. If the body is an object, convert changes its
// apiVersion too.
func (v *versions) convert(r request, version string) request {
	was := r.resource.APIVersion()
	r.resource.Version = version
	var members map[string]json.RawMessage
	if json.Unmarshal(r.body, &members) != nil || !isString(members["apiVersion"], was) || !isString(members["kind"], v.kind.Kind) {
		return r
	}
	members["apiVersion"], _ = json.Marshal(r.resource.APIVersion())
	r.body, _ = json.Marshal(members) // never fails, because the body was JSON before
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

// concernsObject reports whether an error is about an object, which proves that the server serves the resource.
func concernsObject(err error) bool {
	switch apierrors.ReasonOf(err) {
	case apierrors.AlreadyExists, apierrors.Conflict, apierrors.Invalid:
		return true
	case apierrors.NotFound:
		return !isUnserved(err)
	}
	return false
}
