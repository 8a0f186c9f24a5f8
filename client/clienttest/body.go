package clienttest

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/network"
)

// The handlers of this file give the server's usual answer, and damage it.

// CutBody returns a handler that gives the server's usual answer, and breaks it off after n bytes of its body: over
// HTTP/1.1 with the end of the connection, over HTTP/2 with a reset of the stream. A shorter body stays whole.
func (s *Server) CutBody(n int) http.HandlerFunc {
	return s.spoil(n, func(w http.ResponseWriter, _ *http.Request, _ <-chan struct{}) error {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
}

// ResetBody returns a handler that gives the server's usual answer, and resets the connection after n bytes of its
// body. The client reads those bytes, and then "connection reset by peer". Over HTTP/2 the reset ends every request on
// the connection, and net/http's client drops the bytes that it has not handed on. A shorter body stays whole.
func (s *Server) ResetBody(n int) http.HandlerFunc {
	return s.spoil(n, func(w http.ResponseWriter, r *http.Request, _ <-chan struct{}) error {
		_ = http.NewResponseController(w).Flush()
		if c := network.ConnOf(r); c != nil {
			c.Reset(true)
		}
		panic(http.ErrAbortHandler)
	})
}

// Stall returns a handler that gives the server's usual answer, and falls silent after n bytes of its body, until the
// client gives up, the server ends or a watch is cut. A shorter body stays whole.
func (s *Server) Stall(n int) http.HandlerFunc {
	return s.spoil(n, func(w http.ResponseWriter, r *http.Request, cut <-chan struct{}) error {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-cut:
		}
		return os.ErrDeadlineExceeded
	})
}

// spoil gives the usual answer, and calls then before it would write more than n bytes. After that, every write
// returns the result of then. cut is closed when the server wants a watch to end at once.
func (s *Server) spoil(
	n int, then func(w http.ResponseWriter, r *http.Request, cut <-chan struct{}) error,
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cut, cancel := context.WithCancel(context.Background())
		defer cancel()
		spoiled := &spoiledWriter{ResponseWriter: w, left: n, cut: cancel, then: func() error { return then(w, r, cut.Done()) }}
		s.ServeHTTP(spoiled, r)
		if spoiled.err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// spoiledWriter writes a limited number of bytes.
type spoiledWriter struct {
	http.ResponseWriter
	left int
	then func() error
	cut  func()
	err  error // the result of then
}

func (s *spoiledWriter) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if len(b) <= s.left {
		s.left -= len(b)
		return s.ResponseWriter.Write(b)
	}
	n, _ := s.ResponseWriter.Write(b[:s.left])
	s.left, s.err = 0, http.ErrAbortHandler // so that writes of the handler's deferred functions are lost too
	s.err = s.then()
	return n, s.err
}

// SetWriteDeadline is called to cut a watch whose client does not read.
func (s *spoiledWriter) SetWriteDeadline(t time.Time) error {
	s.cut()
	return http.NewResponseController(s.ResponseWriter).SetWriteDeadline(t)
}

// Unwrap gives http.ResponseController the writer below.
func (s *spoiledWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Drip returns a handler that gives the server's usual answer, headers included, n bytes at a time with a pause before
// each. The connection stays slow, over HTTP/2 for every request on it, and takes no further requests after this one.
func (s *Server) Drip(n int, every time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if c := network.ConnOf(r); c != nil {
			c.Drip(n, every)
		}
		w.Header().Set("Connection", "close") // net/http turns this into GOAWAY on HTTP/2
		s.ServeHTTP(w, r)
	}
}

// Rewrite returns a handler that calls change with the headers and the uncompressed body of the server's usual answer,
// and sends the body that change returns. The declared length is that of this body, unless change sets a
// Content-Length. So a test can send an answer that is followed by garbage, lacks the end of its gzip, or differs from
// its declared length. The answer to a watch comes when the watch has ended.
func (s *Server) Rewrite(change func(h http.Header, body []byte) []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Del("Accept-Encoding")
		rec := &recorder{header: http.Header{}, code: http.StatusOK}
		s.ServeHTTP(rec, r)
		rec.header.Del("Content-Length")
		body := change(rec.header, rec.body.Bytes())
		maps.Copy(w.Header(), rec.header)
		if w.Header().Get("Content-Length") == "" {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		w.WriteHeader(rec.code)
		_, _ = w.Write(body)
	}
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header              { return r.header }
func (r *recorder) WriteHeader(code int)             { r.code = code }
func (r *recorder) Write(b []byte) (int, error)      { return r.body.Write(b) }
func (r *recorder) Flush()                           {}
func (r *recorder) SetWriteDeadline(time.Time) error { return nil }
