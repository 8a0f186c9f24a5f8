// Tables of numbers and names.

package protobuf

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// Table has the messages of one version of an API group, as text. The package documentation has the grammar.
type Table struct {
	// Name is the name by which other tables refer to this one, such as "core/v1".
	Name string
	// Group and Version are those of its kinds.
	Group, Version string
	// Text is the content.
	Text string
	// Uses are the tables to whose messages the text refers, besides that of meta/v1.
	Uses []*Table
}

// Type is the type of a field.
type Type uint8

// The types.
const (
	String Type = iota
	Blob
	Int
	Bool
	Double
	Sub // another message
	Time
	MicroTime
	Duration
	Quantity
	IntOrString
	Raw // a message with JSON in its first field
)

var typeNames = []string{
	"string", "bytes", "int", "bool", "double", "", "time", "microtime", "duration", "quantity", "intorstring", "raw",
}

// shortInt is the name of [Int] for a field of 32 bits.
const shortInt = "int32"

// IsMessage reports whether a value of the type is itself a message on the wire.
func (t Type) IsMessage() bool { return t >= Sub && t != Duration }

// Wire returns the wire type of a value.
func (t Type) Wire() WireType {
	switch t {
	case Int, Bool, Duration:
		return Varint
	case Double:
		return Fixed64
	}
	return Bytes
}

// Message says what the fields of a message are.
type Message struct {
	// Name is the name within its table.
	Name string
	// Fields are in the order of their numbers.
	Fields []Field
	// Whole says that the JSON of the message is that of one of its fields, without an object around it.
	Whole bool
	// Kind says that the JSON of the message also has its kind and apiVersion, which are in the envelope.
	Kind bool

	byNumber []uint8        // index plus 1
	byName   map[string]int // the index of a member in the order of the fields, with the members of inlined messages
	members  int            // how many members there are
}

// Field is a field of a message.
type Field struct {
	Number int
	// Name is the name of the JSON member. It is empty if Inline is set or the message is Whole.
	Name string
	Type Type
	// Message is set if Type is Sub.
	Message *Message
	// Repeated and Map say that the field occurs for each element or entry. The keys of a map are strings.
	Repeated, Map bool
	// Short says that an integer has 32 bits.
	Short bool
	// OmitZero says that the JSON leaves out the zero value.
	OmitZero bool
	// Inline says that the members of the message are those of the message around it.
	Inline bool

	label []byte // Name, quoted, and the colon
}

// Field returns the field of a number, nil if the table does not know it.
func (m *Message) Field(number int) *Field {
	if number >= len(m.byNumber) || m.byNumber[number] == 0 {
		return nil
	}
	return &m.Fields[m.byNumber[number]-1]
}

// Schema has the messages of several tables. It does not change.
type Schema struct {
	messages map[string]*Message // by table and name: "core/v1.Pod"
	kinds    map[kind]*Message
}

type kind struct{ group, version, kind string }

