package protobuf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/protobuf"
)

func TestNewSchemaRefusesTablesThatAreWrong(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a field before any message", "1 a string", `table t/v1, line 1: want a number, a name and a type below a message, got "1 a string"`},
		{"a field of two words", "M\n1 a", `line 2: want a number, a name and a type`},
		{"a field of four words", "M\n1 a string b", `line 2: want a number, a name and a type`},
		{"the number 0", "M\n0 a string", `line 2: a field's number must be from 1 to 1000, got "0"`},
		{"a number that is too large", "M\n1001 a string", `must be from 1 to 1000, got "1001"`},
		{"a number that is none", "M\n1x a string", `must be from 1 to 1000, got "1x"`},
		{"a number twice", "M\n1 a string\n1 b string", `line 3: two fields have the number 1`},
		{"a name twice", "M\n1 a string\n2 a string", `message "M": two fields have the name "a"`},
		{"a name of an inlined message", "M\n1 a string\n2 - N\nN\n1 a string", `message "M": two fields have the name "a"`},
		{"a message twice", "M\nN\nM", `line 3: there are two messages "M"`},
		{"a message with the name of a type", "string", `line 1: a message cannot have the name "string"`},
		{"a message of two words", "M N", `a message cannot have the name "M N"`},
		{"a message that nobody has", "M\n1 a N", `line 2: there is no message "t/v1.N"`},
		{"a message of a table that is not used", "M\n1 a core/v1.Pod", `there is no message "core/v1.Pod"`},
		{"a list of maps", "M\n1 a []{}string", `there is no message "t/v1.{}string"`},
		{"no type", "M\n1 a []", `there is no message "t/v1."`},
		{"an inlined string", "M\n1 - string", `only one message can be inlined, got "string"`},
		{"inlined messages", "M\n1 - []N\nN", `only one message can be inlined, got "[]N"`},
		{"a whole field beside another", "M\n1 a string\n2 = string", `a message with a field = has only such fields, got "="`},
		{"another field beside a whole one", "M\n1 = string\n2 a string", `a message with a field = has only such fields, got "a"`},
		{"an inlined message in itself", "M\n1 - M", `the JSON of the message "M" contains itself`},
		{"inlined messages in each other", "M\n1 - N\nN\n1 - M", `contains itself`},
		{"whole messages in each other", "M\n1 = N\nN\n1 = M", `contains itself`},
		{"a whole message inlined", "M\n1 - N\nN\n1 = string", `only a message with members can be inlined`},
		{"too many fields", "M\n" + manyFields(256), "line 257: a message has at most 255 fields"},
	} {
		_, err := protobuf.NewSchema(&protobuf.Table{Name: "t/v1", Text: c.text})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d f%d string\n", i+1, i)
	}
	return b.String()
}

func TestTablesMayUseEachOther(t *testing.T) {
	a := &protobuf.Table{Name: "a/v1", Group: "a", Version: "v1", Text: "A!\n1 b b/v1.B\n2 metadata meta/v1.ObjectMeta"}
	b := &protobuf.Table{Name: "b/v1", Text: "B\n1 a a/v1.A", Uses: []*protobuf.Table{a}}
	a.Uses = []*protobuf.Table{b}
	s := schemaOf(t, a, a, b)
	if m := s.Kind("a", "v1", "A"); m == nil || m.Field(1).Message != s.Message("b/v1", "B") || m.Field(2).Message != s.Message("meta/v1", "ObjectMeta") {
		t.Errorf("the kind A is %+v", m)
	}
	if _, err := protobuf.NewSchema(a, &protobuf.Table{Name: "a/v1", Text: "B"}); err == nil || err.Error() != "two tables have the name a/v1" {
		t.Errorf("two tables of one name: %v", err)
	}
	c := &protobuf.Table{Name: "c/v1", Uses: []*protobuf.Table{a, {Name: "b/v1", Text: "C"}}}
	if _, err := protobuf.NewSchema(c); err == nil || err.Error() != "two tables have the name b/v1" {
		t.Errorf("two tables of one name, both used: %v", err)
	}
	if s.Kind("", "v1", "Status") == nil || s.Kind("", "v1", "DeleteOptions") != nil || s.Kind("b", "v1", "B") != nil {
		t.Error("the kinds are not those of the tables")
	}
}

// The text of a table is that of a file. NewSchema returns for any text an error or a schema whose messages can be used.
func FuzzNewSchema(f *testing.F) {
	f.Add(sample.Text)
	f.Add("M\n1 - N\nN\n1 - M")
	f.Add("M\n1 = N\n2 = []M\nN\n1 a M")
	f.Fuzz(func(t *testing.T, text string) {
		table := protobuf.Table{Name: "t/v1", Text: text}
		s, err := protobuf.NewSchema(&table)
		if err != nil {
			return
		}
		for line := range strings.Lines(text) {
			name, _ := strings.CutSuffix(strings.TrimSpace(line), "!")
			m := s.Message("t/v1", name)
			if m == nil {
				continue
			}
			for _, f := range m.Fields {
				if got := m.Field(f.Number); got == nil || got.Number != f.Number {
					t.Fatalf("field %d of %s is %+v", f.Number, name, got)
				}
			}
			for _, j := range []string{"{}", "[]", "null", "true", `{"a":{"a":[{}]}}`} {
				raw, err := m.AppendProto(nil, []byte(j), nil)
				if err != nil {
					continue
				}
				if _, err := m.AppendJSON(nil, raw); err != nil {
					t.Fatalf("%s as %s is %x: %v", j, name, raw, err)
				}
			}
		}
	})
}
