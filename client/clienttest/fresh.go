package clienttest

import (
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/kinds"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/meta"
)

// freshObject is an object of a new server, and its resource.
type freshObject struct {
	resource meta.GVR
	draft    *object.Draft
}

// freshObjects are read once, by the first server, and do not change.
var freshObjects = sync.OnceValue(func() (out []freshObject) {
	for _, text := range kinds.Fresh() {
		d, err := object.Parse(text)
		if err != nil {
			panic("clienttest: " + err.Error()) // the file is valid
		}
		for _, r := range builtinKinds() {
			if r.Kind == d.Kind && r.GVK().APIVersion() == d.APIVersion {
				out = append(out, freshObject{r.GVR(), d})
			}
		}
	}
	return out
})

// seed makes the objects that every cluster has, in three transactions, so that a new server is at version 3 however many they are.
func (s *Server) seed() {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	st.namespaces = st.resources[meta.GVR{Version: "v1", Resource: "namespaces"}]
	created := now()
	for i, o := range freshObjects() {
		r, d := st.resources[o.resource], o.draft.Clone()
		d.Meta.UID, d.Meta.CreationTimestamp = newUID(), created
		if r.Generation {
			d.Meta.Generation = 1
		}
		d.Content = withNow(d.Content, timeText(created)).(jsontree.Object)
		st.version = uint64(min(i+1, 3))
		next := d.Revision(&r.Type, st.version)
		st.commit(r, nil, next, r.objects.tree.Set(next))
	}
}

// withNow returns a copy of a value in which text replaces every "now".
func withNow(v any, text string) any {
	switch v := v.(type) {
	case string:
		if v == "now" {
			return text
		}
	case jsontree.Object:
		out := make(jsontree.Object, len(v))
		for name, inner := range v {
			out[name] = withNow(inner, text)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = withNow(inner, text)
		}
		return out
	}
	return v
}
