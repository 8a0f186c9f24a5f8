package patch

import (
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/patch/strategic"
)

// Schema says of each member of a kind's objects how a strategic merge patch changes it: whether a list is merged or replaced,
// by which member its items are told apart, and whether the members that a patch does not name are dropped. Make it once with
// [SchemaOf] or [SchemaFromOpenAPI] and keep it: that reads the whole kind. It is safe for concurrent use.
//
// The zero Schema knows nothing: every object is merged and every list replaced, as in a JSON merge patch.
type Schema struct {
	root *strategic.Shape
	err  error
}

// Strategy is how a strategic merge patch changes one member. The zero value merges an object and replaces a list.
type Strategy struct {
	Merge      bool   // a list is merged with the patch's
	Replace    bool   // an object is replaced
	RetainKeys bool   // a patch that is computed lists the members that stay
	MergeKey   string // the member that tells the items of a merged list apart; empty if they are scalars
}

// Strategy returns how the member at path is changed, and whether the schema knows it. The path is of the names of members;
// through a list it goes without a step of its own, as in "spec", "containers", "ports".
func (s Schema) Strategy(path ...string) (Strategy, bool) {
	f, ok := s.root.At(path)
	return Strategy{Merge: f.Merge, Replace: f.Replace, RetainKeys: f.Retain, MergeKey: f.MergeKey}, ok
}

// SchemaOf reads the schema from the struct tags patchStrategy and patchMergeKey of T, as the types of k8s.io/api have them: T
// is a struct or a pointer to one. Members have the names that encoding/json gives them. What a type does not tell, such as
// what is in an interface, is plain JSON. If T is no struct or a tag is wrong, what uses the Schema returns the error.
func SchemaOf[T any]() Schema {
	root, err := strategic.ShapeOf(reflect.TypeFor[T]())
	if err != nil {
		return Schema{err: fmt.Errorf("patch.SchemaOf: %w", err)}
	}
	return Schema{root: root}
}

// SchemaFromOpenAPI reads the schema of a kind from the OpenAPI v3 document that a server has of its group and version, under
// /openapi/v3: there the members have the extensions x-kubernetes-patch-strategy and x-kubernetes-patch-merge-key. For the kinds
// of Kubernetes it is the same schema that [SchemaOf] reads from their Go types. It is an error if the document does not have
// the kind, if a $ref leads nowhere or in a circle of nothing but references, and if it is larger than any server's.
func SchemaFromOpenAPI(doc []byte, kind meta.GVK) (Schema, error) {
	root, err := strategic.ShapeFromOpenAPI(doc, kind)
	if err != nil {
		return Schema{err: err}, fmt.Errorf("patch.SchemaFromOpenAPI: %w", err)
	}
	return Schema{root: root}, nil
}
