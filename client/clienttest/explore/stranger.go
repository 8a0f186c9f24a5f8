package explore

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// stranger: another controller makes an object with the labels of an object that the program made, and owns it.
const stranger kind = "stranger"

// estranges reports whether another controller can make a stranger for the object.
func estranges(r *record) bool {
	return r.present && r.made == byProgram && len(r.meta.Labels) > 0 && r.meta.Namespace != ""
}

// introduce makes a stranger beside an object.
func introduce(w *world, d disturbance) {
	r := w.ledger.at(d.argument)
	if r == nil || !estranges(r) {
		return
	}
	err := w.makeStranger(r)
	w.tell("another controller: create %s with the labels of %s, and an owner%s", r.of.Resource, r.name(), failed(err))
	w.lookEverywhere(byOther)
}

func (w *world) makeStranger(r *record) error {
	owner, err := w.foreign(r.meta.Namespace)
	if err != nil {
		return err
	}
	var object map[string]any
	if err := json.Unmarshal(r.raw, &object); err != nil {
		return err
	}
	delete(object, "status")
	labels := map[string]any{}
	for name, value := range r.meta.Labels {
		labels[name] = value
	}
	object["metadata"] = map[string]any{
		"namespace": r.meta.Namespace, "generateName": foreignName + "-", "labels": labels,
		"ownerReferences": []any{referenceTo(owner, true)},
	}
	return w.person(http.MethodPost, pathOf(r.of, meta.Key{Namespace: r.meta.Namespace}), "application/json", object, nil)
}

// isForeign reports whether the object with a name, as in configmaps default/a, belongs to another program.
func isForeign(name string) bool {
	_, key, _ := strings.Cut(name, " ")
	_, name, _ = strings.Cut(key, "/")
	return strings.HasPrefix(name, foreignName)
}
