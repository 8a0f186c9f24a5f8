package protobuf

import "github.com/bowline-go/bowline/internal/protobuf"

// Table has the messages of one version of an API group. The packages below this one provide the tables.
type Table struct{ inside *protobuf.Table }

// Of returns a table with the given content. It is for the packages below this one: programs cannot name the type of
// content.
func Of(content *protobuf.Table) Table { return Table{inside: content} }

// Inside returns the content of a table, for Bowline's own packages.
func (t Table) Inside() *protobuf.Table { return t.inside }
