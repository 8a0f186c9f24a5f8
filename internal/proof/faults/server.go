package faults

import (
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// Server is a server with faults.
type Server struct {
	*clienttest.Server
	replicas int

	mu     sync.Mutex // guards the fields below
	rng    *rand.Rand
	chance float64 // of a request to be broken
}

// NewServer returns s with faults. replicas are those of its options.
func NewServer(s *clienttest.Server, replicas int, rng *rand.Rand) *Server {
	return &Server{Server: s, replicas: max(replicas, 1), rng: rng}
}

// ServerKinds are the kinds of faults that [Server.Do] knows.
func ServerKinds() []string {
	return []string{
		"away", "black hole", "half-open", "drop watches", "end watches", "fail watches", "compact", "requests", "requests", "requests", "lag",
	}
}

// Do makes a step, and returns when its fault has ended. It ignores other kinds.
func (s *Server) Do(step Step) {
	switch step.Kind {
	case "away":
		s.Freeze()
		s.Refuse(syscall.ECONNREFUSED)
		time.Sleep(step.For)
		s.Refuse(nil)
	case "black hole":
		s.Freeze()
		s.BlackHole(true)
		time.Sleep(step.For)
		s.BlackHole(false)
	case "half-open":
		s.Freeze()
	case "drop watches":
		s.DropWatches()
	case "end watches":
		s.EndWatches()
	case "fail watches":
		s.FailWatches(meta.Status{Code: http.StatusGone, Reason: "Expired", Message: "too old"})
	case "compact":
		s.Compact()
	case "requests":
		s.setChance(0.1 + float64(step.By.Abs()%9)/10)
		time.Sleep(step.For)
		s.setChance(0)
	case "lag":
		r := s.Replica(step.Who % s.replicas)
		r.SetLag(0, step.By.Abs()%(10*time.Second))
		time.Sleep(step.For)
		r.SetLag(0, 0)
	}
}

func (s *Server) setChance(p float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chance = p
}

// The faults of a request. Handler says what they are for a read.
const (
	whole = iota
	reset
	internalError
	refused      // for a write: 429; for a read: no answer at all
	slow         // it is under way for long, and a write is handled even if its sender no longer waits
	slowAndLost  // and then the answer is lost
	answerLost   // the server has handled it
	answerLate   // the server has handled it
	unknown      // the server has handled it, and answers 504
	kindsOfFault = iota - 1
)

func (s *Server) breaks() (kind int, delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rng.Float64() >= s.chance {
		return whole, 0
	}
	return 1 + s.rng.IntN(kindsOfFault), time.Duration(s.rng.Int64N(int64(9 * time.Second)))
}

// Handler chooses what happens to a request of a process. It returns nil if nothing does. arrives is called with the
// body of a write when it arrives, which is when it was sent, because the network takes no time; handle answers it.
// A read that is refused never gets an answer; one that is slow or answered late is late; others lose their connection,
// or bring a watch that stays silent.
func (s *Server) Handler(q *http.Request, arrives func(body []byte), handle func(r *http.Request, body []byte) *httptest.ResponseRecorder) http.HandlerFunc {
	kind, delay := s.breaks()
	broken := clienttest.Answer(meta.Status{Code: http.StatusInternalServerError, Message: "broken"})
	switch kind {
	case reset:
		return clienttest.Reset()
	case internalError:
		return broken
	}
	switch clienttest.RequestOf(q).Verb {
	case "watch":
		if kind == answerLost {
			return clienttest.Frames(true) // a watch that brings nothing
		}
		fallthrough
	case "list", "get":
		switch kind {
		case refused:
			return clienttest.Hang()
		case slowAndLost, unknown:
			return clienttest.Reset()
		case slow, answerLate:
			return func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(delay)
				s.ServeHTTP(w, r)
			}
		}
		return nil
	}
	if kind == refused {
		return clienttest.TooManyRequests(time.Second)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // its gate has closed: the body is cut
		}
		arrives(body)
		if kind == slow || kind == slowAndLost {
			time.Sleep(delay)
		}
		answer := handle(r, body)
		switch kind {
		case slowAndLost, answerLost:
			clienttest.Reset()(w, r)
		case answerLate:
			time.Sleep(delay)
		case unknown:
			clienttest.Answer(meta.Status{Code: http.StatusGatewayTimeout, Reason: "Timeout", Message: "made, perhaps"})(w, r)
			return
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}
}

// Answer has the server handle a write whose whole body has been read, even if its sender no longer waits.
func (s *Server) Answer(r *http.Request, body []byte) *httptest.ResponseRecorder {
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, again)
	return answer
}
