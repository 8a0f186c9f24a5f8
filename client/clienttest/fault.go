package clienttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/network"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// Compact makes the server forget what has happened. From then on a list at an earlier resource version is answered
// with 410 Expired, and so is every continue token that was given for one; a watch from there gets 410 as its first
// event. Watches that run already go on, as they do on a real server.
func (s *Server) Compact() {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.store.compact()
}

// DropWatches cuts every watch that runs, within a frame and without an end of the body, as a proxy or a dying server
// does. It returns how many there were, once they have ended.
func (s *Server) DropWatches() int {
	s.store.mu.Lock()
	cut := s.store.cutWatches(errDropped)
	s.store.mu.Unlock()
	for _, w := range cut {
		<-w.done
	}
	return len(cut)
}

// EndWatches ends every watch that runs as if its time were over: with a proper end of its body. It returns how many
// there were, and does not wait for those whose clients do not read.
func (s *Server) EndWatches() int {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	return len(s.store.cutWatches(errEnded))
}

// FailWatches ends every watch that runs with an ERROR event that has a Status, such as one with Code 410 and Reason
// "Expired", or with Code 429 and Details.RetryAfterSeconds. The fields that every failure has may be left out. It returns how
// many there were, and does not wait for those whose clients do not read.
func (s *Server) FailWatches(status meta.Status) int {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	return len(s.store.cutWatches(failedWith(status)))
}

// failedWith is a failure of its own words.
func failedWith(s meta.Status) error { return &status.Error{Status: complete(s)} }

// Watches returns how many watches run.
func (s *Server) Watches() int {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	n := 0
	for _, r := range s.store.resources {
		n += len(r.objects.watches)
	}
	return n
}

// Intercept sets a function that sees each request before the server does, and replaces the one that was set before;
// nil takes it away. When it returns a handler, that answers the request; when it returns nil, the server does. It is
// called by many goroutines at once, and should leave the request's body alone.
//
// [RequestOf] says what a request asks for. [Answer], [TooManyRequests], [DisruptionBudget], [Conflict], [Frames], [HTML],
// [Raw], [Reset] and [Hang] make handlers that answer in the server's place. [Server.CutBody], [Server.ResetBody],
// [Server.Stall], [Server.Drip], [Server.WrongLength], [Server.TruncatedGzip] and [Server.Trailing] spoil the usual answer,
// which [Server.ServeHTTP] gives from within a handler of one's own.
func (s *Server) Intercept(f func(*http.Request) http.HandlerFunc) {
	if f == nil {
		s.hook.Store(nil)
		return
	}
	s.hook.Store(&f)
}

// Answer returns a handler that answers with a Status, whose Code is the HTTP status code. The fields that every
// failure has may be left out. Details.RetryAfterSeconds becomes the Retry-After header as well.
func Answer(status meta.Status) http.HandlerFunc {
	status = complete(status)
	return func(w http.ResponseWriter, _ *http.Request) { writeStatus(w, status) }
}

// complete adds what every failure has.
func complete(status meta.Status) meta.Status {
	if status.Status == "" {
		status.Status = "Failure"
	}
	if status.Kind == "" {
		status.TypeMeta = meta.TypeMeta{Kind: "Status", APIVersion: "v1"}
	}
	return status
}

// TooManyRequests returns a handler that answers 429 and asks to wait. The time is rounded up to whole seconds; 0
// sends no Retry-After.
func TooManyRequests(after time.Duration) http.HandlerFunc {
	return Answer(meta.Status{
		Code: http.StatusTooManyRequests, Reason: "TooManyRequests", Message: "Too many requests, please try again later.",
		Details: &meta.StatusDetails{RetryAfterSeconds: seconds(after)},
	})
}

// Conflict returns a handler that answers 409 as an update of an object does that has changed meanwhile.
func Conflict() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := RequestOf(r)
		res := &resource{Resource: Resource{Group: q.Resource.Group, Resource: q.Resource.Resource}}
		writeStatus(w, status.Conflict(res, q.Key.Name, status.Modified).Status)
	}
}

// Frames returns a handler that answers 200 with these lines, as a watch with these events: those that a server should not
// send are possible, too, such as an object of another kind, a version that goes back, or half a frame. Then the answer
// ends properly, or, if hold is true, stays open until the client leaves. [ErrorFrame] makes the line of an ERROR event.
func Frames(hold bool, lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaJSON)
		w.WriteHeader(http.StatusOK)
		for _, line := range lines {
			_, _ = io.WriteString(w, line+"\n")
		}
		_ = http.NewResponseController(w).Flush()
		if hold {
			<-r.Context().Done()
		}
	}
}

// ErrorFrame returns an ERROR event with a Status, as a line of a watch. The fields that every failure has may be left out.
func ErrorFrame(status meta.Status) string {
	b, err := json.Marshal(complete(status))
	if err != nil {
		panic(fmt.Sprintf("clienttest: encode a Status: %v", err)) // it has nothing that cannot be
	}
	return `{"type":"ERROR","object":` + string(b) + `}`
}

// HTML returns a handler that answers 200 with a page, as a captive portal or a proxy does that wants somebody to log in.
func HTML() http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeBody(w, http.StatusOK, "text/html; charset=utf-8", []byte("<html><title>Please log in</title></html>\n"))
	}
}

// Raw returns a handler that sends bytes in place of an HTTP/1.1 answer, whatever they are, and closes the connection. On
// HTTP/2, where there is no such thing, the request ends with an error.
func Raw(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(conn, answer)
		_ = conn.Close()
	}
}

// Reset returns a handler that aborts the connection without an answer: the client reads "connection reset by peer". Over
// HTTP/2 that ends every request on the connection.
func Reset() http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		if c := network.ConnOf(r); c != nil {
			c.Reset(false)
		}
		panic(http.ErrAbortHandler)
	}
}

// Hang returns a handler that does not answer until the client gives up or the server ends, and then breaks the
// connection off.
func Hang() http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}
