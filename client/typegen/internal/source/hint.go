package source

import (
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/client/protobuf/all"
	"github.com/bowline-go/bowline/internal/protobuf"
)

// BuiltinHints returns a function that finds the Hint of a field of a built-in kind, by component and property, in the
// tables of client/protobuf.
func BuiltinHints() (func(component, property string) Hint, error) {
	var tables []*protobuf.Table
	for _, t := range all.Tables() {
		tables = append(tables, t.Inside())
	}
	s, err := protobuf.NewSchema(tables...)
	if err != nil {
		return nil, fmt.Errorf("read the tables of the built-in kinds: %w", err)
	}
	return func(component, property string) Hint {
		parts := strings.Split(component, ".")
		if n := len(parts); n >= 3 && strings.HasPrefix(component, "io.k8s.") {
			if m := s.Message(parts[n-3]+"/"+parts[n-2], parts[n-1]); m != nil {
				return hintOf(m, property)
			}
		}
		return Hint{}
	}, nil
}

func hintOf(m *protobuf.Message, property string) Hint {
	for i := range m.Fields {
		f := &m.Fields[i]
		switch {
		case f.Inline && f.Message != nil:
			if h := hintOf(f.Message, property); h.Known {
				return h
			}
		case f.Name == property:
			return Hint{Known: true, Omits: f.OmitZero}
		}
	}
	return Hint{}
}
