package protostream

import (
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/protobuf"
)

// The numbers of the fields of a list, and of its metadata.
const (
	listMeta  = 1
	listItems = 2

	listVersion   = 2
	listContinue  = 3
	listRemaining = 4
	listShardInfo = 5

	shardSelector = 1 // of the shardInfo
)

const (
	// maxTypeMeta bounds the kind and the apiVersion, maxListMeta the metadata of a list.
	maxTypeMeta, maxListMeta = 64 << 10, 1 << 20
	// headSize is how much of an object that is too large is examined.
	headSize = 64 << 10
)

// List frames the body of a list.
type List struct {
	in        input
	objects   objects
	maxObject int
	header    jsonstream.Header
	read      bool // the message of the list has been read; a body that ends before that is cut
	headed    bool // the header has been yielded
	known     bool // the metadata has been read
}

// NewList returns a List.
func NewList(o jsonstream.Options) *List {
	return &List{in: input{size: 64 << 10}, objects: objects{keepManaged: o.KeepManagedFields}, maxObject: maxObject(o)}
}

// maxObject returns the bound in force. It is at most an eighth of the largest int, so that buffer sizes cannot
// overflow.
func maxObject(o jsonstream.Options) int {
	const byDefault = 32 << 20
	if o.MaxObject <= 0 {
		return byDefault
	}
	return min(o.MaxObject, math.MaxInt/8)
}

// Reset makes l ready for another body, such as the next page.
func (l *List) Reset() {
	l.in = input{size: l.in.size, buf: l.in.buf}
	l.header, l.read, l.headed, l.known = jsonstream.Header{}, false, false, false
}

// Steps iterates over the list, as [jsonstream.List.Steps] does.
func (l *List) Steps() iter.Seq[*jsonstream.Step] {
	return func(yield func(*jsonstream.Step) bool) {
		step := l.in.stepper(yield)
		fail(step, l.envelope(step, yield), yield)
	}
}

// head yields the header, once.
func (l *List) head(step *jsonstream.Step, yield func(*jsonstream.Step) bool) error {
	if l.headed {
		return nil
	}
	l.headed = true
	step.Kind, step.Header = jsonstream.Headed, l.header
	if !yield(step) {
		return errLeft
	}
	return nil
}

// envelope reads the whole body.
func (l *List) envelope(step *jsonstream.Step, yield func(*jsonstream.Step) bool) error {
	in := &l.in
	if err := in.magic("a list"); err != nil {
		return err
	}
	for {
		tag, err := in.varint(true)
		switch {
		case err == io.EOF && l.read:
			return l.head(step, yield)
		case err == io.EOF:
			return in.cut()
		case err != nil:
			return err
		case tag>>3 == 0 || tag>>3 > math.MaxInt32>>2:
			return in.wrong(protobuf.ErrNumber.Error())
		case protobuf.WireType(tag&7) != protobuf.Bytes:
			return in.wrong("the envelope has " + protobuf.ErrType.Error())
		}
		size, err := in.varint(false)
		if err != nil {
			return err
		}
		switch tag >> 3 {
		case 1:
			err = l.typeMeta(size)
		case 2:
			err = l.list(size, step, yield)
			l.read = true
		case 3, 4:
			err = l.content(tag>>3, size)
		default:
			err = in.skip(size)
		}
		if err != nil {
			return err
		}
	}
}

// part returns the next size bytes of the body, for a part that must be in memory as a whole.
func (l *List) part(size uint64, most int, what string) ([]byte, error) {
	in := &l.in
	if size > uint64(most) {
		return nil, in.wrong(fmt.Sprintf("%s of %d bytes, more than %d", what, size, most))
	}
	if !in.need(int(size)) {
		return nil, in.cut()
	}
	return in.take(int(size)), nil
}

func (l *List) typeMeta(size uint64) error {
	b, err := l.part(size, maxTypeMeta, "a kind and an apiVersion")
	if err != nil {
		return err
	}
	if l.header.APIVersion, l.header.Kind, err = protobuf.ReadTypeMeta(b); err != nil {
		return l.in.wrong(err.Error())
	}
	if l.header.Kind == "Status" {
		return jsonstream.NewBodyError("the body is a Status and not a list", nil)
	}
	return nil
}

// content reads the encoding or the type of the content. Only the usual value is accepted.
func (l *List) content(number, size uint64) error {
	b, err := l.part(size, maxTypeMeta, "a type of the content")
	if err == nil && len(b) > 0 && (number == 3 || string(b) != protobuf.MediaType) {
		err = l.in.wrong("the content of the envelope is encoded or of another type than protobuf")
	}
	return err
}

