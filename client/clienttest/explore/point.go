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
	content      []byte            // its body
	cached       bool              // it may be answered from the server's cache, as it is
	sent         time.Time         // when the program sent it
	client       context.Context   // ends when the program does not wait for the answer any more
	lease        *leaseText        // that the server has, after a write of a lease
	granted      chan struct{}     // closed when the scheduler lets it through, after it has set what follows
	passed       int               // how many others the scheduler has let through meanwhile
	place        place             // if it is counted
	offers       map[kind][]string // the roles of the objects that others may edit
	populated    bool              // there are objects of the resource
	wrong        []disturbance     // what goes wrong at it
	stale        bool              // the API server that is behind answers it

	writtenBefore int    // how many writes of the run were before it
	body          uint64 // its hash
	step          int    // how many steps of the history were begun before
	past          uint64 // the hash of all that came before
	changed       bool   // whether the server has done a write for it
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

// said returns the request with what the server has answered: the version of what was written, or an error.
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
	_ = json.Unmarshal(answer.Body.Bytes(), &object) // in other encodings it stays zero
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

// class says what the request does to which kind of objects.
func (p *point) class() string {
	q := p.request
	if q.Resource.Resource == "" {
		return q.Verb + ":" + p.path
	}
	return strings.TrimSuffix(q.Verb+":"+q.Resource.Resource+"/"+q.Subresource, "/")
}

// counted reports whether something may go wrong at the request. Renewals of leases are left out.
func (p *point) counted() bool { return p.request.Resource.Resource != "leases" }

// discovers reports whether the request reads no objects, but what the server serves. It is answered at once. Clients
// hold a mutex meanwhile (the RESTMapper of controller-runtime does), and a goroutine that waits for a mutex keeps a
// bubble from being blocked: so the scheduler would wait for ever.
func (p *point) discovers() bool { return p.request.Resource.Resource == "" && !p.writes() }

// compare orders requests that wait at the same moment, so that a run can be played again. The oldest goes first: a
// program that sends so many that each takes a while must not keep the others waiting until their clients give up. The
// same goes for one that many others of the same age have passed.
func (p *point) compare(other *point) int {
	const many = 50
	return cmp.Or(p.sent.Compare(other.sent), cmp.Compare(other.passed/many, p.passed/many),
		strings.Compare(p.life.name+" "+p.path+" "+p.method, other.life.name+" "+other.path+" "+other.method))
}

// refuse answers the request without serving it.
func (p *point) refuse(rw http.ResponseWriter, r *http.Request, code int, reason string) {
	p.life.world.tell("%s, which is answered with %d and not served", p, code)
	clienttest.Answer(meta.Status{Code: code, Reason: reason, Message: "explore"})(rw, r)
}

// handle answers the request, with what goes wrong at it.
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

// serve answers the request as if nothing went wrong.
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

// ask gives the request to the server, and returns the answer. The request must not be a watch.
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

// metadata returns the metadata of the object in the body, as far as that is JSON.
func (p *point) metadata() (is meta.ObjectMeta) {
	var body struct {
		Metadata *meta.ObjectMeta `json:"metadata"`
	}
	body.Metadata = &is
	_ = json.Unmarshal(p.content, &body)
	return is
}

// answer gives an answer of the server to the program.
func (p *point) answer(rw http.ResponseWriter, answer *httptest.ResponseRecorder) {
	maps.Copy(rw.Header(), answer.Header())
	rw.WriteHeader(answer.Code)
	if _, err := rw.Write(answer.Body.Bytes()); err == nil && p.client.Err() == nil {
		p.had()
	}
}
