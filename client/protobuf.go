package client

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"reflect"
	"sync"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/content"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/pipeline"
)

// Lists and watches can come as protobuf. The code for protobuf is behind an interface, so that a program that does not
// set Config.Protobuf links none of it.

// Protobuf is the value of [Config].Protobuf. Package client/protobuf makes one; its methods are for the client.
type Protobuf = content.Form

// binary is the part of a note about protobuf.
type binary struct {
	once    sync.Once
	decoder content.Decoder // nil if why is set
	why     error           // why the objects are decoded from JSON
	served  handle.Feature  // whether the server accepts requests for protobuf
	used    handle.Encoding // whether the latest list or watch came as protobuf
}

var (
	errJSONType = errors.New("Type.JSON is set")
	errFallback = errors.New("Type.Fallback is set")
	errOwnKind  = errors.New("the subresource has a kind of its own")
	errRefused  = errors.New("the server has no protobuf of the resource")
	errAnswered = errors.New("the server has answered in JSON")
)

// binary returns the client's note about protobuf for the resource; nil if Config.Protobuf is not set.
func (r *resource) binary() *binary {
	if r.c == nil || r.c.protobuf == nil || r.note == nil {
		return nil
	}
	if r.partial {
		return &r.note.metadata
	}
	return &r.note.objects
}

// decoder returns the decoder for lists and watches, or nil and the reason why they come as JSON. It finds out once for
// each Go type and resource whether the type can be decoded from protobuf.
func (r resource) decoder() (content.Decoder, error) {
	b := r.binary()
	switch {
	case b == nil:
		return nil, nil
	case r.t.JSON:
		return nil, errJSONType
	case r.t.Fallback != nil:
		return nil, errFallback
	case r.own:
		return nil, errOwnKind
	}
	if has, known := b.served.Known(); known && !has {
		return nil, errRefused
	}
	b.once.Do(func() {
		kind := r.gvk()
		if r.partial {
			kind = meta.GVK{Group: "meta.k8s.io", Version: "v1", Kind: partialKind}
		}
		b.decoder, b.why = r.c.protobuf.Decoder(kind, r.goType(), r.only)
	})
	return b.decoder, b.why
}

// decodeBinary decodes an object that came as protobuf, which decoder has allowed.
func (r *resource) decodeBinary(item jsonstream.Item, o codec.Options) (any, error) {
	decoded := reflect.New(r.goType())
	err := r.binary().decoder.Decode(decoded.Interface(), item, o)
	return decoded.Elem().Interface(), err
}

// sendForBody sends the request for a list or a watch. It asks for protobuf if the objects can be decoded from
// protobuf, and for JSON as the second choice. A server picks JSON if it has no protobuf of the resource, as for custom
// resources.
func (r resource) sendForBody(ctx context.Context, q request) (*http.Response, error) {
	decoder, why := r.decoder()
	return r.sendDropping(ctx, q, decoder != nil, func(ctx context.Context, q request, binary bool) (*http.Response, error) {
		switch {
		case binary:
			why = errAnswered
		case decoder != nil:
			why = errRefused
		}
		return r.sent(ctx, q, why)
	})
}

// sent sends q, and notes the form of the answer. why is the reason to note if the answer is JSON.
func (r resource) sent(ctx context.Context, q request, why error) (*http.Response, error) {
	resp, err := r.send(ctx, q)
	if b := r.binary(); b != nil && err == nil {
		if isBinary(q.form, resp.Header) {
			why = nil
		}
		b.used.Set(why)
	}
	return resp, err
}

// isBinary reports whether an answer is in form, which is nil if only JSON was asked for.
func isBinary(form content.Form, h http.Header) bool {
	if form == nil {
		return false
	}
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return media == form.MediaType()
}

// watchFrames returns the framing of a watch.
func watchFrames(form content.Form, resp *http.Response, o jsonstream.Options) pipeline.Stream {
	if isBinary(form, resp.Header) {
		return form.Watch(o)
	}
	return jsonstream.NewWatch(nil, o)
}

// listFrames keeps the framing of a list from one page to the next.
type listFrames struct {
	plain  *jsonstream.List
	binary content.List
}

// of returns the framing of a page.
func (f *listFrames) of(form content.Form, resp *http.Response, o jsonstream.Options) pipeline.Frames {
	switch {
	case isBinary(form, resp.Header):
		if f.binary == nil {
			f.binary = form.List(o)
		} else {
			f.binary.Reset()
		}
		return f.binary
	case f.plain == nil:
		f.plain = jsonstream.NewList(nil, o)
	default:
		f.plain.Reset(nil)
	}
	return f.plain
}

// errorBody returns the body of an answer that is an error, as JSON.
func errorBody(form content.Form, resp *http.Response, body []byte) []byte {
	if !isBinary(form, resp.Header) {
		return body
	}
	if status, err := form.Status(body); err == nil {
		return status
	}
	return nil // apierrors then has only the code
}
