package explore

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// pause is how long a slow answer takes, and how long a silence lasts. It is longer than a lease, and shorter than quiet.
const pause = 40 * time.Second

// point is a request of the program.
type point struct {
	life         *life
	request      clienttest.Request
	method, path string
	place        place // set when it is let through, if it is counted
	granted      chan kind
}

func (p *point) String() string {
	return fmt.Sprintf("replica %s: %s %s", p.life.name, p.method, p.path)
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

// compare orders requests that wait at the same moment, so that a run can be played again.
func (p *point) compare(other *point) int {
	return strings.Compare(p.life.name+" "+p.path+" "+p.method, other.life.name+" "+other.path+" "+other.method)
}

// refuse answers the request without serving it.
func (p *point) refuse(rw http.ResponseWriter, r *http.Request, code int, reason string) {
	p.life.world.tell("%s, which is answered with %d and not served", p, code)
	clienttest.Answer(meta.Status{Code: code, Reason: reason, Message: "explore"})(rw, r)
}

// finish gives the answer of the server to the program, unless something goes wrong.
func (p *point) finish(what kind, rw http.ResponseWriter, r *http.Request, answer *httptest.ResponseRecorder) {
	w := p.life.world
	result := fmt.Sprintf("%s -> %d", p, answer.Code)
	switch what {
	case crashAfter:
		w.tell("%s, and dies before the answer", result)
		p.life.crash()
		panic(http.ErrAbortHandler)
	case lostAnswer:
		w.tell("%s, but the connection breaks before the answer", result)
		panic(http.ErrAbortHandler)
	case timeout:
		w.tell("%s, but the answer is 504", result)
		clienttest.Answer(meta.Status{Code: http.StatusGatewayTimeout, Reason: "Timeout", Message: "explore"})(rw, r)
		return
	case slow:
		w.tell("%s, and the answer takes 40 s", result)
		select {
		case <-time.After(pause):
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	default:
		if p.counted() {
			w.tell("%s", result)
		}
	}
	maps.Copy(rw.Header(), answer.Header())
	rw.WriteHeader(answer.Code)
	_, _ = rw.Write(answer.Body.Bytes())
}
