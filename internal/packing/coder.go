package packing

import (
	"bytes"
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/bowline-go/bowline/internal/packed"
)

// The form of a packed text: a byte with the mark, and packedBit if the rest is packed; then the text, or its zstd
// frame without the four bytes with which each frame begins.
const (
	packedBit = 1 << 6
	magic     = "\x28\xb5\x2f\xfd"
)

// smallest is the length below which a text is kept as it is.
const smallest = 64

// coder packs and unpacks with one dictionary, or without one.
type coder struct {
	way      packed.Way
	encoders sync.Pool // of *zstd.Encoder; one takes 700 KB, and the garbage collector frees unused ones
	decoder  *zstd.Decoder
	buffers  sync.Pool // of *[]byte
}

// newCoder returns a coder with a dictionary; nil means none. The dictionary is valid: see learnt.
func newCoder(dictionary []byte) *coder {
	encoder := []zstd.EOption{
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true),
	}
	decoder := []zstd.DOption{zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true)}
	if dictionary != nil {
		encoder = append(encoder, zstd.WithEncoderDict(dictionary))
		decoder = append(decoder, zstd.WithDecoderDicts(dictionary))
	}
	c := new(coder)
	c.encoders.New = func() any {
		e, _ := zstd.NewWriter(nil, encoder...)
		return e
	}
	c.decoder, _ = zstd.NewReader(nil, decoder...)
	c.buffers.New = func() any { return new([]byte) }
	c.way.Unpack = c.unpack
	return c
}

// pack packs a text. A text that does not become smaller, or that unpacking would not restore, is kept as it is.
func (c *coder) pack(text []byte, mark byte) packed.Text {
	buffer := c.buffers.Get().(*[]byte)
	defer c.put(buffer)
	out := append((*buffer)[:0], mark|packedBit)
	if len(text) >= smallest {
		e := c.encoder()
		frame := e.EncodeAll(text, out[1:])
		c.encoders.Put(e)
		*buffer = frame
		if t := packed.New(&c.way, string(append(out, frame[len(magic):]...))); len(frame) < len(text) && c.restores(t, text) {
			return t
		}
	}
	out = append(append((*buffer)[:0], mark), text...)
	*buffer = out
	return packed.New(&c.way, string(out))
}

// encoder returns an encoder, which the caller puts back.
func (c *coder) encoder() *zstd.Encoder { return c.encoders.Get().(*zstd.Encoder) }

// restores reports whether t is text. It guards the cache against a fault of the compressor.
func (c *coder) restores(t packed.Text, text []byte) bool {
	buffer := c.buffers.Get().(*[]byte)
	defer c.put(buffer)
	got, _, err := t.Unpack((*buffer)[:0])
	if err != nil {
		return false
	}
	*buffer = got
	return bytes.Equal(got, text)
}

var errEmpty = errors.New("unpack an object: it has no bytes")

func (c *coder) unpack(into []byte, from string) (text []byte, mark byte, err error) {
	if from == "" {
		return into, 0, errEmpty
	}
	mark = from[0] & (packed.Marks - 1)
	if from[0]&packedBit == 0 {
		return append(into, from[1:]...), mark, nil
	}
	buffer := c.buffers.Get().(*[]byte)
	defer c.put(buffer)
	frame := append(append((*buffer)[:0], magic...), from[1:]...)
	*buffer = frame
	text, err = c.decoder.DecodeAll(frame, into)
	return text, mark, err
}

// put gives a buffer back, unless it is larger than most objects need.
func (c *coder) put(b *[]byte) {
	const most = 64 << 10
	if cap(*b) <= most {
		c.buffers.Put(b)
	}
}
