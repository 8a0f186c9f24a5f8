package explore

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// The kinds of refusals, and of failures after which the program cannot know whether the server served the request.
const (
	failureAfter  kind = "failure-after"  // the server serves a request, and the answer is 500
	timeoutBefore kind = "timeout-before" // the answer is 504, and the request is not served
	overloaded    kind = "overloaded"     // the answer is 429 without Retry-After
	refused       kind = "refused"        // admission refuses a write with 403 this time
	invalid       kind = "invalid"        // a policy refuses a write with 422, until a person mends it
	conflict      kind = "conflict"       // the answer to a create is the conflict of a quota
	expired       kind = "expired"        // the version of a page or of a watch is too old
)

func refusals() []effect {
	any := func(*point, *result) []string { return once(true) }
	write := func(p *point, _ *result) []string { return once(p.writes() && p.request.Resource.Resource != "") }
	return []effect{
		{kind: failureAfter, at: func(p *point, _ *result) []string { return once(p.writes()) }, serve: failAfter},
		{kind: timeoutBefore, at: any, serve: refuseWith(meta.Status{
			Code: http.StatusGatewayTimeout, Reason: "Timeout", Message: "Timeout: request did not complete within the allotted timeout",
		})},
		{kind: overloaded, at: any, serve: refuseWith(meta.Status{
			Code: http.StatusTooManyRequests, Reason: "TooManyRequests", Message: "Too many requests, please try again later.",
		})},
		{kind: refused, at: write, serve: refuseAdmission},
		{kind: invalid, at: write, prepare: mendLater, serve: refuseInvalid},
		{kind: conflict, at: func(p *point, _ *result) []string {
			return once(p.request.Verb == "create" && p.request.Key.Namespace != "" && p.request.Subresource == "")
		}, serve: refuseByQuota},
		{kind: expired, at: func(p *point, _ *result) []string { return once(p.mayExpire()) }, prepare: expire},
	}
}

func failAfter(p *point, _ disturbance, rw http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
	p.life.world.tell("%s -> %d, but the answer is 500", p, p.ask(r).Code)
	clienttest.Answer(meta.Status{
		Code: http.StatusInternalServerError, Reason: "InternalError", Message: "Internal error occurred: the connection to etcd broke",
	})(rw, r)
}

// refuseWith answers a request with a failure, and does not serve it.
func refuseWith(status meta.Status) func(*point, disturbance, http.ResponseWriter, *http.Request, http.HandlerFunc) {
	return func(p *point, _ disturbance, rw http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		p.life.world.tell("%s, which is answered with %d and not served: %s", p, status.Code, status.Message)
		clienttest.Answer(status)(rw, r)
	}
}

func refuseAdmission(p *point, d disturbance, rw http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	message := `admission webhook "policy.example.com" denied the request: not now`
	if p.request.Verb == "create" {
		of := p.request.Resource.Resource
		message = fmt.Sprintf(`%s %q is forbidden: exceeded quota: objects, requested: count/%s=1, used: count/%s=9, limited: count/%s=9`,
			of, p.nameOfObject(), of, of, of)
	}
	refuseWith(meta.Status{Code: http.StatusForbidden, Reason: "Forbidden", Message: message})(p, d, rw, r, next)
}

func refuseInvalid(p *point, d disturbance, rw http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	message := fmt.Sprintf(`%s %q is invalid: : ValidatingAdmissionPolicy 'policy' with binding 'policy' denied request: not allowed`,
		p.request.Resource.Resource, p.nameOfObject())
	refuseWith(meta.Status{Code: http.StatusUnprocessableEntity, Reason: "Invalid", Message: message})(p, d, rw, r, next)
}

func refuseByQuota(p *point, d disturbance, rw http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	refuseWith(meta.Status{Code: http.StatusConflict, Reason: "Conflict", Message: `Operation cannot be fulfilled on resourcequotas "objects": ` +
		`the object has been modified; please apply your changes to the latest version and try again`})(p, d, rw, r, next)
}

// mendLater has a person correct, after a while, the policy that refuses a write, and touch each object that people
// have made. So a controller that treats the refusal as permanent sees a change.
func mendLater(w *world, _ *point, _ disturbance) {
	w.last(func() {
		for _, r := range w.ledger.records {
			if r.present && r.made == byUser && !isForeign(r.name()) {
				w.annotate(r)
			}
		}
		w.tell("user: the policy is mended, and all objects of people are annotated")
		w.lookEverywhere(byUser)
	})
}

// annotate changes an annotation of an object.
func (w *world) annotate(r *record) {
	change := map[string]any{"metadata": map[string]any{"annotations": map[string]any{mendedAnnotation: fmt.Sprint(w.rests)}}}
	if err := w.merge(r, change); err != nil {
		w.tell("user: annotate %s%s", r.name(), failed(err))
	}
}

const mendedAnnotation = "explore.bowline.dev/mended"

// mayExpire reports whether the request names a version that may be too old: a watch, or a further page of a list.
func (p *point) mayExpire() bool {
	return p.populated && (p.request.Verb == "watch" && p.query.Get("resourceVersion") != "" ||
		p.request.Verb == "list" && p.query.Get("continue") != "")
}

// expire changes an object of the resource, and makes the server forget all older versions.
func expire(w *world, p *point, _ disturbance) {
	i := slices.IndexFunc(w.ledger.records, func(r *record) bool { return r.present && r.of == p.request.Resource })
	if i < 0 {
		return
	}
	w.annotate(w.ledger.records[i])
	w.server.Compact()
	w.tell("the server forgets its history, right before %s", p)
	w.look(byUser, p.request.Resource)
}

// nameOfObject returns the name in the request, or in its body.
func (p *point) nameOfObject() string {
	if p.request.Key.Name != "" {
		return p.request.Key.Name
	}
	return p.metadata().Name
}
