// Package content describes a form in which objects are encoded, besides JSON. The program gives the form to the
// client, so a program without a form links none of its code.
package content

import (
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/pipeline"
)

// Form is a form in which a server encodes objects, such as protobuf.
type Form interface {
	// MediaType is the type of a body in the form.
	MediaType() string
	// Decoder returns the Decoder of objects of a kind, in the form, into a Go type. If only is set, it decodes the
	// members of that projection and no others. The error says why the type has to be decoded from JSON.
	Decoder(kind meta.GVK, t reflect.Type, only *codec.Projection) (Decoder, error)
	// List frames the body of a list, and Watch that of a watch.
	List(o jsonstream.Options) List
	Watch(o jsonstream.Options) pipeline.Stream
	// Status returns the JSON of a Status. body is a whole body in the form, which has only that Status.
	Status(body []byte) ([]byte, error)
	// StatusOf returns the JSON of a Status that is the object of an event.
	StatusOf(object []byte) ([]byte, error)
}

// List frames the body of a list.
type List interface {
	pipeline.Frames
	// Reset makes the List ready for another body.
	Reset()
}

// Decoder decodes objects of one kind into one Go type. It is safe for use by several goroutines.
type Decoder interface {
	// Decode decodes an item into a new value, and stores it in to, which is a pointer to the type. See codec.Decode.
	Decode(to any, item jsonstream.Item, o codec.Options) error
}
