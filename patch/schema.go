package patch

import (
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/patch/strategic"
)

// Schema says how a strategic merge patch changes each member of a kind's objects: whether a list is merged or
// replaced, which member distinguishes its items, and whether members that the patch does not name are dropped.
// [SchemaOf] and [SchemaFromOpenAPI] read a whole kind, so make a Schema once and keep it. It is safe for concurrent
// use.
//
// The zero Schema knows nothing: every object is merged and every list replaced, as in a JSON merge patch.
type Schema struct {
	root *strategic.Shape
	err  error
}

// SchemaOf reads the schema from the struct tags patchStrategy and patchMergeKey of T, which the types of k8s.io/api
// have. T is a struct or a pointer to one. Members have the names that encoding/json gives them. Values whose type
// says nothing about them, such as those of an interface, are plain JSON. If T is not a struct or a tag is wrong, the
// functions that use the Schema return the error.
func SchemaOf[T any]() Schema {
	root, err := strategic.ShapeOf(reflect.TypeFor[T]())
	if err != nil {
		return Schema{err: fmt.Errorf("patch.SchemaOf: %w", err)}
	}
	return Schema{root: root}
}

// SchemaFromOpenAPI reads the schema of a kind from the server's OpenAPI v3 document of its group and version, under
// /openapi/v3. In it, members have the extensions x-kubernetes-patch-strategy and x-kubernetes-patch-merge-key. For
// the kinds of Kubernetes the result is the schema that [SchemaOf] reads from their Go types. It is an error if the
// document does not have the kind, if a $ref leads nowhere or in a cycle, or if the document is larger than 64 MiB or
// exceeds another bound. All bounds are far above any server's document.
func SchemaFromOpenAPI(doc []byte, kind meta.GVK) (Schema, error) {
	root, err := strategic.ShapeFromOpenAPI(doc, kind)
	if err != nil {
		return Schema{err: err}, fmt.Errorf("patch.SchemaFromOpenAPI: %w", err)
	}
	return Schema{root: root}, nil
}
