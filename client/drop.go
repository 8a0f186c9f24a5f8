package client

import (
	"context"
	"errors"
	"net/http"
	"strings"

	apierrors "github.com/bowline-go/bowline/errors"
)

// Lists and watches that do not keep metadata.managedFields ask the server to leave it out (KEP-5958), which saves up to half of
// the bytes. A server that does not know the parameter ignores it, and the client cuts managedFields itself.

// drop is the parameter of a media type in Accept.
const drop = ";drop=metadata.managedFields"

// dropping returns the media types with the parameter.
func dropping(accept string) string {
	types := strings.Split(accept, ",")
	return strings.Join(types, drop+",") + drop
}

// sentDropping sends q, which accepts JSON in some form, and asks for objects without managedFields if keep is false. A server that
// refuses media types with unknown parameters is asked again without, and from then on only so.
func (r Resource[T]) sentDropping(ctx context.Context, q request, send func(context.Context, request) (*http.Response, error)) (*http.Response, error) {
	if q.keeps || r.note == nil || r.note.noDrop.Load() {
		return send(ctx, q)
	}
	plain := q.accept
	q.accept = dropping(plain)
	resp, err := send(ctx, q)
	if !errors.Is(err, apierrors.NotAcceptable) {
		return resp, err
	}
	q.accept = plain
	if resp, err = send(ctx, q); err == nil {
		r.note.noDrop.Store(true)
	}
	return resp, err
}
