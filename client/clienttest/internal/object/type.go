package object

import (
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/kinds"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// Type describes what the objects of a resource have in common.
type Type struct {
	kinds.Traits
	Of         meta.GVK // their kind
	Builtin    bool     // a compiled-in type, with its own order of members and errors; items of lists name no kind
	Apart      bool     // status is written only through its subresource
	Selectable []string // the fields, outside of metadata, that field selectors may use
	Ungrouped  bool     // errors about the objects name their kind without its group
	// Selected returns the value of one of the Selectable fields. If Selected is nil, the value is that of the member.
	Selected func(content jsontree.Object, path string) string
	Blank    *Blank // of a compiled-in type: the members besides metadata when nothing is set; nil means none
	// Defaults sets the absent members of a compiled-in type that have a default; nil means that there are none.
	Defaults func(content jsontree.Object)
	Declared *schema.Shape // of a custom resource: its schema, if it has one
}

// Blank has the members of an object that a bookmark has besides metadata.
type Blank struct {
	Text    string // the members with commas between them
	members func() jsontree.Object
}

// NewBlank returns the members of a JSON object.
func NewBlank(text []byte) *Blank {
	return &Blank{string(text[1 : len(text)-1]), sync.OnceValue(func() jsontree.Object {
		v, _ := jsontree.Parse(text) // it is valid: a table of this module has it
		members, _ := v.(jsontree.Object)
		return members
	})}
}

// Invalid returns the error for an object that breaks rules.
func (t *Type) Invalid(name string, causes []meta.StatusCause) error {
	group := t.Of.Group
	if t.Ungrouped {
		group = ""
	}
	return status.Invalid(group, t.Of.Kind, name, causes)
}

// Shape returns the schema of the objects. Nil means that there is no schema, as for some custom resources: then lists
// are atomic, objects are granular, and unknown members stay.
func (t *Type) Shape() *schema.Shape {
	if t.Builtin {
		return schema.Builtin().Of(t.Of)
	}
	return t.Declared
}

// textMaps returns the members that are maps of strings.
func (t *Type) textMaps() []string {
	switch {
	case !t.Builtin || t.Of.Group != "":
	case t.Of.Kind == "ConfigMap":
		return []string{"data", "binaryData"}
	case t.Of.Kind == "Secret":
		return []string{"data", "stringData"}
	}
	return nil
}
