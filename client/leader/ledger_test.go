package leader_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/faults"
)

// ledger stands before the server. It notes which writes the server accepts, and when, and checks that nobody writes who does
// not lead. A moment is that of the server; nothing here knows the contenders' clocks.
type ledger struct {
	server *faults.Server
	start  time.Time

	mu     sync.Mutex // guards the rest; held while the server handles a write
	holder string     // of the lease
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

// intercept handles the requests of contenders.
func (l *ledger) intercept(r *http.Request) http.HandlerFunc {
	q := clienttest.RequestOf(r)
	leases, fenced := q.Resource.Resource == "leases", q.Resource.Resource == "configmaps"
	if !leases && !fenced {
		return nil
	}
	var s stamp
	return l.server.Handler(r, func(body []byte) {
		if fenced {
			s = l.arrives(body)
		}
	}, func(r *http.Request, body []byte) *httptest.ResponseRecorder { return l.handle(r, body, leases, s) })
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

// handle lets the server handle a write, and notes what it accepts.
func (l *ledger) handle(r *http.Request, body []byte, lease bool, s stamp) *httptest.ResponseRecorder {
	l.mu.Lock()
	defer l.mu.Unlock()
	answer := l.server.Answer(r, body)
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