// NewSchema reads tables, those that they use, and that of meta/v1. The error names the table and the line.
func NewSchema(tables ...*Table) (*Schema, error) {
	s := &Schema{messages: map[string]*Message{}, kinds: map[kind]*Message{}}
	all := []*Table{}
	known := map[string]*Table{}
	var add func(t *Table) error
	add = func(t *Table) error {
		if other := known[t.Name]; other != nil {
			if other.Text != t.Text {
				return fmt.Errorf("two tables have the name %s", t.Name)
			}
			return nil
		}
		known[t.Name] = t
		all = append(all, t)
		for _, used := range t.Uses {
			if err := add(used); err != nil {
				return err
			}
		}
		return nil
	}
	for _, t := range append([]*Table{Meta()}, tables...) {
		if err := add(t); err != nil {
			return nil, err
		}
	}
	for _, step := range []func(*Table) error{s.declare, s.define, s.check} {
		for _, t := range all {
			if err := step(t); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// Kind returns the message of a kind, nil if no table has it. A Status has the apiVersion v1, although its message is
// in meta/v1.
func (s *Schema) Kind(group, version, name string) *Message {
	if name == "Status" && group == "" && version == "v1" {
		group = Meta().Group
	}
	return s.kinds[kind{group, version, name}]
}

// Message returns the message with a name in a table, nil if there is none.
func (s *Schema) Message(table, name string) *Message { return s.messages[table+"."+name] }

// declare makes the messages of a table, without fields.
func (s *Schema) declare(t *Table) error {
	number := 0
	for line := range strings.Lines(t.Text) {
		number++
		name, isKind := messageOf(line)
		if name == "" {
			continue
		}
		if strings.ContainsAny(name, " \t.!?") || slices.Contains(typeNames, name) || name == shortInt {
			return fmt.Errorf("table %s, line %d: a message cannot have the name %q", t.Name, number, name)
		}
		full := t.Name + "." + name
		if s.messages[full] != nil {
			return fmt.Errorf("table %s, line %d: there are two messages %q", t.Name, number, name)
		}
		m := &Message{Name: name, Kind: isKind}
		s.messages[full] = m
		if isKind {
			s.kinds[kind{t.Group, t.Version, name}] = m
		}
	}
	return nil
}

// messageOf returns the name of the message that begins at a line, empty if none does.
func messageOf(line string) (name string, isKind bool) {
	line = strings.TrimSpace(line)
	if line == "" || '0' <= line[0] && line[0] <= '9' {
		return "", false
	}
	name, isKind = strings.CutSuffix(line, "!")
	return name, isKind
}

// define gives the messages of a table their fields.
func (s *Schema) define(t *Table) error {
	var m *Message
	number := 0
	for line := range strings.Lines(t.Text) {
		number++
		if name, _ := messageOf(line); name != "" {
			m = s.messages[t.Name+"."+name]
			continue
		}
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		err := fmt.Errorf("want a number, a name and a type below a message, got %q", strings.TrimSpace(line))
		if len(words) == 3 && m != nil {
			err = s.field(t, m, words)
		}
		if err != nil {
			return fmt.Errorf("table %s, line %d: %w", t.Name, number, err)
		}
	}
	for line := range strings.Lines(t.Text) {
		if name, _ := messageOf(line); name != "" {
			s.messages[t.Name+"."+name].index()
		}
	}
	return nil
}

// check refuses messages that contain themselves through inlined or whole messages, inlined messages without members,
// and names that occur twice in a message.
func (s *Schema) check(t *Table) error {
	for line := range strings.Lines(t.Text) {
		name, _ := messageOf(line)
		if name == "" {
			continue
		}
		m := s.messages[t.Name+"."+name]
		if m.leadsTo(m, map[*Message]bool{}) {
			return fmt.Errorf("table %s: the JSON of the message %q contains itself", t.Name, name)
		}
		if err := m.enter(m); err != nil {
			return fmt.Errorf("table %s: message %q: %w", t.Name, name, err)
		}
	}
	return nil
}

// leadsTo reports whether m contains other through inlined and whole messages alone, so that other's JSON takes the
// place of m's or of a part of it. It visits each message once.
func (m *Message) leadsTo(other *Message, entered map[*Message]bool) bool {
	for _, f := range m.Fields {
		if f.Type != Sub || !f.Inline && (!m.Whole || f.Repeated || f.Map) || entered[f.Message] {
			continue
		}
		entered[f.Message] = true
		if f.Message == other || f.Message.leadsTo(other, entered) {
			return true
		}
	}
	return false
}

// enter adds the members of from, which is m or a message inlined in it, to m's members by name.
func (m *Message) enter(from *Message) error {
	if m.Whole {
		return nil
	}
	for _, f := range from.Fields {
		if f.Inline {
			if f.Message.Whole {
				return fmt.Errorf("only a message with members can be inlined, got %q", f.Message.Name)
			}
			if err := m.enter(f.Message); err != nil {
				return err
			}
			continue
		}
		if _, ok := m.byName[f.Name]; ok {
			return fmt.Errorf("two fields have the name %q", f.Name)
		}
		if m.byName == nil {
			m.byName = map[string]int{}
		}
		m.byName[f.Name] = m.members
		m.members++
	}
	return nil
}

// index sorts the fields, and indexes them by number.
func (m *Message) index() {
	slices.SortFunc(m.Fields, func(a, b Field) int { return cmp.Compare(a.Number, b.Number) })
	for i, f := range m.Fields {
		for f.Number >= len(m.byNumber) {
			m.byNumber = append(m.byNumber, 0)
		}
		m.byNumber[f.Number] = uint8(i + 1)
	}
}

// field adds a field to a message.
func (s *Schema) field(t *Table, m *Message, words []string) error {
	const mostNumber, mostFields = 1000, 255 // larger than any that Kubernetes has
	number, err := strconv.Atoi(words[0])
	if err != nil || number < 1 || number > mostNumber {
		return fmt.Errorf("a field's number must be from 1 to %d, got %q", mostNumber, words[0])
	}
	f := Field{Number: number, Name: words[1]}
	if len(m.Fields) > 0 && m.Whole != (f.Name == "=") {
		return fmt.Errorf("a message with a field = has only such fields, got %q", f.Name)
	}
	if slices.ContainsFunc(m.Fields, func(other Field) bool { return other.Number == number }) {
		return fmt.Errorf("two fields have the number %d", number)
	}
	if len(m.Fields) == mostFields {
		return fmt.Errorf("a message has at most %d fields", mostFields)
	}
	name := words[2]
	name, f.OmitZero = strings.CutSuffix(name, "?")
	name, f.Repeated = strings.CutPrefix(name, "[]")
	if !f.Repeated {
		name, f.Map = strings.CutPrefix(name, "{}")
	}
	switch i := slices.Index(typeNames, name); {
	case name == shortInt:
		f.Type, f.Short = Int, true
	case name != "" && i >= 0:
		f.Type = Type(i)
	default:
		f.Type = Sub
		if !strings.Contains(name, ".") {
			name = t.Name + "." + name
		}
		if f.Message = s.messages[name]; f.Message == nil {
			return fmt.Errorf("there is no message %q", name)
		}
	}
	switch f.Name {
	case "-":
		if f.Type != Sub || f.Repeated || f.Map {
			return fmt.Errorf("only one message can be inlined, got %q", words[2])
		}
		f.Name, f.Inline = "", true
	case "=":
		f.Name, m.Whole = "", true
	default:
		f.label = append(jsonlex.AppendQuoted(nil, f.Name), ':')
	}
	m.Fields = append(m.Fields, f)
	return nil
}
