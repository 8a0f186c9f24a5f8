package informer

import (
	"encoding/json"
	"reflect"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/packed"
	"github.com/bowline-go/bowline/internal/store"
)

// Compact makes an informer keep the objects of its cache compressed (Options.Compact). Package informer/compact has an
// implementation. Only the informer calls the method.
type Compact interface {
	// NewPacker returns the packer that compresses the objects of one informer.
	NewPacker() packed.Packer
}

// cached returns the store of an informer of src, and the source that fills it.
func cached[T meta.Object](src Source[T], o Options, report func(error)) (Source[T], *store.Store[T]) {
	src = sharingParts(src)
	if o.Compact == nil {
		return src, store.New[T]()
	}
	packer := o.Compact.NewPacker()
	in := handle.Of(src)
	p := store.Packing[T]{
		// Pack packs objects whose source has no texts for them.
		Pack: func(obj T) packed.Text {
			raw, err := json.Marshal(obj)
			if err != nil {
				return packed.Text{}
			}
			return packer.Pack(raw, 0)
		},
		Unpack: func(text packed.Text) (obj T, err error) {
			raw, _, err := text.Unpack(nil)
			if err != nil {
				return obj, err
			}
			return codec.Unmarshal[T](raw)
		},
		Clone:  meta.Clone[T],
		Report: func(id meta.Identity, err error) { report(&client.DecodeError{Identity: id, Err: err}) },
	}
	if in.Unpacking != nil {
		if unpack, ok := in.Unpacking().(func(packed.Text) (T, error)); ok {
			p.Unpack = unpack
		}
	}
	if clone, ok := in.Clone.(func(T) T); ok {
		p.Clone = clone
	}
	return packingSource(src, packer), store.NewPacked(p)
}

// packingSource returns a source whose objects carry their texts, which by has packed. It returns src itself if other
// code between the server and the cache may change the objects.
func packingSource[T meta.Object](src Source[T], by packed.Packer) Source[T] {
	pack := handle.Of(src).Packing
	if pack == nil {
		return src
	}
	packing := pack(by)
	if reflect.TypeOf(packing) != reflect.TypeOf(src) {
		return src
	}
	return packing.(Source[T])
}
