package protostream

import (
	"bytes"
	"encoding/binary"
	"io"
	"iter"

	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/protobuf"
)

// frameHead is the number of bytes before an event, which hold its length.
const frameHead = 4

// eventRoom is how much larger than its object an event may be.
const eventRoom = 1 << 10

// Watch frames the body of a watch.
type Watch struct {
	in        input
	objects   objects
	maxObject int
}

// NewWatch returns a Watch.
func NewWatch(o jsonstream.Options) *Watch {
	return &Watch{
		in:        input{size: jsonstream.WatchBuffer, rest: make([]byte, jsonstream.RestBuffer), lent: o.Buffers},
		maxObject: maxObject(o),
		objects:   objects{keepManaged: o.KeepManagedFields, findSyncEnd: true},
	}
}

// Buffered returns how many bytes have arrived after the last event.
func (w *Watch) Buffered() int { return w.in.buffered() }

// Steps iterates over the watch, as [jsonstream.Watch.Steps] does.
func (w *Watch) Steps() iter.Seq[*jsonstream.Step] {
	return func(yield func(*jsonstream.Step) bool) {
		step := w.in.stepper(yield)
		for first := true; ; first = false {
			frame, err := w.next(first)
			if err == io.EOF {
				return
			}
			if err != nil {
				fail(step, err, yield)
				return
			}
			step.Kind, step.Frame = jsonstream.Framed, frame
			if !yield(step) {
				return
			}
		}
	}
}

// next reads an event. It returns io.EOF if the body ends before it.
func (w *Watch) next(first bool) (jsonstream.Frame, error) {
	in := &w.in
	f := jsonstream.Frame{Item: jsonstream.Item{Protobuf: true}}
	if !in.need(frameHead) {
		if in.buffered() == 0 && in.err == io.EOF {
			return f, io.EOF
		}
		return f, in.cut()
	}
	head := in.buf[in.pos : in.pos+frameHead]
	if first && (head[0] == '{' || head[0] == '<' || string(head) == protobuf.Magic) {
		return f, in.foreign("the body is not a watch in protobuf but begins with")
	}
	at := in.at()
	size := uint64(binary.BigEndian.Uint32(in.take(frameHead)))
	if size > uint64(w.maxObject)+eventRoom {
		return f, w.tooLarge(&f, size)
	}
	if !in.need(int(size)) {
		return f, in.cut()
	}
	if err := w.event(&f, in.take(int(size)), true); err != nil {
		return f, jsonstream.NotProtobuf(at, "in an event: "+err.Error())
	}
	if len(f.Raw) > w.maxObject {
		f.Limit = &jsonstream.LimitError{Limit: "MaxObject", Max: w.maxObject, Key: f.Key(), Offset: at}
		f.Raw = nil
	}
	return f, nil
}

// tooLarge skips an event, and sets the parts of f that its first bytes contain.
func (w *Watch) tooLarge(f *jsonstream.Frame, size uint64) error {
	in := &w.in
	at := in.at()
	n := int(min(size, headSize))
	if !in.need(n) {
		return in.cut()
	}
	_ = w.event(f, in.buf[in.pos:in.pos+n], false)
	f.Limit = &jsonstream.LimitError{Limit: "MaxObject", Max: w.maxObject, Key: f.Key(), Offset: at}
	return in.skip(size)
}

// event reads a message of meta/v1.WatchEvent. whole is false if only its start is there.
func (w *Watch) event(f *jsonstream.Frame, b []byte, whole bool) error {
	var object []byte
	err := eachField(b, whole, func(number int, content []byte) {
		switch number {
		case 1:
			f.Type = eventType(content)
		case 2:
			object = content
		}
	})
	if err != nil {
		return err
	}
	var envelope []byte
	if err := eachField(object, whole, func(number int, content []byte) { // of a RawExtension
		if number == 1 {
			envelope = content
		}
	}); err != nil {
		return err
	}
	if !whole {
		w.head(f, envelope)
		return nil
	}
	e, err := protobuf.Open(envelope)
	if err != nil {
		return err
	}
	f.APIVersion, f.Kind = e.APIVersion, e.Kind
	if err := w.objects.read(&f.Item, e.Raw, true); err != nil {
		return err
	}
	f.InitialEventsEnd = f.InitialEventsEnd && f.Type == "BOOKMARK"
	return nil
}

// head reads the start of an envelope, as far as it is valid.
func (w *Watch) head(f *jsonstream.Frame, envelope []byte) {
	content, ok := bytes.CutPrefix(envelope, []byte(protobuf.Magic))
	if !ok {
		return
	}
	var raw []byte
	_ = eachField(content, false, func(number int, content []byte) {
		switch number {
		case 1:
			f.APIVersion, f.Kind, _ = protobuf.ReadTypeMeta(content)
		case 2:
			raw = content
		}
	})
	_ = w.objects.read(&f.Item, raw, false)
}

// eachField calls fn with the fields of wire type Bytes of a message. If whole is false, the last one may be cut.
func eachField(b []byte, whole bool, fn func(number int, content []byte)) error {
	for len(b) > 0 {
		number, typ, value, err := protobuf.ReadTag(b)
		if err != nil {
			return err
		}
		if typ != protobuf.Bytes {
			if b, err = protobuf.Skip(value, typ); err != nil {
				return err
			}
			continue
		}
		content, rest, err := protobuf.ReadBytes(value) // a field that is cut has no rest
		if err != nil && !whole {
			_, content, err = protobuf.ReadVarint(value)
		}
		if err != nil {
			return err
		}
		fn(number, content)
		b = rest
	}
	return nil
}

// eventType returns the type of an event. The usual types cost no allocation.
func eventType(b []byte) string {
	for _, known := range []string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK"} {
		if string(b) == known {
			return known
		}
	}
	return string(b)
}
