package ownership

import (
	"maps"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// kubectl applied by itself before the server could, and noted in an annotation what. Where it goes over to the server's apply, which
// it does under the name kubectl, the server reads and keeps that annotation.
const (
	kubectl     = "kubectl"
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// disputed returns what of conflicts is left where the one who applies is kubectl and the fields are as it has applied them by
// itself: those it takes over. It takes all or nothing.
func (w Write) disputed(live any, lost Owners, manager string) Owners {
	if manager != kubectl {
		return lost
	}
	v, err := jsontree.Parse([]byte(annotation(live)))
	config, ok := v.(jsontree.Object)
	if err != nil || !ok || KindOf(config).APIVersion() != w.APIVersion || len(w.Shape.Check(config, "")) > 0 {
		return lost
	}
	changed := changesOf(config, live, w.Shape)
	own := fieldsOf(config, w.Shape).Difference(changed.modified).Difference(changed.added).Difference(changed.removed)
	var left Owners
	for _, o := range lost {
		if o.Set = o.Set.Difference(own); !o.Set.IsEmpty() {
			left = append(left, o)
		}
	}
	return left
}

// annotation returns kubectl's note in an object.
func annotation(v any) string {
	object, _ := v.(jsontree.Object)
	metadata, _ := object["metadata"].(jsontree.Object)
	annotations, _ := metadata["annotations"].(jsontree.Object)
	text, _ := annotations[lastApplied].(string)
	return text
}

// noteLastApplied brings kubectl's note in an object up to date, if it has one.
func noteLastApplied(v any, config jsontree.Object) {
	if annotation(v) == "" {
		return
	}
	note := maps.Clone(config)
	if metadata, ok := note["metadata"].(jsontree.Object); ok {
		metadata = maps.Clone(metadata)
		note["metadata"] = metadata
		if annotations, ok := metadata["annotations"].(jsontree.Object); ok {
			annotations = maps.Clone(annotations)
			delete(annotations, lastApplied)
			metadata["annotations"] = annotations
		}
	}
	object := v.(jsontree.Object)
	metadata := maps.Clone(object["metadata"].(jsontree.Object))
	annotations := maps.Clone(metadata["annotations"].(jsontree.Object))
	annotations[lastApplied] = string(append(jsontree.Append(nil, note), '\n'))
	metadata["annotations"] = annotations
	object["metadata"] = metadata
}
