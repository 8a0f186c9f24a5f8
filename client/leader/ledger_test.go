package leader_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// ledger stands before the server. It notes which writes the server accepts, and when, breaks requests while it is told to, and
// checks that nobody writes who does not lead. A moment is that of the server; nothing here knows the contenders' clocks.
type ledger struct {
	server *clienttest.Server
	start  time.Time

	mu     sync.Mutex // guards the rest; held while the server handles a write
	rng    *rand.Rand
	chance float64 // that a request is broken
	holder string  // of the lease
	term   int64
	uid    string
	since  time.Time     // when the server accepted the last renewal
	lasts  time.Duration // leaseDurationSeconds
	renew  string

	accepted, inFlight, terms int
	wrong                     []string
}

// stamp is what a leader writes.
type stamp struct {
	Identity string `json:"identity"`
	Term     string `json:"term"`
	UID      string `json:"uid"`
}

// fence is the object that leaders write to.
var fence = meta.Key{Namespace: "default", Name: "fence"}

func (l *ledger) now() time.Duration { return time.Since(l.start) }

func (l *ledger) fault(format string, args ...any) {
	if len(l.wrong) < 5 {
		l.wrong = append(l.wrong, fmt.Sprintf("%v: ", l.now())+fmt.Sprintf(format, args...))
	}
}

// leads returns why the writer of s does not certainly lead now; empty if it does. The caller holds mu.
func (l *ledger) leads(s stamp) string {
	switch {
	case s.Identity != l.holder || s.Term != fmt.Sprint(l.term) || s.UID != l.uid:
		return fmt.Sprintf("%q holds the lease in term %d", l.holder, l.term)
	case time.Since(l.since) >= l.lasts:
		return fmt.Sprintf("another one could have the lease since %v", l.since.Add(l.lasts).Sub(l.start))
	}
	return ""
}

// breaks chooses what happens to a request.
func (l *ledger) breaks() (kind int, delay time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rng.Float64() >= l.chance {
		return 0, 0
	}
	return 1 + l.rng.IntN(8), time.Duration(l.rng.Int64N(int64(9 * time.Second)))
}

// intercept handles the requests of contenders.
func (l *ledger) intercept(r *http.Request) http.HandlerFunc {
	q := clienttest.RequestOf(r)
	leases, fenced := q.Resource.Resource == "leases", q.Resource.Resource == "configmaps"
	if !leases && !fenced {
		return nil
	}
	kind, delay := l.breaks()
	if q.Verb == "watch" {
		switch kind {
		case 1, 2:
			return clienttest.Reset()
		case 3:
			return clienttest.Frames(true) // silent
		case 4:
			return clienttest.Answer(meta.Status{Code: http.StatusInternalServerError, Message: "broken"})
		}
		return nil
	}
	if q.Verb == "get" {
		switch kind {
		case 1, 2:
			return clienttest.Reset()
		case 3:
			return clienttest.Answer(meta.Status{Code: http.StatusInternalServerError, Message: "broken"})
		case 4:
			return clienttest.Hang()
		case 5:
			return func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(delay)
				l.server.ServeHTTP(w, r)
			}
		}
		return nil
	}
	switch kind {
	case 1:
		return clienttest.Reset()
	case 2:
		return clienttest.Answer(meta.Status{Code: http.StatusInternalServerError, Message: "broken"})
	case 3:
		return clienttest.TooManyRequests(time.Second)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // its gate has closed: the body is cut
		}
		var s stamp
		if fenced {
			s = l.arrives(body)
		}
		if kind == 4 || kind == 5 { // it is under way for long, and lands also if nobody waits for it any more
			time.Sleep(delay)
		}
		answer := l.handle(r, body, leases, s)
		switch kind {
		case 5, 6: // made, and the answer lost
			clienttest.Reset()(w, r)
		case 7: // made, and the answer late
			time.Sleep(delay)
		case 8:
			clienttest.Answer(meta.Status{Code: http.StatusGatewayTimeout, Reason: "Timeout", Message: "made, perhaps"})(w, r)
			return
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}
}

// arrives checks a write of a leader when it arrives, which is when it was sent: the network takes no time.
func (l *ledger) arrives(body []byte) stamp {
	var o struct {
		Data stamp `json:"data"`
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := json.Unmarshal(body, &o); err != nil {
		l.fault("a write cannot be read: %v", err)
	}
	if why := l.leads(o.Data); why != "" {
		l.fault("%q has sent a write in term %s, and %s", o.Data.Identity, o.Data.Term, why)
	}
	return o.Data
}

// handle lets the server handle a write, and notes what it accepts. The server sees the whole body, whoever still waits.
func (l *ledger) handle(r *http.Request, body []byte, lease bool, s stamp) *httptest.ResponseRecorder {
	l.mu.Lock()
	defer l.mu.Unlock()
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	l.server.ServeHTTP(answer, again)
	if answer.Code >= 300 {
		return answer
	}
	if !lease {
		l.accepted++
		if l.leads(s) != "" {
			l.inFlight++ // it was sent in time; nobody can call it back
		}
		return answer
	}
	var stored meta.Unstructured
	if err := json.Unmarshal(answer.Body.Bytes(), &stored); err != nil {
		l.fault("an answer cannot be read: %v", err)
		return answer
	}
	holder, _, _ := meta.Nested[string](&stored, "spec", "holderIdentity")
	term, _, _ := meta.Nested[int64](&stored, "spec", "leaseTransitions")
	seconds, _, _ := meta.Nested[int64](&stored, "spec", "leaseDurationSeconds")
	renew, _, _ := meta.Nested[string](&stored, "spec", "renewTime")
	if renew == l.renew && holder == l.holder {
		return answer // somebody has annotated it
	}
	if holder != l.holder && holder != "" {
		l.terms++
		if l.holder != "" && time.Since(l.since) < l.lasts {
			l.fault("%q has taken the lease from %q, which had it until %v", holder, l.holder, l.since.Add(l.lasts).Sub(l.start))
		}
		if term <= l.term && l.uid != "" {
			l.fault("term %d of %q follows term %d", term, holder, l.term)
		}
	}
	l.holder, l.term, l.uid, l.renew = holder, term, stored.GetUID(), renew
	l.since, l.lasts = time.Now(), time.Duration(seconds)*time.Second
	return answer
}
