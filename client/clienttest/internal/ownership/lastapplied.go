package ownership

import (
	"maps"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// kubectl's client-side apply records the configuration in an annotation. When kubectl switches to server-side apply,
// under the manager name kubectl, the server reads the annotation and keeps it up to date.
const (
	kubectl     = "kubectl"
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// disputed returns the conflicts that remain when kubectl applies. kubectl may take over fields that still have the
// values of its annotation, but only if no conflict remains.
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

// annotation returns kubectl's annotation of an object.
func annotation(v any) string {
	object, _ := v.(jsontree.Object)
	metadata, _ := object["metadata"].(jsontree.Object)
	annotations, _ := metadata["annotations"].(jsontree.Object)
	text, _ := annotations[lastApplied].(string)
	return text
}

// noteLastApplied brings kubectl's annotation of an object up to date, if it has one.
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
