package informer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// behaviours 41, 174, 182, 331, 333, 337
func TestClassify(t *testing.T) {
	status := func(code int, reason string) error {
		return apierrors.FromStatus(meta.Status{Code: code, Reason: reason})
	}
	inStream := func(code int, reason string) error {
		return &client.EventError{Err: status(code, reason)}
	}
	for _, test := range []struct {
		name string
		err  error
		want outcome
	}{
		{"no error", nil, done},
		{"a cut body", io.ErrUnexpectedEOF, transient},
		{"a reset", syscall.ECONNRESET, transient},
		{"a refused connection", syscall.ECONNREFUSED, transient},
		{"a timeout", context.DeadlineExceeded, transient},
		{"anything unknown", errors.New("no idea"), transient},
		{"400", status(400, "BadRequest"), refused},
		{"401", status(401, "Unauthorized"), transient},
		{"403", status(403, "Forbidden"), forbidden},
		{"404", status(404, "NotFound"), absent},
		{"404 of a proxy", apierrors.FromResponse(404, http.Header{}, []byte("404 page not found"), "GET"), absent},
		{"405", status(405, "MethodNotAllowed"), refused},
		{"408", status(408, ""), transient},
		{"410 Expired", status(410, "Expired"), expired},
		{"410 Gone", status(410, "Gone"), expired},
		{"410 alone", status(410, ""), expired},
		{"Expired alone", status(0, "Expired"), expired},
		{"422", status(422, "Invalid"), refused},
		{"429", status(429, "TooManyRequests"), busy},
		{"500", status(500, "InternalError"), transient},
		{"an object that the server cannot read", status(500, "StorageReadError"), inapplicable},
		{"503", status(503, ""), transient},
		{"504", status(504, "Timeout"), transient},
		{
			"a version that the server has not reached",
			apierrors.FromStatus(meta.Status{Code: 504, Reason: "Timeout", Message: "Too large resource version: 9, current: 5"}),
			tooLarge,
		},
		{"501", status(501, ""), refused},
		{"410 of the first page", &client.OpError{Verb: "list", Err: status(410, "Expired")}, expired},
		{"410 of a later page (fault F10)", &client.OpError{Page: 3, Err: status(410, "Expired")}, outdated},
		{"410 in the stream (fault F6)", inStream(410, "Gone"), expired},
		{"410 alone in the stream (fault F6)", inStream(410, ""), expired},
		{"404 in the stream", inStream(404, "NotFound"), absent},
		{"429 in the stream (behaviour 175)", inStream(429, "TooManyRequests"), busy},
		{"500 in the stream (behaviour 177)", inStream(500, "InternalError"), inapplicable},
		{"503 in the stream", inStream(503, "ServiceUnavailable"), transient},
		{"504 in the stream", inStream(504, "Timeout"), transient},
		{"an object that the server cannot read, in the stream (behaviour 182)", inStream(500, "StorageReadError"), inapplicable},
		{"a server that was rolled back", &rollbackError{was: "9", is: "5"}, older},
		{"a silent watch", fmt.Errorf("%w: %w", context.Canceled, fmt.Errorf("%w for 3m", errSilent)), silent},
		{"a watch that was to end", errEndless, transient},
		{"a streaming list without an end", fmt.Errorf("%w for 30s", errUnended), unended},
		{"a streaming list with another bookmark than its end", errUnmarked, refused},
		{"another kind", &client.AnswerError{Reason: client.WrongKind}, inapplicable},
		{"an event that cannot be used", &client.EventError{Err: io.EOF}, inapplicable},
		{"no JSON at all", &client.AnswerError{Reason: client.ForeignBody}, transient},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := classify(test.err); got != test.want {
				t.Errorf("classify(%v) = %v, want %v", test.err, got, test.want)
			}
			wrapped := fmt.Errorf("outer: %w", test.err)
			if op := (*client.OpError)(nil); test.err != nil && !errors.As(test.err, &op) { // a call has one OpError
				wrapped = fmt.Errorf("outer: %w", &client.OpError{Verb: "watch", Err: test.err})
			}
			if test.err != nil && classify(wrapped) != test.want {
				t.Errorf("classify(%v) = %v, want %v", wrapped, classify(wrapped), test.want)
			}
		})
	}
}
