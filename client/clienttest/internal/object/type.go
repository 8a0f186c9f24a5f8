package object

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/kinds"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/meta"
)

// Type is what the objects of a resource have in common.
type Type struct {
	kinds.Traits
	Of         meta.GVK      // their kind
	Builtin    bool          // a compiled-in type: its order of members and its errors differ, and items of lists have no kind and apiVersion
	Apart      bool          // status is written only through its subresource
	Selectable []string      // the fields, outside of metadata, that field selectors may use
	Blank      string        // of a compiled-in type: the members besides metadata when nothing is set, as in a bookmark
	Declared   *schema.Shape // of a custom resource: its schema, if it has one
}

// Shape returns the schema of the objects. Nil means that nothing is known, as for a custom resource without a schema: its
// lists are atomic, its objects are granular, and unknown members stay.
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
