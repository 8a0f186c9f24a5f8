package client

import (
	"errors"
	"sync"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/packed"
)

// A handle with a packer gives the packed text of each object along with the object. The text is the server's, so the
// object can be decoded again even if its Go type cannot be encoded.

// carried holds the packed text of an object. The alias is unexported, so that users do not see its method.
type carried = packed.Carried

// The marks of packed texts.
const (
	markProtobuf = 1 << iota // the text is protobuf
	markKind                 // the text has the kind of the object
)

// carry returns the packed text of an object that has been decoded, if the handle has a packer.
func (r *resource) carry(item jsonstream.Item) carried {
	if r.packer == nil {
		return carried{}
	}
	var mark byte
	if item.Protobuf {
		mark |= markProtobuf
	}
	if item.Kind != "" {
		mark |= markKind
	}
	return packed.Carry(r.packer.Pack(item.Raw, mark))
}

// unpacking returns the function that decodes the texts of the handle. The objects share no parts.
func (r resource) unpacking() func(packed.Text) (meta.Object, error) {
	r.parts = nil
	buffers := &sync.Pool{New: func() any { return new([]byte) }}
	return func(t packed.Text) (meta.Object, error) {
		buffer := buffers.Get().(*[]byte)
		defer buffers.Put(buffer)
		return r.unpack(t, buffer)
	}
}

// unpack decodes a packed text. The buffer is for the text itself, which the object does not refer to.
func (r *resource) unpack(t packed.Text, buffer *[]byte) (obj meta.Object, err error) {
	raw, mark, err := t.Unpack((*buffer)[:0])
	if err != nil {
		return obj, err
	}
	item := jsonstream.Item{Raw: raw, Protobuf: mark&markProtobuf != 0}
	if mark&markKind != 0 {
		item.APIVersion, item.Kind = r.wireKind()
	}
	decodeInto(&obj, &err, item, r.decodeUnchecked)
	const most = 64 << 10
	if cap(raw) <= most {
		*buffer = raw
	}
	if wrong, ok := errors.AsType[*DecodeError](err); ok {
		err = wrong.Err // the caller names the object
	}
	return obj, err
}
