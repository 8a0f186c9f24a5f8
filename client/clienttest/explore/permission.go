package explore

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// forbidden: for a while the program may not read the objects of a resource, or may not write them.
const forbidden kind = "forbidden"

func permissions() []effect {
	return []effect{{kind: forbidden, at: func(p *point, _ *result) []string { return once(p.request.Resource.Resource != "") }, prepare: forbid}}
}

// permission is the right to read the objects of a resource, or to write them.
type permission struct {
	of    meta.GVR
	write bool
}

func (p *point) permission() permission { return permission{p.request.Resource, p.writes()} }

// forbid removes a permission from all replicas, and restores it later. If it is a permission to read, open watches of
// the resource end, as watches do every few minutes, and new ones are refused.
func forbid(w *world, p *point, _ disturbance) {
	right := p.permission()
	what := "read"
	if right.write {
		what = "write"
	}
	w.mu.Lock()
	w.forbidden = append(w.forbidden, right)
	if !right.write {
		for open, cut := range w.watches {
			if open.request.Resource == right.of {
				cut()
			}
		}
	}
	w.mu.Unlock()
	w.tell("the program may not %s %s any more", what, right.of.Resource)
	w.last(func() {
		w.mu.Lock()
		at := slices.Index(w.forbidden, right)
		w.forbidden = slices.Delete(w.forbidden, at, at+1)
		w.mu.Unlock()
		w.tell("the program may %s %s again", what, right.of.Resource)
	})
}

// denied returns the server's refusal of a request that is forbidden now; nil if the request is allowed.
func (p *point) denied(r *http.Request) *httptest.ResponseRecorder {
	w := p.life.world
	w.mu.Lock()
	is := slices.Contains(w.forbidden, p.permission())
	w.mu.Unlock()
	if !is {
		return nil
	}
	q := p.request
	subject := q.Resource.Resource
	if q.Key.Name != "" {
		subject += fmt.Sprintf(" %q", q.Key.Name)
	}
	message := fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q", subject,
		"system:serviceaccount:default:program", q.Verb, q.Resource.Resource, q.Resource.Group)
	if q.Key.Namespace != "" {
		message += fmt.Sprintf(" in the namespace %q", q.Key.Namespace)
	} else {
		message += " at the cluster scope"
	}
	answer := httptest.NewRecorder()
	clienttest.Answer(meta.Status{
		Code: http.StatusForbidden, Reason: "Forbidden", Message: message,
		Details: &meta.StatusDetails{Name: q.Key.Name, Group: q.Resource.Group, Kind: q.Resource.Resource},
	})(answer, r)
	return answer
}
