package codec

import (
	"encoding"
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/internal/protobuf"
)

// Joint says how the messages of one kind are decoded into one Go type. The struct names members of the JSON, and a
// table has the number of each member in the protobuf. So a type gets the same values from protobuf as from JSON.
type Joint struct {
	typ     reflect.Type // a pointer to a struct
	plan    *plan        // of the struct
	message *joint
	text    hint
}

// joint is a message, joined to a struct.
type joint struct {
	byNumber []jointField // the shape is jointNone for a field that has no place
	metadata bool         // the message is the metadata of an object
}

// jointField is a field of a message, and where it goes.
type jointField struct {
	jointValue
	shape jointShape
	omit  bool // the zero value counts as absent
	field *field
	slice *plan // of the slice or the map
	// members has, for jointMembers, how the value of each field of the struct is decoded.
	members []jointValue
	isMap   bool
}

// jointShape says how often a field occurs, and where its values go.
type jointShape uint8

const (
	jointNone    jointShape = iota // the field has no place
	jointOnce                      // it is a value
	jointInline                    // it is a message whose members are those of the struct itself
	jointList                      // it is an element of a slice
	jointMap                       // it is an entry of a map
	jointMembers                   // it is an entry of a map, and a struct has fields for some keys
	jointText                      // it is an element or an entry whose Go type decodes JSON itself
)

// jointValue is how one value is decoded.
type jointValue struct {
	op      jointOp
	typ     protobuf.Type
	wire    protobuf.WireType
	plan    *plan // of the Go type
	message *joint
	elem    *jointValue // of a pointer
}

// jointOp is a way to decode a value.
type jointOp uint8

const (
	opText    jointOp = iota // by its JSON
	opString                 // to a string
	opInt                    // to an integer of any size
	opBool                   // to a bool
	opBlob                   // to a []byte
	opMessage                // to a struct
	opPointer                // to what a pointer points to
	opOwn                    // by a method of the Go type
)

// gogoMessage is a Go type that decodes its own message, such as those of Kubernetes that have a special JSON form. The
// second method distinguishes it from other types with a method Unmarshal.
type gogoMessage interface {
	Unmarshal(message []byte) error
	MarshalToSizedBuffer(to []byte) (int, error)
}

// notJoined says why a type cannot be decoded from protobuf. The type is then decoded from JSON.
type notJoined struct{ path, reason string }

func (e *notJoined) Error() string {
	if e.path == "" {
		return e.reason
	}
	return fmt.Sprintf("%s: %s", e.path, e.reason)
}

func (e *notJoined) in(name string) *notJoined {
	if e.path != "" {
		name += "." + e.path
	}
	return &notJoined{name, e.reason}
}

// Join joins a Go type to the message of a kind. The type must be a pointer to a struct without methods for decoding
// JSON. The error names the first member that cannot be joined: the table has no such member, or the Go type of the
// member cannot take the values of the field. A Go type that decodes a whole message by itself cannot take it, because
// it would get less from protobuf than from JSON.
func Join(t reflect.Type, m *protobuf.Message) (*Joint, error) {
	p := plans.of(t)
	if p.shape != shapePointer || p.elem.shape != shapeStruct {
		return nil, &notJoined{"", fmt.Sprintf("%v is not a pointer to a struct without methods for decoding JSON", t)}
	}
	return join(t, p.elem, m)
}

// join joins p, the plan of the type that t points to.
func join(t reflect.Type, p *plan, m *protobuf.Message) (*Joint, error) {
	j := &joiner{made: map[joined]*joint{}}
	message, err := j.message(p, m, true)
	if err != nil {
		return nil, err
	}
	return &Joint{typ: t, plan: p, message: message}, nil
}

// joiner makes joints. It keeps those that it has begun, so that a type can refer to itself.
type joiner struct{ made map[joined]*joint }

type joined struct {
	plan    *plan
	message *protobuf.Message
}

// message joins a struct to a message. The message must have each field of the struct. whole means that the message is
// an object: then it need not have kind and apiVersion.
func (j *joiner) message(p *plan, m *protobuf.Message, whole bool) (*joint, *notJoined) {
	if made := j.made[joined{p, m}]; made != nil {
		return made, nil
	}
	made := &joint{metadata: m.Name == "ObjectMeta"}
	j.made[joined{p, m}] = made
	found := make([]bool, len(p.fields))
	if err := j.fields(made, p, m, found); err != nil {
		return nil, err
	}
	for i, f := range p.fields {
		if !found[i] && f.plan.shape != shapeNone && f.plan.shape != shapePassedOver && !(whole && (f.name == "kind" || f.name == "apiVersion")) {
			return nil, &notJoined{f.name, "the protobuf table of " + m.Name + " has no such member"}
		}
	}
	return made, nil
}

// fields joins the fields of a message to those of a struct, and notes in found which fields of the struct have been
// joined.
func (j *joiner) fields(made *joint, p *plan, m *protobuf.Message, found []bool) *notJoined {
	for i := range m.Fields {
		f := &m.Fields[i]
		for f.Number >= len(made.byNumber) {
			made.byNumber = append(made.byNumber, jointField{})
		}
		to := &made.byNumber[f.Number]
		if f.Inline {
			inner := &joint{}
			if err := j.fields(inner, p, f.Message, found); err != nil {
				return err
			}
			*to = jointField{shape: jointInline, jointValue: jointValue{wire: protobuf.Bytes, message: inner}}
			continue
		}
		at := p.find([]byte(f.Name))
		if at < 0 {
			continue
		}
		found[at] = true
		if p.fields[at].plan.shape == shapePassedOver {
			continue
		}
		field, err := j.field(f, &p.fields[at])
		if err != nil {
			return err.in(f.Name)
		}
		*to = field
	}
	return nil
}

