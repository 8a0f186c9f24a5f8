package shards_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/faults"
)

// ConfigMap is written by those who work on a range.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// ConfigMaps describes the resource.
var ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// stamp is what a replica writes when it works on a range: who it is, and which of its turns this is.
type stamp struct {
	Replica string `json:"replica"`
	Turn    string `json:"turn"`
}

// ledger stands before the server. It notes who writes for which range, and when, and checks that nobody goes on when another
// one has begun. A moment is that of the server; nothing here knows the replicas' clocks.
type ledger struct {
	server *faults.Server
	start  time.Time

	mu     sync.Mutex      // guards the rest
	cut    map[string]bool // replicas whose requests do not reach the server
	ranges map[string]*tenure
	// bound is how long a range may have no owner; 0 if the history breaks more than replicas. troubles are the moments of what happened to
	// replicas.
	bound    time.Duration
	troubles []time.Duration
	present  int       // replicas that run, and have not been told to leave
	absences []absence // times without one; the last may go on

	accepted, passed int
	longest          time.Duration
	wrong            []string
}

// absence is a time in which no replica was to have a range.
type absence struct{ from, to time.Duration }

// tenure is who works on one range.
type tenure struct {
	stamp stamp
	over  map[stamp]bool // turns that others have followed
	last  time.Duration  // of the last write
}

func (l *ledger) now() time.Duration { return time.Since(l.start) }

func (l *ledger) fault(format string, args ...any) {
	if len(l.wrong) < 5 {
		l.wrong = append(l.wrong, fmt.Sprintf("%v: ", l.now())+fmt.Sprintf(format, args...))
	}
}

// cutOff says whether requests of a replica reach the server.
func (l *ledger) cutOff(name string, cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut[name] = cut
}

// intercept handles the requests of replicas.
func (l *ledger) intercept(r *http.Request) http.HandlerFunc {
	l.mu.Lock()
	cut := l.cut[r.UserAgent()]
	l.mu.Unlock()
	if cut {
		return clienttest.Reset()
	}
	q := clienttest.RequestOf(r)
	work := q.Resource.Resource == "configmaps"
	return l.server.Handler(r, func(body []byte) {
		if work {
			l.arrives(q.Key.Name, body)
		}
	}, func(r *http.Request, body []byte) *httptest.ResponseRecorder {
		if !work {
			return l.server.Answer(r, body)
		}
		answer := httptest.NewRecorder() // that the write arrives is all that counts
		answer.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(answer, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"default","name":%q}}`, q.Key.Name)
		return answer
	})
}

// arrives checks a write of a replica when it arrives, which is when it was sent: the network takes no time.
func (l *ledger) arrives(name string, body []byte) {
	var o struct {
		Data stamp `json:"data"`
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := json.Unmarshal(body, &o); err != nil {
		l.fault("a write cannot be read: %v", err)
	}
	t, now := l.ranges[name], l.now()
	l.accepted++
	switch {
	case t == nil:
		l.ranges[name] = &tenure{stamp: o.Data, over: make(map[stamp]bool), last: now}
		return
	case t.over[o.Data]:
		l.fault("%v works on range %s, after %v has begun to", o.Data, name, t.stamp)
	case t.stamp != o.Data:
		l.passed++
		t.over[t.stamp] = true
		if gap := now - t.last; l.bound > 0 {
			l.longest = max(l.longest, gap)
			// Each failure within the gap may be that of the one who was to have it next. Nobody can have it while there is no replica.
			most := l.bound
			for _, a := range l.absences {
				most += max(0, min(a.to, now)-max(a.from, t.last))
			}
			for _, at := range l.troubles {
				if at > t.last && at < now {
					most += l.bound
				}
			}
			if gap > most {
				l.fault("range %s had no owner for %v, from %v to %v; want at most %v", name, gap, t.stamp, o.Data, most)
			}
		}
		t.stamp = o.Data
	}
	t.last = now
}

// come notes that a replica begins, and left that one has crashed or been told to leave.
func (l *ledger) come() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.present++; l.present == 1 && len(l.absences) > 0 {
		l.absences[len(l.absences)-1].to = l.now()
	}
}

func (l *ledger) left() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.present--; l.present == 0 {
		l.absences = append(l.absences, absence{from: l.now(), to: math.MaxInt64})
	}
}

// trouble notes that something happens to a replica.
func (l *ledger) trouble() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.troubles = append(l.troubles, l.now())
}
