package protobuf

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/content"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/pipeline"
	"github.com/bowline-go/bowline/internal/protobuf"
	"github.com/bowline-go/bowline/internal/protostream"
)

// New returns the value for client.Config.Protobuf. The client asks for lists and watches as protobuf if the Go type
// of the objects is one of these:
//
//   - a struct, if one of the tables has the resource's kind and all members that the struct names; meta.Partial needs
//     no table;
//   - a type with a method Unmarshal([]byte) error, such as those of k8s.io/api, if no table has the kind.
//
// It asks for all other resources and Go types in JSON. Both forms give the same objects, except that protobuf omits a
// slice or a map that is empty but not null. A method Unmarshal may lose more: the protobuf of a StatefulSet does not
// have the kinds of its spec.volumeClaimTemplates.
//
// The tables must be those of packages below this one. New reads them, which takes a few milliseconds, and panics if
// one is the zero Table. A program should make one value and use it for all of its clients.
func New(tables ...Table) client.Protobuf {
	inside := make([]*protobuf.Table, len(tables))
	for i, t := range tables {
		if inside[i] = t.inside; t.inside == nil {
			panic(fmt.Sprintf("client/protobuf.New: table %d is the zero Table", i))
		}
	}
	schema, err := protobuf.NewSchema(inside...)
	if err != nil {
		panic("client/protobuf.New: " + err.Error()) // cannot happen: a test reads every table
	}
	return &form{schema}
}

// form implements content.Form.
type form struct{ schema *protobuf.Schema }

func (f *form) MediaType() string { return protobuf.MediaType }

func (f *form) List(o jsonstream.Options) content.List { return protostream.NewList(o) }

func (f *form) Watch(o jsonstream.Options) pipeline.Stream { return protostream.NewWatch(o) }

func (f *form) Status(body []byte) ([]byte, error) {
	e, err := protobuf.Open(body)
	if err != nil {
		return nil, err
	}
	return f.StatusOf(e.Raw)
}

func (f *form) StatusOf(object []byte) ([]byte, error) {
	joint, err := codec.Join(reflect.TypeFor[*meta.Status](), f.schema.Message("meta/v1", "Status"))
	if err != nil {
		return nil, err
	}
	var status *meta.Status
	if err := joint.Decode(&status, jsonstream.Item{Raw: object}, codec.Options{APIVersion: "v1", Kind: "Status"}); err != nil {
		return nil, err
	}
	return codec.Marshal(status, "v1", "Status")
}

func (f *form) Decoder(kind meta.GVK, t reflect.Type, only *codec.Projection) (content.Decoder, error) {
	m := f.schema.Kind(kind.Group, kind.Version, kind.Kind)
	switch {
	case m != nil:
		join := func() (*codec.Joint, error) { return codec.Join(t, m) }
		if only != nil {
			join = func() (*codec.Joint, error) { return only.Join(m) }
		}
		joint, err := join()
		if err != nil {
			return nil, err
		}
		return joint, nil
	case only != nil:
		return nil, fmt.Errorf("no table has %s, and a method Unmarshal cannot leave out members", kind)
	case t.Kind() == reflect.Pointer && t.Implements(reflect.TypeFor[unmarshaler]()):
		return own{t}, nil
	}
	return nil, fmt.Errorf("no table has %s", kind)
}

// unmarshaler is a type that decodes its own message, such as those of k8s.io/api.
type unmarshaler interface{ Unmarshal(message []byte) error }

// own is a Decoder for a type that implements unmarshaler.
type own struct{ typ reflect.Type }

func (o own) Decode(to any, item jsonstream.Item, c codec.Options) error {
	v := reflect.New(o.typ.Elem())
	if err := v.Interface().(unmarshaler).Unmarshal(item.Raw); err != nil {
		return fmt.Errorf("decode into %v: its method Unmarshal: %w", o.typ, err)
	}
	codec.SetTypeMeta(v.Interface(), cmp.Or(item.APIVersion, c.APIVersion), cmp.Or(item.Kind, c.Kind))
	reflect.ValueOf(to).Elem().Set(v)
	return nil
}
