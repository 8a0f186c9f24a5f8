package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
)

const (
	// maxBody bounds the size of a review, in bytes. At a real server an object has at most 3 MiB. An AdmissionReview
	// has two objects, and a ConversionReview may have more.
	maxBody = 16 << 20
	// patience is how long a call may take if the server does not say how long it waits. It is the server's default.
	patience = 10 * time.Second
	// margin is the part of the server's limit that remains for sending the answer.
	margin = 200 * time.Millisecond
)

// misuse is an error that is not a decision about an object, with its HTTP status code.
type misuse struct {
	code int
	err  error
}

// Error implements error.
func (e *misuse) Error() string { return e.err.Error() }

func wrong(code int, format string, args ...any) error {
	return &misuse{code, fmt.Errorf(format, args...)}
}

// handler answers the reviews of one kind.
type handler struct {
	apiVersion, kind, what string // what is the kind with its article
	answer                 func(ctx context.Context, request json.RawMessage) (response any, err error)
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), limit(r))
	defer cancel()
	response, err := h.review(ctx, w, r)
	if err != nil {
		code := http.StatusInternalServerError
		if m, ok := errors.AsType[*misuse](err); ok {
			code = m.code
		}
		http.Error(w, "webhook: "+err.Error(), code)
		return
	}
	b, err := json.Marshal(review{APIVersion: h.apiVersion, Kind: h.kind, Response: response})
	if err != nil {
		http.Error(w, "webhook: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // an error means that the server has gone
}

// limit returns how long a call may take.
func limit(r *http.Request) time.Duration {
	d, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || d <= 0 {
		d = patience
	}
	return max(d/2, d-margin)
}

// review reads a review, and returns the response to it.
func (h *handler) review(ctx context.Context, w http.ResponseWriter, r *http.Request) (response any, err error) {
	if r.Method != http.MethodPost {
		return nil, wrong(http.StatusMethodNotAllowed, "the method must be POST, got %s", r.Method)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, wrong(http.StatusRequestEntityTooLarge, "the review has more than %d bytes", maxBody)
	} else if err != nil {
		return nil, wrong(http.StatusBadRequest, "read the review: %w", err)
	}
	var is review
	if err := json.Unmarshal(body, &is); err != nil {
		return nil, wrong(http.StatusBadRequest, "the body must be %s of %s: %w", h.what, h.apiVersion, err)
	}
	if is.Kind != h.kind || is.APIVersion != h.apiVersion || len(is.Request) == 0 {
		return nil, wrong(http.StatusBadRequest, "the body must be %s of %s with a request, got kind %q and apiVersion %q",
			h.what, h.apiVersion, is.Kind, is.APIVersion)
	}
	defer func() {
		if v := recover(); v != nil {
			logError(ctx, fmt.Errorf("panic: %v", v), "a webhook panics", "path", r.URL.Path, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return h.answer(ctx, is.Request)
}

// logError writes to the logger of a context.
func logError(ctx context.Context, err error, message string, pairs ...any) {
	if l, none := logr.FromContext(ctx); none == nil {
		l.Error(err, message, pairs...)
		return
	}
	slog.Default().Error(message, append(pairs, "err", err)...)
}
