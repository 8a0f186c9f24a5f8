package jsonstream

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client/meta"
)

// Item is one object as it was on the wire.
type Item struct {
	// Identity is the object's, from its top-level metadata.
	meta.Identity
	// APIVersion and Kind are empty if the object does not name them, like the items of most lists.
	APIVersion, Kind string
	// InitialEventsEnd is set on the bookmark that ends the initial events of a streaming list (KEP-3157).
	InitialEventsEnd bool
	// Raw is the object's JSON, byte for byte except that managedFields are cut. It is valid until the next call.
	Raw []byte
	// Protobuf says that Raw is not JSON but the object's message; see package protostream.
	Protobuf bool
	// Limit is set if the object of a list or a watch exceeds a limit. The object has been skipped and Raw is empty;
	// the rest of the Item is set from the parts of the object that do not exceed a limit.
	Limit *LimitError
}

// ReadObject reads a body that is one object. Nothing but white space may follow. Raw belongs to the caller.
//
// It returns a [*BodyError] for a body that is not an object, [io.ErrUnexpectedEOF] (wrapped) for one that is cut or
// empty, and a [*SyntaxError] or a [*LimitError] as the package says.
func ReadObject(r io.Reader, o Options) (Item, error) {
	buf, _ := objectBuffers.Get().(*[]byte)
	if buf == nil {
		b := make([]byte, 8<<10)
		buf = &b
	}
	s := newScanner(r, o, len(*buf))
	s.buf = *buf
	s.buf[0] = 0
	if err := s.begin("an object"); err != nil {
		return Item{}, err
	}
	var item Item
	if err := s.object(&item); err != nil {
		return Item{}, err
	}
	if err := s.finish(true); err != nil {
		return Item{}, err
	}
	item.Raw = bytes.Clone(s.rawBytes())
	if len(s.buf) <= maxObjectBuffer {
		*buf = s.buf
		objectBuffers.Put(buf)
	}
	return item, nil
}

// objectBuffers is a pool of *[]byte: the buffers of earlier calls of ReadObject. ReadObject copies an object out of
// its buffer, so that another call can use the buffer. A new buffer would have to grow to the size of a large object,
// and all its sizes together take twice that memory.
var objectBuffers sync.Pool

// maxObjectBuffer is the size of the largest buffer that is kept: by default, etcd takes no object above 1.5 MiB.
const maxObjectBuffer = 4 << 20

// begin moves to the brace that opens the body. want says what the body should be.
func (s *scanner) begin(want string) error {
	c, err := s.skipSpace(false)
	if err != nil {
		return s.readError(err)
	}
	if c == '{' {
		return nil
	}
	for len(s.head) < excerptSize && s.err == nil {
		s.pos = s.end
		s.release()
		_ = s.fill() // the excerpt has what has arrived
	}
	return &BodyError{Excerpt: string(s.head), message: "the body is not " + want + " but begins with"}
}

// finish checks that the body ends here. If hold is true it keeps the bytes in hand.
func (s *scanner) finish(hold bool) error {
	c, err := s.skipSpace(hold)
	switch {
	case err == io.EOF:
		return nil
	case err != nil:
		return s.readError(err)
	}
	return s.unexpected(c, "the end of the body")
}

// object reads the object that opens at pos. On success its bytes are s.raw, and s.start is its start, so they stay in
// hand until the caller releases them.
func (s *scanner) object(item *Item) error {
	s.release()
	s.cuts = s.cuts[:0]
	s.parts = identitySpans{}
	err := s.members(item)
	s.cutIdentity(item)
	if err == nil && s.pos-s.start > s.maxObject {
		err = s.tooLarge()
	}
	if err != nil {
		return withKey(err, item.Key())
	}
	size := s.pos - s.start
	s.raw = span{s.compact(), size}
	s.exempt = size
	s.recentSize = max(size, s.recentSize-s.recentSize/8)
	if item.APIVersion != "" {
		s.apiVersion = item.APIVersion
	}
	if item.Kind != "" {
		s.kind = item.Kind
	}
	return nil
}

// rawBytes returns the object that was read last. The result is valid until the next read.
func (s *scanner) rawBytes() []byte {
	return s.buf[s.start+s.raw.from : s.start+s.raw.to : s.start+s.raw.to]
}

func (s *scanner) members(item *Item) error {
	c, err := s.open(1)
	for err == nil && c != '}' {
		var name []byte
		if name, c, err = s.name(c); err != nil {
			return err
		}
		switch string(name) {
		case "metadata":
			item.Identity, item.InitialEventsEnd, s.parts = meta.Identity{}, false, identitySpans{}
			if c == '{' {
				err = s.metadata(item)
			} else {
				err = s.skipValue(1)
			}
		case "apiVersion":
			item.APIVersion, err = s.text(c, 1, s.apiVersion)
		case "kind":
			item.Kind, err = s.text(c, 1, s.kind)
		default:
			err = s.skipValue(1)
		}
		if err == nil {
			c, err = s.next('}')
		}
	}
	return s.close(err)
}

