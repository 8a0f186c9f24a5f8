package explore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// pause is how long a slow answer takes, how long a silence lasts, and how long an API server is behind. It is longer
// than a lease, and shorter than quiet.
const pause = 40 * time.Second

// point is a request of the program.
type point struct {
	life         *life
	request      clienttest.Request
	method, path string
	query        url.Values
	content      []byte            // the body
	cached       bool              // the server may answer it from its cache, however old that is
	sent         time.Time         // when the program sent it
	client       context.Context   // ends when the program no longer waits for the answer
	lease        *leaseText        // the lease in the answer, or on the server after a write of it
	granted      chan struct{}     // closed when the scheduler lets it through, after setting the fields below
	passed       int               // how many other requests the scheduler has let through while it waited
	place        place             // zero if it is not counted
	offers       map[kind][]string // the roles of the objects that each edit or claim can change
	populated    bool              // the resource has objects
	wrong        []disturbance     // the disturbances at it
	stale        bool              // the API server that is behind answers it

	writtenBefore int    // how many writes and steps of the run came before it
	body          uint64 // the hash of the query and the body
	step          int    // how many steps of the history had begun
	past          uint64 // the digest of the world before it
	changed       bool   // the server's resource version changed while it was served
}

// String returns the request as in "replica A: PUT configmaps/status default/home".
func (p *point) String() string { return "replica " + p.life.name + ": " + p.what(p.nameOfObject()) }

// what returns the request, with the name of its object.
func (p *point) what(name string) string {
	q := p.request
	if q.Resource.Resource == "" {
		return p.method + " " + p.path
	}
	method, object := p.method, q.Resource.Resource
	if q.Verb == "list" || q.Verb == "watch" {
		method = strings.ToUpper(q.Verb)
	}
	if q.Subresource != "" {
		object += "/" + q.Subresource
	}
	return strings.TrimSuffix(method+" "+object+" "+strings.TrimPrefix(q.Key.Namespace+"/"+name, "/"), " ")
}

// object returns the object of the request, as in "configmaps default/home".
func (p *point) object() string {
	return p.request.Resource.Resource + " " + strings.TrimPrefix(p.request.Key.Namespace+"/"+p.request.Key.Name, "/")
}

// said returns the request with the server's answer: the version of the written object, or the error.
func (p *point) said(answer *httptest.ResponseRecorder) string {
	if !p.writes() && answer.Code < http.StatusBadRequest {
		return p.String()
	}
	var object struct {
		Metadata struct {
			Name            string `json:"name"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Reason  string `json:"reason"`
		Details struct {
			Name string `json:"name"`
		} `json:"details"`
	}
	_ = json.Unmarshal(answer.Body.Bytes(), &object) // the object stays zero if the answer is not JSON
	text := "replica " + p.life.name + ": " + p.what(cmp.Or(p.request.Key.Name, object.Metadata.Name, object.Details.Name))
	if answer.Code >= http.StatusBadRequest {
		return strings.TrimSuffix(fmt.Sprintf("%s -> %d %s", text, answer.Code, object.Reason), " ")
	}
	if object.Metadata.ResourceVersion != "" {
		text += " (version " + object.Metadata.ResourceVersion + ")"
	}
	return text
}

// writes reports whether the request may change something.
func (p *point) writes() bool {
	return !slices.Contains([]string{"get", "list", "watch"}, p.request.Verb)
}

// class returns the verb of the request, and the resource and subresource, as in update:pods/status. For a request
// without a resource it returns the verb and the path.
func (p *point) class() string {
	q := p.request
	if q.Resource.Resource == "" {
		return q.Verb + ":" + p.path
	}
	return strings.TrimSuffix(q.Verb+":"+q.Resource.Resource+"/"+q.Subresource, "/")
}

// counted reports whether a disturbance may begin at the request. Requests for leases are not counted.
func (p *point) counted() bool { return p.request.Resource.Resource != "leases" }

// discovers reports whether the request is for discovery. Such a request is answered at once, without the scheduler. A
// client may hold a mutex during the request, as the RESTMapper of controller-runtime does. A goroutine that waits for
// a mutex keeps the bubble from being durably blocked, so the scheduler would wait for ever.
func (p *point) discovers() bool { return p.request.Resource.Resource == "" && !p.writes() }

// compare orders the requests that wait at the same moment, so that a run can be played again. The oldest request goes
// first: a program that sends many requests must not keep the others waiting until their clients give up. Of requests
// of the same age, one that many others have passed goes first.
func (p *point) compare(other *point) int {
	const many = 50
	return cmp.Or(p.sent.Compare(other.sent), cmp.Compare(other.passed/many, p.passed/many),
		strings.Compare(p.life.name+" "+p.path+" "+p.method, other.life.name+" "+other.path+" "+other.method))
}

// refuse answers the request with an error, and does not serve it.
func (p *point) refuse(rw http.ResponseWriter, r *http.Request, code int, reason string) {
	p.life.world.tell("%s, which is answered with %d and not served", p, code)
	clienttest.Answer(meta.Status{Code: code, Reason: reason, Message: "explore"})(rw, r)
}

// handle answers the request, and applies its disturbances.
func (p *point) handle(rw http.ResponseWriter, r *http.Request) {
	next := p.serve
	for _, d := range slices.Backward(p.wrong) {
		if serve := effectOf(d.kind).serve; serve != nil {
			inner := next
			next = func(rw http.ResponseWriter, r *http.Request) { serve(p, d, rw, r, inner) }
		}
	}
	next(listen(rw, p), r)
}

// serve answers the request undisturbed.
func (p *point) serve(rw http.ResponseWriter, r *http.Request) {
	if p.request.Verb == "watch" && p.denied(r) == nil {
		p.life.world.follow(p, rw, r)
		return
	}
	answer := p.ask(r)
	if p.counted() {
		p.life.world.note(p, p.said(answer), answer.Code >= http.StatusBadRequest)
	}
	p.life.world.untilReleased(r.Context(), silence{p.life, answered, ""})
	p.answer(rw, answer)
}

// ask passes the request to the server, and returns the answer. The request must not be a watch.
func (p *point) ask(r *http.Request) *httptest.ResponseRecorder {
	if answer := p.denied(r); answer != nil {
		return answer
	}
	w := p.life.world
	before := w.server.ResourceVersion()
	answer := httptest.NewRecorder()
	p.server().ServeHTTP(answer, r)
	if p.changed = w.server.ResourceVersion() != before; p.changed {
		w.digest.wrote(p)
		if p.counted() && p.request.Resource.Resource != "" {
			w.look(byProgram, p.request.Resource)
		}
	}
	p.readLease(answer)
	return answer
}

// metadata returns the metadata of the object in the body; zero if the body is not JSON.
func (p *point) metadata() (is meta.ObjectMeta) {
	var body struct {
		Metadata *meta.ObjectMeta `json:"metadata"`
	}
	body.Metadata = &is
	_ = json.Unmarshal(p.content, &body)
	return is
}

// answer sends an answer of the server to the program.
func (p *point) answer(rw http.ResponseWriter, answer *httptest.ResponseRecorder) {
	maps.Copy(rw.Header(), answer.Header())
	rw.WriteHeader(answer.Code)
	if _, err := rw.Write(answer.Body.Bytes()); err == nil && p.client.Err() == nil {
		p.had()
	}
}
