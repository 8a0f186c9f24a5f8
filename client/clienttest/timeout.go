package clienttest

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// serve answers a request within the time of its parameter timeout.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, p *Replica) error {
	timeout, err := timeoutOf(r)
	switch {
	case err != nil:
		return err
	case timeout <= 0:
		return s.route(w, r, p)
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	if err = s.route(w, r.WithContext(ctx), p); err == nil || ctx.Err() == nil || r.Context().Err() != nil {
		return err
	}
	// A real server writes this Status outside of its usual code, so it has no kind, and is called plain text.
	writeBody(w, http.StatusGatewayTimeout, "text/plain; charset=utf-8", []byte(`{"metadata":{},"status":"Failure",`+
		`"message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}`+"\n"))
	return nil
}

// timeoutOf returns the parameter timeout, which all requests have except those that may take long. 0 and less mean no limit.
func timeoutOf(r *http.Request) (time.Duration, error) {
	q := RequestOf(r)
	text := r.URL.Query().Get("timeout")
	if text == "" || q.Verb == "watch" || slices.Contains([]string{"attach", "exec", "log", "portforward", "proxy"}, q.Subresource) {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, status.BadRequest("invalid timeout specified in the request URL - %v", err)
	}
	return d, nil
}
