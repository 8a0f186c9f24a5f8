package protostream

import (
	"encoding/binary"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/protobuf"
)

// The numbers of fields that all objects have in common.
const (
	objectMeta = 1 // of an object

	metaName            = 1
	metaNamespace       = 3
	metaUID             = 5
	metaResourceVersion = 6
	metaAnnotations     = 12
	metaManagedFields   = 17
)

// objects reads the identities of objects.
type objects struct {
	keepManaged bool
	findSyncEnd bool
	namespace   string // of the last object; the next one usually has the same
}

// parts are the parts of an identity, in the message of an object.
type parts struct{ name, namespace, uid, version []byte }

// read sets the identity of an item from its message, and its Raw, which is the message without managedFields: read
// moves the bytes before them. whole is false if only the start of the message is there; then Raw stays empty, and
// read uses the fields that it finds.
func (o *objects) read(item *jsonstream.Item, b []byte, whole bool) error {
	var p parts
	var c cut
	err := o.fields(item, &p, &c, b, whole)
	if string(p.namespace) != o.namespace {
		o.namespace = string(p.namespace)
	}
	item.Identity = p.identity(o.namespace)
	if !whole || err != nil {
		return err
	}
	item.Raw = c.from(b)
	return nil
}

// fields reads the metadata among the fields of an object.
func (o *objects) fields(item *jsonstream.Item, p *parts, c *cut, b []byte, whole bool) error {
	for rest := b; len(rest) > 0; {
		number, typ, value, err := protobuf.ReadTag(rest)
		if err != nil {
			return err
		}
		start := len(b) - len(rest)
		if number != objectMeta {
			if rest, err = protobuf.Skip(value, typ); err != nil {
				return err
			}
			continue
		}
		if typ != protobuf.Bytes {
			return protobuf.ErrType
		}
		content, after, err := protobuf.ReadBytes(value)
		if err != nil && !whole {
			_, content, err = protobuf.ReadVarint(value) // the part that has arrived
			after = nil
		}
		if err != nil {
			return err
		}
		managed, err := o.metadata(item, p, content)
		if err != nil {
			return err
		}
		if managed {
			*c = cut{start: start, end: len(b) - len(after), size: len(content)}
		}
		rest = after
	}
	return nil
}

// identity cuts the name, the uid and the version from one string, so that they cost one allocation.
func (p *parts) identity(namespace string) meta.Identity {
	var b strings.Builder
	b.Grow(len(p.name) + len(p.uid) + len(p.version))
	b.Write(p.name)
	b.Write(p.uid)
	b.Write(p.version)
	all, at := b.String(), len(p.name)
	return meta.Identity{
		Namespace: namespace, Name: all[:at], UID: all[at : at+len(p.uid)], ResourceVersion: all[at+len(p.uid):],
	}
}

// metadata reads an ObjectMeta, and reports whether it has managedFields to be cut.
func (o *objects) metadata(item *jsonstream.Item, p *parts, b []byte) (managed bool, err error) {
	for len(b) > 0 {
		number, typ, value, err := protobuf.ReadTag(b)
		if err != nil {
			return managed, err
		}
		after, err := protobuf.Skip(value, typ)
		if err != nil {
			return managed, err
		}
		switch number {
		case metaName, metaNamespace, metaUID, metaResourceVersion, metaManagedFields, metaAnnotations:
			if typ != protobuf.Bytes {
				return managed, protobuf.ErrType
			}
			content, _, _ := protobuf.ReadBytes(value) // no error: it has been skipped before
			switch number {
			case metaName:
				p.name = protobuf.Text(content)
			case metaNamespace:
				p.namespace = protobuf.Text(content)
			case metaUID:
				p.uid = protobuf.Text(content)
			case metaResourceVersion:
				p.version = protobuf.Text(content)
			case metaManagedFields:
				managed = !o.keepManaged
			case metaAnnotations:
				if o.findSyncEnd && isEntry(content, jsonstream.SyncEnd, "true") {
					item.InitialEventsEnd = true
				}
			}
		}
		b = after
	}
	return managed, nil
}

// isEntry reports whether an entry of a map has the key and the value.
func isEntry(b []byte, key, value string) bool {
	hasKey, hasValue := false, false
	for len(b) > 0 {
		number, typ, rest, err := protobuf.ReadTag(b)
		if err != nil || typ != protobuf.Bytes {
			return false
		}
		var text []byte
		if text, b, err = protobuf.ReadBytes(rest); err != nil {
			return false
		}
		hasKey = hasKey || number == 1 && string(text) == key
		hasValue = hasValue || number == 2 && string(text) == value
	}
	return hasKey && hasValue
}

// cut is the place of an object's metadata whose managedFields must be cut.
type cut struct {
	start, end int // of the field
	size       int // of its content, before end; 0 if there is nothing to cut
}

// from returns an object without its managedFields. It moves the bytes before them.
func (c cut) from(object []byte) []byte {
	if c.size == 0 {
		return object
	}
	content := object[c.end-c.size : c.end]
	kept := content[:0]
	for rest := content; len(rest) > 0; {
		number, typ, value, _ := protobuf.ReadTag(rest) // it has been read before
		after, _ := protobuf.Skip(value, typ)
		if number != metaManagedFields {
			kept = append(kept, rest[:len(rest)-len(after)]...)
		}
		rest = after
	}
	// The rest of the metadata moves to the end of its old place. Its new tag and length go before it, and before those
	// the fields that came before the metadata.
	at := c.end - len(kept)
	copy(object[at:c.end], kept)
	var head [1 + binary.MaxVarintLen64]byte
	tag := binary.AppendUvarint(append(head[:0], objectMeta<<3|byte(protobuf.Bytes)), uint64(len(kept)))
	at -= len(tag)
	copy(object[at:], tag)
	at -= c.start
	copy(object[at:], object[:c.start])
	return object[at:]
}
