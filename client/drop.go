package client

import (
	"context"
	"errors"
	"net/http"
	"strings"

	apierrors "github.com/bowline-go/bowline/errors"
)

// Lists and watches that do not keep metadata.managedFields ask the server to leave it out (KEP-5958), which saves up
// to half of the bytes. A server that does not know the parameter ignores it, and the client cuts managedFields itself.

// drop is the parameter of a media type in Accept.
const drop = ";drop=metadata.managedFields"

// dropping returns the media types with the parameter.
func dropping(accept string) string {
	types := strings.Split(accept, ",")
	return strings.Join(types, drop+",") + drop
}

// sendDropping sends q, which accepts JSON in some form. It asks for protobuf as the first choice if binary is set, and
// for objects without managedFields if q does not keep them. If a server, or a proxy before it, refuses these types,
// the client asks again: first without the parameter, because protobuf saves more, then without protobuf, then without
// both. The client remembers for an hour what it had to leave out to get an answer.
func (r resource) sendDropping(
	ctx context.Context, q request, binary bool, send func(_ context.Context, _ request, binary bool) (*http.Response, error),
) (resp *http.Response, err error) {
	drops := !q.keeps && r.note != nil
	if drops {
		has, known := r.note.drops.Known()
		drops = has || !known
	}
	plain := q.accept
	for _, ask := range [...]struct{ drop, binary bool }{{true, true}, {false, true}, {true, false}, {false, false}} {
		if ask.drop && !drops || ask.binary && !binary {
			continue
		}
		q.accept, q.form = plain, nil
		if ask.binary {
			q.form = r.c.protobuf
			q.accept = q.form.MediaType() + plain[len(jsonType):] + ", " + plain
		}
		if ask.drop {
			q.accept = dropping(q.accept)
		}
		if resp, err = send(ctx, q, ask.binary); !refusesTypes(err) {
			if err == nil && drops && !ask.drop {
				r.note.drops.Set(false)
			}
			if err == nil && binary && !ask.binary {
				r.binary().served.Set(false)
			}
			break
		}
	}
	return resp, err
}

// refusesTypes reports whether a server has answered that it has none of the accepted types.
func refusesTypes(err error) bool {
	return errors.Is(err, apierrors.NotAcceptable) || errors.Is(err, apierrors.UnsupportedMediaType)
}