// list reads the message of the list.
func (l *List) list(size uint64, step *jsonstream.Step, yield func(*jsonstream.Step) bool) error {
	in := &l.in
	if size > math.MaxInt64/2 {
		return in.wrong("a list of an impossible length")
	}
	end := in.at() + int64(size)
	for in.at() < end {
		tag, err := in.varint(false)
		if err != nil {
			return err
		}
		number, typ := tag>>3, protobuf.WireType(tag&7)
		if number == 0 || number > math.MaxInt32>>2 {
			return in.wrong(protobuf.ErrNumber.Error())
		}
		if typ != protobuf.Bytes {
			if err := l.scalar(number, typ); err != nil {
				return err
			}
			continue
		}
		n, err := in.varint(false)
		switch {
		case err != nil:
			return err
		case in.at() > end || n > uint64(end-in.at()):
			return in.wrong("a part that is longer than the list")
		case number == listMeta:
			err = l.metadata(n)
		case number == listItems:
			if l.known && l.header.Kind != "" && l.header.APIVersion != "" {
				if err := l.head(step, yield); err != nil {
					return err
				}
			}
			err = l.item(n, step, yield)
		default:
			err = in.skip(n)
		}
		if err != nil {
			return err
		}
	}
	if in.at() > end {
		return in.wrong("a part that is longer than the list")
	}
	return nil
}

// scalar skips an unknown field whose wire type is not Bytes. The known fields of a list have the wire type Bytes.
func (l *List) scalar(number uint64, typ protobuf.WireType) error {
	switch {
	case number == listMeta || number == listItems:
		return l.in.wrong(protobuf.ErrType.Error())
	case typ == protobuf.Varint:
		_, err := l.in.varint(false)
		return err
	case typ == protobuf.Fixed64:
		return l.in.skip(8)
	case typ == protobuf.Fixed32:
		return l.in.skip(4)
	}
	return l.in.wrong(protobuf.ErrGroup.Error())
}

// metadata reads the ListMeta.
func (l *List) metadata(size uint64) error {
	b, err := l.part(size, maxListMeta, "metadata of a list")
	if err != nil {
		return err
	}
	for len(b) > 0 {
		number, typ, value, err := protobuf.ReadTag(b)
		if err != nil {
			return l.in.wrong(err.Error())
		}
		if b, err = protobuf.Skip(value, typ); err != nil {
			return l.in.wrong(err.Error())
		}
		switch {
		case number == listRemaining && typ == protobuf.Varint:
			n, _, _ := protobuf.ReadVarint(value)
			count := int64(n)
			l.header.RemainingItemCount = &count
		case number == listVersion && typ == protobuf.Bytes:
			text, _, _ := protobuf.ReadBytes(value)
			l.header.ResourceVersion = string(text)
		case number == listContinue && typ == protobuf.Bytes:
			text, _, _ := protobuf.ReadBytes(value)
			l.header.Continue = string(text)
		case number == listShardInfo && typ == protobuf.Bytes:
			info, _, _ := protobuf.ReadBytes(value)
			if err := l.shardInfo(info); err != nil {
				return err
			}
		case listVersion <= number && number <= listShardInfo:
			return l.in.wrong(protobuf.ErrType.Error())
		}
	}
	l.known = true
	return nil
}

// shardInfo reads the ShardInfo. A second one adds to the first, as messages do.
func (l *List) shardInfo(b []byte) error {
	for len(b) > 0 {
		number, typ, value, err := protobuf.ReadTag(b)
		if err != nil {
			return l.in.wrong(err.Error())
		}
		if b, err = protobuf.Skip(value, typ); err != nil {
			return l.in.wrong(err.Error())
		}
		if number != shardSelector {
			continue
		}
		if typ != protobuf.Bytes {
			return l.in.wrong(protobuf.ErrType.Error())
		}
		text, _, _ := protobuf.ReadBytes(value)
		l.header.ShardInfo.Selector = string(text)
	}
	return nil
}

// item yields an item of the given size.
func (l *List) item(size uint64, step *jsonstream.Step, yield func(*jsonstream.Step) bool) error {
	in := &l.in
	item := jsonstream.Item{Protobuf: true}
	if size > uint64(l.maxObject) {
		if err := tooLarge(in, &l.objects, &item, size, l.maxObject); err != nil {
			return err
		}
	} else {
		if !in.need(int(size)) {
			return in.cut()
		}
		at := in.at()
		if err := l.objects.read(&item, in.take(int(size)), true); err != nil {
			return jsonstream.NotProtobuf(at, "in an object: "+err.Error())
		}
	}
	step.Kind, step.Frame = jsonstream.Framed, jsonstream.Frame{Item: item}
	if !yield(step) {
		return errLeft
	}
	return nil
}

// tooLarge skips an object of size bytes, and sets the parts of item that its first bytes contain.
func tooLarge(in *input, o *objects, item *jsonstream.Item, size uint64, most int) error {
	at := in.at()
	n := int(min(size, headSize))
	if !in.need(n) {
		return in.cut()
	}
	_ = o.read(item, in.buf[in.pos:in.pos+n], false)
	item.Limit = &jsonstream.LimitError{Limit: "MaxObject", Max: most, Key: item.Identity.Key(), Offset: at}
	return in.skip(size)
}
