package clienttest

import (
	"net"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/memnet"
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
	var cut []*watch
	for _, r := range s.store.resources {
		for w := range r.objects.watches {
			w.cut(errDropped)
			cut = append(cut, w)
		}
	}
	s.store.mu.Unlock()
	for _, w := range cut {
		<-w.done
	}
	return len(cut)
}

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
// [RequestOf] says what a request asks for. [Answer], [TooManyRequests], [Conflict], [Reset], [Hang] and
// [Server.CutBody] make the usual handlers, and [Server.ServeHTTP] gives the usual answer from within one.
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
	if status.Status == "" {
		status.Status = "Failure"
	}
	return func(w http.ResponseWriter, _ *http.Request) { writeStatus(w, status) }
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
		writeStatus(w, conflict(res, q.Key.Name, modified).status)
	}
}

// CutBody returns a handler that gives the server's usual answer, and breaks the connection off after n bytes of its
// body. A shorter body stays whole.
func (s *Server) CutBody(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(&cutWriter{ResponseWriter: w, left: n}, r)
	}
}

// cutWriter aborts the handler when too much is written.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(b []byte) (int, error) {
	if len(b) <= c.left {
		c.left -= len(b)
		return c.ResponseWriter.Write(b)
	}
	_, _ = c.ResponseWriter.Write(b[:c.left])
	c.left = 0 // what the handler's deferred functions still write is lost as well
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// Unwrap gives http.ResponseController the writer below.
func (c *cutWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Reset returns a handler that aborts the connection without an answer: the client reads "connection reset by peer".
func Reset() http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		switch c := conn.(type) {
		case *memnet.Conn:
			c.Reset()
		case *net.TCPConn:
			_ = c.SetLinger(0) // close with RST instead of FIN
		}
		_ = conn.Close()
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
