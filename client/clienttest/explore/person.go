package explore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// absence is how long a change lasts that a person undoes later. It is longer than a lease, and longer than several
// retries.
const absence = 5 * time.Minute

// lasting is a change that a person undoes later.
type lasting struct {
	until time.Time
	undo  func()
}

// last has a person undo a change after absence. No rest ends before that.
func (w *world) last(undo func()) {
	w.lasting = append(w.lasting, lasting{time.Now().Add(absence), undo})
}

// lapse undoes the changes that have lasted long enough. It reports whether there were any.
func (w *world) lapse() (was bool) {
	for len(w.lasting) > 0 && !time.Now().Before(w.lasting[0].until) {
		first := w.lasting[0]
		w.lasting = w.lasting[1:]
		first.undo()
		was = true
	}
	return was
}

// person sends a request of a person, which nothing disturbs. It decodes the object of the answer into answer, unless
// answer is nil.
func (w *world) person(method, path, mediaType string, body, answer any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r := httptest.NewRequestWithContext(w.ctx, method, path, bytes.NewReader(raw))
	r.Header.Set("User-Agent", "user")
	if body != nil {
		r.Header.Set("Content-Type", mediaType)
	}
	is := httptest.NewRecorder()
	w.server.ServeHTTP(is, r)
	if is.Code >= http.StatusMultipleChoices {
		var status meta.Status
		_ = json.Unmarshal(is.Body.Bytes(), &status)
		return fmt.Errorf("%d: %s", is.Code, status.Message)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(is.Body.Bytes(), answer)
}

// merge changes an object by a JSON merge patch.
func (w *world) merge(r *record, change any) error {
	return w.person(http.MethodPatch, pathOf(r.of, meta.KeyOf(&r.meta)), patch.MergeType, change, nil)
}

// remove deletes an object.
func (w *world) remove(r *record) error {
	return w.person(http.MethodDelete, pathOf(r.of, meta.KeyOf(&r.meta)), "application/json", nil, nil)
}

// pathOf returns the path of an object, or of a collection if the key has no name.
func pathOf(of meta.GVR, key meta.Key) string {
	path := "/apis/" + of.Group + "/" + of.Version
	if of.Group == "" {
		path = "/api/" + of.Version
	}
	if key.Namespace != "" {
		path += "/namespaces/" + key.Namespace
	}
	path += "/" + of.Resource
	if key.Name != "" {
		path += "/" + key.Name
	}
	return path
}