func (j *joiner) field(f *protobuf.Field, to *field) (made jointField, err *notJoined) {
	made = jointField{shape: jointOnce, omit: f.OmitZero, field: to, isMap: f.Map}
	p := to.plan
	switch {
	case f.Repeated:
		made.shape, made.slice = jointList, p
		if p.shape == shapeJSON && f.Type != protobuf.Sub {
			made.shape, made.jointValue = jointText, textOf(f)
			return made, nil
		}
		if p.shape != shapeSlice && p.shape != shapeStrings {
			return made, cannot(p, "an array")
		}
		elem := p.elem
		if p.shape == shapeStrings {
			elem = plans.of(stringType)
		}
		made.jointValue, err = j.value(f, elem)
	case f.Map:
		made.shape, made.slice = jointMap, p
		elem := p.elem
		switch {
		case p.shape == shapeStringMap:
			elem = plans.of(stringType)
		case p.shape == shapeStruct:
			return j.members(made, f, p)
		case p.shape == shapeJSON && f.Type != protobuf.Sub:
			made.shape, made.jointValue = jointText, textOf(f)
			return made, nil
		case p.shape != shapeMap || p.key != keyString:
			return made, cannot(p, "a map")
		}
		made.jointValue, err = j.value(f, elem)
	default:
		made.jointValue, err = j.value(f, p)
	}
	return made, err
}

// textOf returns a value that is decoded by its JSON alone.
func textOf(f *protobuf.Field) jointValue {
	return jointValue{op: opText, typ: f.Type, wire: f.Type.Wire()}
}

// members joins a map to a struct, which has fields for the keys that it wants.
func (j *joiner) members(made jointField, f *protobuf.Field, p *plan) (jointField, *notJoined) {
	made.shape = jointMembers
	made.wire = f.Type.Wire()
	for i := range p.fields {
		if p.fields[i].plan.shape == shapePassedOver {
			made.members = append(made.members, jointValue{})
			continue
		}
		v, err := j.value(f, p.fields[i].plan)
		if err != nil {
			return made, err.in(p.fields[i].name)
		}
		made.members = append(made.members, v)
	}
	return made, nil
}

func cannot(p *plan, what string) *notJoined {
	return &notJoined{"", fmt.Sprintf("%v cannot be filled with %s of protobuf", p.typ, what)}
}

// value joins a single value of a field to a Go type.
func (j *joiner) value(f *protobuf.Field, p *plan) (jointValue, *notJoined) {
	v := jointValue{op: opText, typ: f.Type, wire: f.Type.Wire(), plan: p}
	if f.Repeated || f.Map {
		v.wire = f.Type.Wire()
	}
	if p.shape == shapePointer {
		elem, err := j.value(f, p.elem)
		v.op, v.elem = opPointer, &elem
		return v, err
	}
	switch f.Type {
	case protobuf.Sub:
		return j.sub(v, f, p)
	case protobuf.Quantity, protobuf.IntOrString:
		if p.shape == shapeJSON && implements[gogoMessage](p.typ) {
			v.op = opOwn
		}
	case protobuf.String:
		if p.shape == shapeString {
			v.op = opString
		}
	case protobuf.Int:
		if p.shape == shapeInt {
			v.op = opInt
		}
	case protobuf.Bool:
		if p.shape == shapeBool {
			v.op = opBool
		}
	case protobuf.Blob:
		if p.shape == shapeBytes && p.typ.Elem().Kind() == reflect.Uint8 && !isDecoder(p.typ) {
			v.op = opBlob
		}
	}
	return v, nil
}

// isDecoder reports whether a slice of bytes, or its elements, have methods that decode them.
func isDecoder(t reflect.Type) bool {
	return hasMethods(t.Elem()) || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// sub joins a message to the Go type of a field.
func (j *joiner) sub(v jointValue, f *protobuf.Field, p *plan) (jointValue, *notJoined) {
	v.op = opMessage
	var err *notJoined
	switch {
	case f.Message.Whole:
		v.message, err = j.whole(f.Message, p)
	case p.shape == shapeStruct:
		v.message, err = j.message(p, f.Message, false)
	default:
		err = cannot(p, "a message")
	}
	return v, err
}

// whole joins a message that has one field to a Go type, which gets the value of the field.
func (j *joiner) whole(m *protobuf.Message, p *plan) (*joint, *notJoined) {
	if len(m.Fields) != 1 {
		return nil, cannot(p, "one of several forms")
	}
	if made := j.made[joined{p, m}]; made != nil {
		return made, nil
	}
	f := m.Fields[0]
	made := &joint{byNumber: make([]jointField, f.Number+1)}
	j.made[joined{p, m}] = made
	field, err := j.field(&f, &field{plan: p})
	made.byNumber[f.Number] = field
	return made, err
}
