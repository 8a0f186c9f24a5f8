// Package messages turns the bodies of requests and answers from protobuf into JSON, and back. It has all kinds of a
// real server that have a protobuf form.
package messages

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/bowline-go/bowline/client/protobuf/all"
	"github.com/bowline-go/bowline/internal/protobuf"
)

// MediaType is the type of a body that is protobuf.
const MediaType = protobuf.MediaType

// StreamType is the type of a watch's answer that is protobuf.
const StreamType = MediaType + ";stream=watch"

// schema has all kinds. The first use makes it.
var schema = sync.OnceValue(func() *protobuf.Schema {
	tables := []*protobuf.Table{oldMeta()}
	for _, t := range all.Tables() {
		tables = append(tables, t.Inside())
	}
	s, err := protobuf.NewSchema(tables...)
	if err != nil {
		panic(err) // the tables are part of the program
	}
	return s
})

// oldMeta returns the table of meta/v1beta1.
func oldMeta() *protobuf.Table {
	return &protobuf.Table{Name: "meta/v1beta1", Group: "meta.k8s.io", Version: "v1beta1", Text: `
PartialObjectMetadata!
1 metadata meta/v1.ObjectMeta
PartialObjectMetadataList!
1 items []PartialObjectMetadata
2 metadata meta/v1.ListMeta
`}
}

// Has reports whether a kind has a protobuf form.
func Has(apiVersion, kind string) bool { return of(apiVersion, kind) != nil }

// of returns the message of a kind. DeleteOptions are the same in all groups.
func of(apiVersion, kind string) *protobuf.Message {
	if kind == "DeleteOptions" {
		apiVersion = "meta.k8s.io/v1"
	}
	return schema().Of(protobuf.Envelope{APIVersion: apiVersion, Kind: kind})
}

// Errors of bodies, in the words of a real server.
var (
	errNoPrefix = errors.New("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
	errEmpty    = errors.New("empty body")
)

// ToJSON translates the body of a request. If the body names no kind, or a kind that no server has, it is read as the
// expected kind.
func ToJSON(body []byte, apiVersion, kind string) ([]byte, error) {
	e, err := protobuf.Open(body)
	switch {
	case errors.Is(err, protobuf.ErrMagic):
		return nil, errNoPrefix
	case err != nil:
		return nil, err
	case len(body) == len(protobuf.Magic):
		return nil, errEmpty
	}
	m := of(e.APIVersion, e.Kind)
	if m == nil {
		m = of(apiVersion, kind)
	}
	return e.AppendJSON(nil, m)
}

// FromJSON translates an object. It leaves out members that the kind does not have.
func FromJSON(object []byte) ([]byte, error) {
	return schema().AppendObject(make([]byte, 0, len(object)), object, ignore)
}

// List makes the envelope of a list item by item, without ever holding the JSON of the whole list.
type List struct {
	is      protobuf.Envelope
	message *protobuf.Message
}

// NewList returns a list without items. list is its JSON, also without items.
func NewList(list []byte, apiVersion, kind string) (*List, error) {
	l := &List{is: protobuf.Envelope{APIVersion: apiVersion, Kind: kind}, message: of(apiVersion, kind)}
	if l.message == nil {
		return nil, protobuf.ErrKind
	}
	var err error
	l.is.Raw, err = l.message.AppendProto(nil, list, ignore)
	return l, err
}

// Add adds an item from its JSON.
func (l *List) Add(item []byte) (err error) {
	l.is.Raw, err = l.message.AppendElement(l.is.Raw, "items", item, ignore)
	return err
}

// Envelope returns the whole list.
func (l *List) Envelope() []byte { return l.is.Append(make([]byte, 0, len(l.is.Raw)+128)) }

// ignore leaves out members that a kind does not have.
func ignore(string) error { return nil }

// IsUnknown reports whether an error means that a kind has no protobuf form.
func IsUnknown(err error) bool { return errors.Is(err, protobuf.ErrKind) }

// Event returns the frame of an event of a watch, whose object is JSON.
func Event(kind string, object []byte) ([]byte, error) {
	envelope, err := FromJSON(object)
	if err != nil {
		return nil, err
	}
	event := protobuf.AppendString(make([]byte, 4, len(envelope)+32), 1, kind)
	event = protobuf.AppendBytes(event, 2, protobuf.AppendBytes(nil, 1, envelope))
	binary.BigEndian.PutUint32(event, uint32(len(event)-4))
	return event, nil
}
