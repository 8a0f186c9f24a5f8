package clienttest

import (
	"cmp"
	"io"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/network"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// DropWatches cuts every open watch, within a frame and without an end of the body, as a proxy or a dying server does.
// It returns the number of watches, after they have ended.
func (s *Server) DropWatches() int { return s.store.End(store.ErrDropped) }

// EndWatches ends every open watch as its timeout would: with a proper end of its body. It returns the number of
// watches, and does not wait for those whose clients do not read.
func (s *Server) EndWatches() int { return s.store.End(store.ErrEnded) }

// FailWatches ends every open watch with an ERROR event that has a Status, such as one with Code 410 and Reason
// "Expired", or with Code 429 and Details.RetryAfterSeconds. The fields that every failure has may be left out.
// FailWatches returns the number of watches, and does not wait for those whose clients do not read.
func (s *Server) FailWatches(status meta.Status) int { return s.store.End(watchError(status)) }

func watchError(s meta.Status) error { return &status.Error{Status: inFull(s)} }

// Watches returns the number of open watches.
func (s *Server) Watches() int { return s.store.Watches() }

// Intercept sets a function that sees each request before the server does. It replaces the previous one; nil removes
// it. If the function returns a handler, that handler answers the request; if it returns nil, the server does. Several
// goroutines may call the function at once. It should not read the request's body.
//
// [RequestOf] parses a request. [Answer], [TooManyRequests], [Conflict], [Frames], [HTML], [Raw], [Reset] and [Hang]
// make handlers that answer in the server's place. [Server.CutBody], [Server.ResetBody], [Server.Stall], [Server.Drip]
// and [Server.Rewrite] damage the usual answer. A custom handler calls [Server.ServeHTTP] for the usual answer.
func (s *Server) Intercept(f func(*http.Request) http.HandlerFunc) {
	if f == nil {
		s.hook.Store(nil)
		return
	}
	s.hook.Store(&f)
}

// Answer returns a handler that answers with a Status, whose Code is the HTTP status code. The fields that every
// failure has may be left out. Details.RetryAfterSeconds is also sent as the Retry-After header.
func Answer(status meta.Status) http.HandlerFunc {
	status = inFull(status)
	return func(w http.ResponseWriter, _ *http.Request) { writeStatus(w, status) }
}

// inFull adds the fields that every failure has.
func inFull(status meta.Status) meta.Status {
	status.Status = cmp.Or(status.Status, "Failure")
	if status.Kind == "" {
		status.TypeMeta = meta.TypeMeta{Kind: "Status", APIVersion: "v1"}
	}
	return status
}

// TooManyRequests returns a handler that answers 429 and asks the client to wait. The time is rounded up to whole
// seconds; 0 sends no Retry-After.
func TooManyRequests(after time.Duration) http.HandlerFunc {
	return Answer(meta.Status{
		Code: http.StatusTooManyRequests, Reason: "TooManyRequests", Message: "Too many requests, please try again later.",
		Details: &meta.StatusDetails{RetryAfterSeconds: int((after + time.Second - 1) / time.Second)},
	})
}

// Conflict returns a handler that answers 409, like the server when an object has changed between the read and the
// update.
func Conflict() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := RequestOf(r)
		res := &resource{Resource: Resource{Group: q.Resource.Group, Resource: q.Resource.Resource}}
		writeStatus(w, status.Conflict(res, q.Key.Name, status.Modified).Status)
	}
}

// Frames returns a handler that answers 200 with these lines, as a watch with these events. They may be events that a
// server should not send, such as an object of another kind, a version that goes back, or half a frame. The answer
// then ends properly, or, if hold is true, stays open until the client leaves. [Server.FailWatches] sends an ERROR
// event.
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

// HTML returns a handler that answers 200 with a page, like a captive portal or a proxy that asks for a login.
func HTML() http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeBody(w, http.StatusOK, "text/html; charset=utf-8", []byte("<html><title>Please log in</title></html>\n"))
	}
}

// Raw returns a handler that sends any bytes in place of an HTTP/1.1 answer, and closes the connection. HTTP/2 has no
// equivalent: there the request ends with an error.
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

// Reset returns a handler that aborts the connection without an answer: the client reads "connection reset by peer".
// Over HTTP/2 that ends every request on the connection.
func Reset() http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		if c := network.ConnOf(r); c != nil {
			c.Reset(false)
		}
		panic(http.ErrAbortHandler)
	}
}

// Hang returns a handler that does not answer until the client gives up or the server ends, and then breaks the
// connection.
func Hang() http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}
