package explore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// State is the content of the server at one moment.
type State struct{ world *world }

// Objects returns the objects of a type, ordered by key.
func Objects[T meta.Object](s State, of client.Type[T]) ([]T, error) {
	items, err := s.world.list(of.GVR())
	if err != nil {
		return nil, err
	}
	all := make([]T, len(items))
	for i, raw := range items {
		if err := json.Unmarshal(raw, &all[i]); err != nil {
			return nil, fmt.Errorf("read an object of %s: %w", of.Resource, err)
		}
	}
	return all, nil
}

// list returns the objects of a resource.
func (w *world) list(of meta.GVR) ([]json.RawMessage, error) {
	path := "/apis/" + of.Group + "/" + of.Version + "/" + of.Resource
	if of.Group == "" {
		path = "/api/" + of.Version + "/" + of.Resource
	}
	answer := httptest.NewRecorder()
	w.server.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	if answer.Code == http.StatusNotFound { // its definition has been deleted
		return nil, nil
	}
	var list struct {
		Items   []json.RawMessage `json:"items"`
		Message string            `json:"message"`
	}
	err := json.Unmarshal(answer.Body.Bytes(), &list)
	if err == nil && answer.Code != http.StatusOK {
		err = fmt.Errorf("%d: %s", answer.Code, list.Message)
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", of.Resource, err)
	}
	return list.Items, nil
}

// state is the objects of the server by their names, without the values that differ between two runs that do the same.
type state map[string]any

// ignored returns the resources whose objects may always differ.
func ignored() []string { return []string{"leases", "events"} }

// state returns the objects of all resources that somebody has written to.
func (w *world) state() (state, error) {
	kinds := w.resources()
	s := state{}
	names := map[string]string{} // by uid
	var all []map[string]any
	for _, of := range kinds {
		if slices.Contains(ignored(), of.Resource) || slices.Contains(w.plan.Ignore, of) {
			continue
		}
		items, err := w.list(of)
		if err != nil {
			return nil, err
		}
		for _, raw := range items {
			var object map[string]any
			if err := json.Unmarshal(raw, &object); err != nil {
				return nil, err
			}
			for _, field := range w.plan.IgnoreFields {
				if resource, path, _ := strings.Cut(field, "."); resource == of.Resource {
					leaveOut(object, path)
				}
			}
			object["resource"] = of.Resource
			metadata, _ := object["metadata"].(map[string]any)
			uid, _ := metadata["uid"].(string)
			names[uid] = nameOf(object)
			all = append(all, object)
		}
	}
	named := map[string][]map[string]any{}
	for _, object := range all {
		if name := nameOf(object); !isForeign(name) {
			normalize(object, names)
			named[name] = append(named[name], object)
		}
	}
	for name, objects := range named {
		s.add(name, objects)
	}
	return s, nil
}

// add adds the objects with a name. Several objects with the same generateName get numbers in the order of their
// contents, because the order of their generated names is random.
func (s state) add(name string, objects []map[string]any) {
	if len(objects) > 1 {
		slices.SortFunc(objects, func(a, b map[string]any) int {
			one, _ := json.Marshal(a) // cannot fail: the objects were read from JSON
			other, _ := json.Marshal(b)
			return bytes.Compare(one, other)
		})
	}
	for i, object := range objects {
		if i == 0 {
			s[name] = object
		} else {
			s[fmt.Sprintf("%s (%d)", name, i+1)] = object
		}
	}
}

// nameOf returns the resource, namespace and name of an object. Instead of a generated name it has the generateName and
// "*".
func nameOf(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if generated, _ := metadata["generateName"].(string); generated != "" {
		name = generated + "*"
	}
	namespace, _ := metadata["namespace"].(string)
	return fmt.Sprintf("%v %s", object["resource"], strings.TrimPrefix(namespace+"/"+name, "/"))
}

// normalize removes from an object the values that differ between two runs that do the same.
func normalize(object map[string]any, names map[string]string) {
	metadata, _ := object["metadata"].(map[string]any)
	generation := metadata["generation"]
	for _, name := range []string{"resourceVersion", "creationTimestamp", "managedFields", "generation", "uid", "name"} {
		delete(metadata, name)
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, touchedAnnotation)
	delete(annotations, mendedAnnotation)
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	object["metadata"] = metadata
	maps.Copy(object, plain(object, generation, names).(map[string]any))
}

// plain returns a value in which words stand for times, uids, versions and observed generations.
func plain(v any, generation any, names map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		is := map[string]any{}
		for name, e := range v {
			switch {
			case name == "observedGeneration":
				is[name] = "older"
				if reflect.DeepEqual(e, generation) {
					is[name] = "present"
				}
			case name == "resourceVersion": // of a reference to another object
				is[name] = "(a version)"
			default:
				is[name] = plain(e, generation, names)
			}
		}
		return is
	case []any:
		is := make([]any, len(v))
		for i, e := range v {
			is[i] = plain(e, generation, names)
		}
		return is
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return "(a time)"
		}
		if name, found := names[v]; found && v != "" {
			return "(the uid of " + name + ")"
		}
		if len(v) == 36 && strings.Count(v, "-") == 4 {
			return "(the uid of nothing)"
		}
	}
	return v
}

// leaveOut removes a field from a value. The path joins names by dots, and a name may itself have dots.
func leaveOut(v any, path string) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, path)
		for name, member := range v {
			if rest, inside := strings.CutPrefix(path, name+"."); inside {
				leaveOut(member, rest)
				if left, isObject := member.(map[string]any); isObject && len(left) == 0 {
					delete(v, name)
				}
			}
		}
	case []any:
		for _, element := range v {
			leaveOut(element, path)
		}
	}
}

// resources returns the resources that somebody has written to, in a fixed order.
func (w *world) resources() []meta.GVR {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Keys(w.kinds), func(a, b meta.GVR) int { return strings.Compare(a.String(), b.String()) })
}
