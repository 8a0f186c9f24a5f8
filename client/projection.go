package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/shown"
)

// A full write of a T that lacks fields of the object must not remove those fields.

// maxLost bounds how many members an error names.
const maxLost = 10

// wouldLose returns the error of an update that would remove members of the server's object, because the object's Go
// type has no field for them. lost are JSON pointers (RFC 6901) to them, at most maxLost.
func wouldLose(t reflect.Type, lost []string) error {
	more := ""
	if len(lost) >= maxLost {
		more = " and others"
	}
	return &UsageError{Err: fmt.Errorf("%v has no field for %s%s, which the server's object has and this update would remove: use Modify or Patch",
		t, shown.Text(strings.Join(lost, ", ")), more)}
}

// note records facts that a client has learned about a Go type and the resource that it decodes into it.
type note struct {
	lossy  atomic.Bool    // an object had members that the type has no field for
	drops  handle.Feature // whether the server accepts the parameter drop of media types
	status atomic.Bool    // the resource has a status subresource
	// misplaced says why no object of the type has a name, and unnamed which field the server does not know; nil for
	// correct types.
	misplaced, unnamed error
	// objects and metadata are the facts about protobuf: the first for whole objects, the second for metadata alone.
	objects, metadata binary
}

// noteKey identifies a note. The number of notes is bounded by the program's types, their projections, and the
// resources that it reads into them.
type noteKey struct {
	t    reflect.Type
	gvr  meta.GVR
	only *codec.Projection // the members of t that are decoded; nil means all
}

// noteOf returns the client's note, which is the same for every handle on the Go type and the resource.
func noteOf(c *Client, t reflect.Type, gvr meta.GVR, only *codec.Projection) *note {
	if c == nil {
		return nil
	}
	key := noteKey{t, gvr, only}
	if n, ok := c.notes.Load(key); ok {
		return n.(*note)
	}
	n, _ := c.notes.LoadOrStore(key, &note{misplaced: gotype.Misplaced(t), unnamed: unnamed(t)})
	return n.(*note)
}

// unnamed returns an error if the type has an exported field without a name in its json tag.
func unnamed(t reflect.Type) error {
	if err := gotype.Unnamed(t); err != nil {
		return fmt.Errorf("client.Type: %w", err)
	}
	return nil
}

// unfit returns why the type cannot hold objects of the API, or nil.
func (n *note) unfit() error { return cmp.Or(n.misplaced, n.unnamed) }

// lossyFlag returns the flag that the codec sets, or nil.
func (n *note) lossyFlag() *atomic.Bool {
	if n == nil {
		return nil
	}
	return &n.lossy
}

// keepsAll returns an error if the update q, of an object that was read at version, would remove members that the Go
// type has no field for. It makes no request unless the type is known to lose members.
func (r resource) keepsAll(ctx context.Context, q request, version string) error {
	if !r.note.lossy.Load() {
		return nil
	}
	if _, err := q.path(); err != nil {
		return q.fail(&UsageError{Err: err})
	}
	subresource := q.subresource
	if !r.own && subresource != "status" { // some subresources cannot be read
		subresource = ""
	}
	_, live, err := r.get(ctx, q.key, subresource)
	switch {
	case errors.Is(err, apierrors.NotFound):
		return nil // nothing can be lost; the server answers the update
	case err != nil:
		return err
	case version != "" && version != live.ResourceVersion:
		return nil // the server will answer Conflict
	}
	lost, err := r.lost(ctx, q, live.Raw)
	if err != nil {
		return q.fail(fmt.Errorf("compare the server's object with %v: %w", r.typ, err))
	}
	if len(lost) > 0 {
		return q.fail(wouldLose(r.typ, lost))
	}
	return nil
}

// lost returns JSON pointers to the members that the update q would remove from the live object because the Go type
// has no field for them.
func (r resource) lost(ctx context.Context, q request, live []byte) ([]string, error) {
	object, err := readNumbers(live)
	if err != nil {
		return nil, err
	}
	if r.own || q.subresource != "" && q.subresource != "status" {
		return codec.Lost(r.typ, object, maxLost)
	}
	status := map[string]any{"status": object["status"]}
	delete(object, "status")
	if q.subresource == "status" {
		return codec.Lost(r.typ, map[string]any{"metadata": object["metadata"], "status": status["status"]}, maxLost)
	}
	lost, err := codec.Lost(r.typ, object, maxLost)
	if err != nil || len(lost) == maxLost {
		return lost, err
	}
	more, err := codec.Lost(r.typ, status, maxLost-len(lost))
	if err != nil || len(more) == 0 {
		return lost, err
	}
	if has, _ := r.hasStatus(ctx, q.key); has { // a write to the object leaves status alone
		return lost, nil
	}
	return append(lost, more...), nil
}

// hasStatus reports whether the resource has a status subresource, and whether that is known: a server may not say. A
// positive answer is remembered.
func (r resource) hasStatus(ctx context.Context, key meta.Key) (has, known bool) {
	if r.note.status.Load() {
		return true, true
	}
	q := r.request("get", key)
	q.subresource = "status"
	switch err := r.accepted(ctx, q); {
	case err == nil:
		r.note.status.Store(true)
		return true, true
	case errors.Is(err, apierrors.NotFound), errors.Is(err, apierrors.MethodNotAllowed):
		return false, true
	}
	return false, false
}

// readNumbers decodes a JSON object and keeps numbers as they are written.
func readNumbers(raw []byte) (object map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&object)
	return object, err
}
