package explore

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

const touched kind = "touched" // another writer changes the object right before the request

func touches() []effect {
	return []effect{{kind: touched, at: touchedAt, prepare: touch}}
}

func touchedAt(p *point, _ *result) []string {
	return once(p.writes() && p.request.Key.Name != "" && p.request.Verb != "create")
}

// touch annotates the object of a request as another writer, right before the request.
func touch(w *world, p *point, _ disturbance) {
	c, err := client.New(w.config())
	if err != nil {
		panic(err)
	}
	defer c.Close()
	body := fmt.Sprintf(`{"metadata":{"annotations":{%q:"%s"}}}`, touchedAnnotation, p.place.class)
	answer, err := c.Raw(w.ctx, client.RawRequest{
		Method: http.MethodPatch, Path: strings.TrimSuffix(p.path, "/"+p.request.Subresource), Body: []byte(body),
		Header: http.Header{"Content-Type": {patch.MergeType}},
	})
	var object meta.Unstructured
	if err == nil {
		err = json.NewDecoder(answer.Body).Decode(&object)
		_ = answer.Body.Close()
	}
	w.tell("user: annotate %s %s%s", p.request.Resource.Resource, p.request.Key, failed(err))
	if err == nil {
		w.annotated, w.annotatedUID = p, object.GetUID()
	}
}

// checkAnnotation reports a finding if the object no longer has the annotation that touch added.
func (w *world) checkAnnotation() {
	p := w.annotated
	if p == nil {
		return
	}
	items, err := w.list(p.request.Resource)
	if err != nil {
		return // state reports the error
	}
	for _, raw := range items {
		var object meta.Unstructured
		if err := json.Unmarshal(raw, &object); err != nil || object.GetUID() != w.annotatedUID {
			continue
		}
		if _, found := object.GetAnnotations()[touchedAnnotation]; !found {
			w.found("the annotation that a user added to %s %s is lost", p.request.Resource.Resource, p.request.Key)
		}
	}
}

// touchedAnnotation is the annotation that the other writer adds.
const touchedAnnotation = "explore.bowline.dev/touched"