func (s *scanner) metadata(item *Item) error {
	kept := false
	c, err := s.open(2)
	for err == nil && c != '}' {
		at, comma := s.pos-s.start, s.comma
		var name []byte
		if name, c, err = s.name(c); err != nil {
			return err
		}
		cut := false
		switch string(name) {
		case "name":
			item.Name, s.parts.name, err = s.identityText(c)
		case "namespace":
			item.Namespace, err = s.namespaceText(c)
		case "uid":
			item.UID, s.parts.uid, err = s.identityText(c)
		case "resourceVersion":
			item.ResourceVersion, s.parts.version, err = s.identityText(c)
		case "managedFields":
			cut = !s.keepManaged
			err = s.skipValue(2)
		case "annotations":
			item.InitialEventsEnd = false
			if s.findSyncEnd && c == '{' {
				err = s.annotations(item)
			} else {
				err = s.skipValue(2)
			}
		default:
			err = s.skipValue(2)
		}
		if err != nil {
			return err
		}
		to := s.pos - s.start
		if c, err = s.next('}'); err != nil {
			return err
		}
		if !cut {
			kept = true
			continue
		}
		// One comma is cut with the member: the one before it if a member that stays precedes it, and otherwise the one
		// after it.
		if kept {
			at = comma
		} else if c != '}' {
			to = s.comma + 1
		}
		s.cuts = append(s.cuts, span{at, to})
	}
	return s.close(err)
}

// identitySpans are the places of the name, uid and resource version in the object in hand, without their quotes. One
// that is absent, or has been read already because it is not plain, is empty.
type identitySpans struct{ name, uid, version span }

// identityText reads a part of the identity, which starts with c at pos, as text does. If the text is plain,
// identityText returns its place, for cutIdentity.
func (s *scanner) identityText(c byte) (string, span, error) {
	if c != '"' {
		return "", span{}, s.skipValue(2)
	}
	quoted, err := s.quoted()
	if err != nil {
		return "", span{}, err
	}
	if !isPlain(quoted) {
		return unquote(quoted, ""), span{}, nil
	}
	to := s.pos - s.start - 1
	return "", span{to - (len(quoted) - 2), to}, nil
}

// cutIdentity sets the parts of the identity that s.parts names. The three are cut from one string, which costs one
// allocation instead of three: so each of them keeps the memory of all three, about 80 bytes, and nothing else. The
// namespace, which outlives its objects, is not in it.
func (s *scanner) cutIdentity(item *Item) {
	name, uid, version := s.parts.name.of(s), s.parts.uid.of(s), s.parts.version.of(s)
	if len(name)+len(uid)+len(version) == 0 {
		return
	}
	var b strings.Builder
	b.Grow(len(name) + len(uid) + len(version))
	b.Write(name)
	b.Write(uid)
	b.Write(version)
	all := b.String()
	if len(name) > 0 {
		item.Name = all[:len(name)]
	}
	all = all[len(name):]
	if len(uid) > 0 {
		item.UID = all[:len(uid)]
	}
	if len(version) > 0 {
		item.ResourceVersion = all[len(uid):]
	}
}

// SyncEnd is the annotation of the bookmark that ends the initial events of a streaming list (KEP-3157).
const SyncEnd = "k8s.io/initial-events-end"

func (s *scanner) annotations(item *Item) error {
	c, err := s.open(3)
	for err == nil && c != '}' {
		var name []byte
		if name, c, err = s.name(c); err != nil {
			return err
		}
		if string(name) == SyncEnd {
			var value string
			value, err = s.text(c, 3, "true")
			item.InitialEventsEnd = value == "true"
		} else {
			err = s.skipValue(3)
		}
		if err == nil {
			c, err = s.next('}')
		}
	}
	return s.close(err)
}

// compact removes the cuts from the object in hand and returns its new start. It moves the bytes before a cut, not
// those after: the API server writes metadata first, and managedFields last in it, so the part before the cut is the
// short one.
func (s *scanner) compact() int {
	object := s.buf[s.start:s.pos]
	if len(s.cuts) == 0 {
		return 0
	}
	to := s.cuts[len(s.cuts)-1].to
	for i := len(s.cuts) - 1; i >= 0; i-- {
		from := 0
		if i > 0 {
			from = s.cuts[i-1].to
		}
		part := object[from:s.cuts[i].from]
		to -= len(part)
		copy(object[to:], part)
	}
	return to
}
