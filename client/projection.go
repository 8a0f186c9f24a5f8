package client

import (
	"bytes"
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
	"github.com/bowline-go/bowline/internal/shown"
)

// This file keeps a full write of a T that has less than the object from removing the rest.

// ProjectionError says that an object was not written as a whole, because its Go type has no field for some of what the server's
// object has, which the write would have removed. [Resource.Modify] and [Resource.Patch] change an object without that.
type ProjectionError struct {
	// Type is the Go type.
	Type reflect.Type
	// Lost are JSON pointers (RFC 6901) to what the server's object has and Type has no field for, at most ten of them.
	Lost []string
}

// maxLost bounds ProjectionError.Lost.
const maxLost = 10

// Error returns, for example, `*main.Pod has no field for /spec/tolerations, which the server's object has and this update would
// remove: use Modify or Patch`. It names three.
func (e *ProjectionError) Error() string {
	const named = 3
	var b strings.Builder
	fmt.Fprintf(&b, "%v has no field for ", e.Type)
	for i, at := range e.Lost[:min(len(e.Lost), named)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(shown.Text(at))
	}
	switch more := len(e.Lost) - named; {
	case len(e.Lost) >= maxLost:
		b.WriteString(" and others")
	case more > 0:
		fmt.Fprintf(&b, " and %d more", more)
	}
	b.WriteString(", which the server's object has and this update would remove: use Modify or Patch")
	return b.String()
}

// note is what a client has found out about a Go type and the resource that is decoded into it.
type note struct {
	lossy  atomic.Bool // an object had what the type has no field for
	status atomic.Bool // the resource has a status subresource
	// misplaced is why no object of the type has a name, nil for types as they should be.
	misplaced error
}

// noteKey says what a note is about. There are as many as the program has types and reads resources into them.
type noteKey struct {
	t   reflect.Type
	gvr meta.GVR
}

// noteOf returns the client's note, which is the same for every handle on T and the resource.
func noteOf[T meta.Object](c *Client, gvr meta.GVR) *note {
	if c == nil {
		return nil
	}
	key := noteKey{reflect.TypeFor[T](), gvr}
	if n, ok := c.notes.Load(key); ok {
		return n.(*note)
	}
	n, _ := c.notes.LoadOrStore(key, &note{misplaced: gotype.Misplaced[T]()})
	return n.(*note)
}

// lossyFlag is what the codec sets; nil for none.
func (n *note) lossyFlag() *atomic.Bool {
	if n == nil {
		return nil
	}
	return &n.lossy
}

// keepsAll returns an error if the update q, of an object that was read at version, would remove what T has no field for. It
// makes no request unless T is known for it.
func (r Resource[T]) keepsAll(ctx context.Context, q request, version string) error {
	if !r.note.lossy.Load() {
		return nil
	}
	if _, err := q.path(); err != nil {
		return q.fail(&UsageError{Err: err})
	}
	subresource := q.subresource
	if !r.own && subresource != "status" { // some cannot be read
		subresource = ""
	}
	_, live, err := r.get(ctx, q.key, subresource)
	switch {
	case errors.Is(err, apierrors.NotFound):
		return nil // nothing is there to be removed; what an update of it is, the server knows
	case err != nil:
		return err
	case version != "" && version != live.ResourceVersion:
		return nil // the server will say Conflict
	}
	lost, err := r.lost(ctx, q, live.Raw)
	if err != nil {
		return q.fail(fmt.Errorf("tell what %v would lose: %w", reflect.TypeFor[T](), err))
	}
	if len(lost) > 0 {
		return q.fail(&ProjectionError{Type: reflect.TypeFor[T](), Lost: lost})
	}
	return nil
}

// lost returns JSON pointers to what the update q would remove of the live object because T has no field for it.
func (r Resource[T]) lost(ctx context.Context, q request, live []byte) ([]string, error) {
	object, err := readNumbers(live)
	if err != nil {
		return nil, err
	}
	if r.own || q.subresource != "" && q.subresource != "status" {
		return codec.Lost[T](object, maxLost)
	}
	status := map[string]any{"status": object["status"]}
	delete(object, "status")
	if q.subresource == "status" {
		return codec.Lost[T](map[string]any{"metadata": object["metadata"], "status": status["status"]}, maxLost)
	}
	lost, err := codec.Lost[T](object, maxLost)
	if err != nil || len(lost) == maxLost {
		return lost, err
	}
	more, err := codec.Lost[T](status, maxLost-len(lost))
	if err != nil || len(more) == 0 {
		return lost, err
	}
	if has, _ := r.hasStatus(ctx, q.key); has { // and a write to the object leaves it alone
		return lost, nil
	}
	return append(lost, more...), nil
}

// hasStatus reports whether the resource has a status subresource, and whether that is known: a server may not say. Once it has,
// nobody asks again.
func (r Resource[T]) hasStatus(ctx context.Context, key meta.Key) (has, known bool) {
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

// readNumbers decodes a JSON object and keeps its numbers as they are spelt.
func readNumbers(raw []byte) (object map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&object)
	return object, err
}
