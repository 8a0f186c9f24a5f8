package errors_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// reasons are all the reasons with a code, by the code.
var reasons = map[apierrors.Reason]int{
	apierrors.BadRequest:            400,
	apierrors.Unauthorized:          401,
	apierrors.Forbidden:             403,
	apierrors.NotFound:              404,
	apierrors.MethodNotAllowed:      405,
	apierrors.NotAcceptable:         406,
	apierrors.AlreadyExists:         409,
	apierrors.Conflict:              409,
	apierrors.Gone:                  410,
	apierrors.Expired:               410,
	apierrors.RequestEntityTooLarge: 413,
	apierrors.UnsupportedMediaType:  415,
	apierrors.Invalid:               422,
	apierrors.TooManyRequests:       429,
	apierrors.InternalError:         500,
	apierrors.ServerTimeout:         500,
	apierrors.StoreReadError:        500,
	apierrors.ServiceUnavailable:    503,
	apierrors.Timeout:               504,
}

// wrappings are the ways in which an error reaches a caller.
var wrappings = map[string]func(error) error{
	"as it is":        func(err error) error { return err },
	"wrapped":         func(err error) error { return fmt.Errorf("get pod %q: %w", "x", err) },
	"wrapped thrice":  func(err error) error { return fmt.Errorf("a: %w", fmt.Errorf("b: %w", fmt.Errorf("c: %w", err))) },
	"joined":          func(err error) error { return errors.Join(io.EOF, err) },
	"joined, wrapped": func(err error) error { return fmt.Errorf("a: %w", errors.Join(err, io.EOF)) },
	"of two":          func(err error) error { return fmt.Errorf("%w, %w", io.EOF, err) },
}

// same reports whether two reasons mean the same to errors.Is.
func same(a, b apierrors.Reason) bool {
	return a == b || a.Code() == http.StatusGone && b.Code() == http.StatusGone
}

// behaviour 331, behaviour 338
func TestErrorsMatchTheirReasonThroughEveryWrapping(t *testing.T) {
	for reason, code := range reasons {
		if reason.Code() != code {
			t.Errorf("%s has code %d, want %d", reason, reason.Code(), code)
		}
		for how, wrap := range wrappings {
			for _, err := range []error{
				wrap(apierrors.FromStatus(meta.Status{Reason: string(reason), Code: code})),
				wrap(apierrors.FromStatus(meta.Status{Reason: string(reason)})),
				wrap(&apierrors.StatusError{Status: meta.Status{Reason: string(reason)}}),
				wrap(reason),
			} {
				for target := range reasons {
					if got := errors.Is(err, target); got != same(reason, target) {
						t.Errorf("%s, %s: errors.Is(%v, %s) = %v", reason, how, err, target, got)
					}
				}
				if got := apierrors.ReasonOf(err); got != reason {
					t.Errorf("%s, %s: ReasonOf = %s", reason, how, got)
				}
			}
		}
	}
}

// behaviour 331, behaviour 333
func TestErrorsMatchTheReasonsOfTheirCode(t *testing.T) {
	tests := []struct {
		code int
		want []apierrors.Reason // the first is what ReasonOf returns
	}{
		{400, []apierrors.Reason{apierrors.BadRequest}},
		{401, []apierrors.Reason{apierrors.Unauthorized}},
		{403, []apierrors.Reason{apierrors.Forbidden}},
		{404, []apierrors.Reason{apierrors.NotFound}},
		{405, []apierrors.Reason{apierrors.MethodNotAllowed}},
		{406, []apierrors.Reason{apierrors.NotAcceptable}},
		{409, []apierrors.Reason{apierrors.Conflict}},
		{410, []apierrors.Reason{apierrors.Expired, apierrors.Gone}},
		{413, []apierrors.Reason{apierrors.RequestEntityTooLarge}},
		{415, []apierrors.Reason{apierrors.UnsupportedMediaType}},
		{422, []apierrors.Reason{apierrors.Invalid}},
		{429, []apierrors.Reason{apierrors.TooManyRequests}},
		{500, []apierrors.Reason{apierrors.InternalError}},
		{502, []apierrors.Reason{apierrors.InternalError}},
		{503, []apierrors.Reason{apierrors.ServiceUnavailable}},
		{504, []apierrors.Reason{apierrors.Timeout}},
		{599, []apierrors.Reason{apierrors.InternalError}},
		{418, []apierrors.Reason{apierrors.Unknown}},
		{307, []apierrors.Reason{apierrors.Unknown}},
		{0, []apierrors.Reason{apierrors.Unknown}},
	}
	for _, tt := range tests {
		for how, wrap := range wrappings {
			for _, err := range []error{
				wrap(apierrors.FromStatus(meta.Status{Code: tt.code})),
				wrap(&apierrors.StatusError{Status: meta.Status{Code: tt.code}}),
				wrap(apierrors.FromResponse(tt.code, nil, nil, http.MethodGet)),
			} {
				if got := apierrors.ReasonOf(err); got != tt.want[0] {
					t.Errorf("%d, %s: ReasonOf(%v) = %s, want %s", tt.code, how, err, got, tt.want[0])
				}
				met := 0
				for _, target := range tt.want {
					if !errors.Is(err, target) {
						t.Errorf("%d, %s: %v is not %s", tt.code, how, err, target)
					}
				}
				for target := range reasons {
					if errors.Is(err, target) {
						met++
					}
				}
				if errors.Is(err, apierrors.Unknown) {
					met++
				}
				if met != len(tt.want) {
					t.Errorf("%d, %s: %v is %d reasons, want %d", tt.code, how, err, met, len(tt.want))
				}
			}
		}
	}
}

func TestReasonsCombineTheWordAndTheCode(t *testing.T) {
	tests := []struct {
		name   string
		status meta.Status
		is     []apierrors.Reason
		isNot  []apierrors.Reason
	}{
		{
			"a listed word wins over the code",
			meta.Status{Reason: "NotFound", Code: 403},
			[]apierrors.Reason{apierrors.NotFound},
			[]apierrors.Reason{apierrors.Forbidden, apierrors.Unknown},
		},
		{
			"a word of the server's own leaves the code to speak too",
			meta.Status{Reason: "Mine", Code: 404},
			[]apierrors.Reason{"Mine", apierrors.NotFound},
			[]apierrors.Reason{apierrors.Unknown, apierrors.Gone, "Yours"},
		},
		{
			"a word of the server's own without a code",
			meta.Status{Reason: "Mine"},
			[]apierrors.Reason{"Mine"},
			[]apierrors.Reason{apierrors.Unknown, apierrors.InternalError, ""},
		},
		{
			"410 means a relist whatever comes with it",
			meta.Status{Reason: "BadRequest", Code: 410},
			[]apierrors.Reason{apierrors.Gone, apierrors.Expired, apierrors.BadRequest},
			nil,
		},
		{
			"Expired means a relist whatever its code",
			meta.Status{Reason: "Expired", Code: 500},
			[]apierrors.Reason{apierrors.Gone, apierrors.Expired},
			[]apierrors.Reason{apierrors.InternalError},
		},
		{
			"429 means too many requests whatever comes with it",
			meta.Status{Reason: "Timeout", Code: 429},
			[]apierrors.Reason{apierrors.TooManyRequests, apierrors.Timeout},
			nil,
		},
		{
			"413 means too large whatever comes with it",
			meta.Status{Reason: "BadRequest", Code: 413},
			[]apierrors.Reason{apierrors.RequestEntityTooLarge},
			nil,
		},
		{
			"AlreadyExists is no Conflict",
			meta.Status{Reason: "AlreadyExists", Code: 409},
			[]apierrors.Reason{apierrors.AlreadyExists},
			[]apierrors.Reason{apierrors.Conflict},
		},
		{
			"ServerTimeout is neither of its neighbours",
			meta.Status{Reason: "ServerTimeout", Code: 500},
			[]apierrors.Reason{apierrors.ServerTimeout},
			[]apierrors.Reason{apierrors.Timeout, apierrors.InternalError},
		},
		{
			"StoreReadError has another word on the wire",
			meta.Status{Reason: "StorageReadError", Code: 500},
			[]apierrors.Reason{apierrors.StoreReadError},
			[]apierrors.Reason{apierrors.InternalError},
		},
		{
			"nothing at all",
			meta.Status{},
			[]apierrors.Reason{apierrors.Unknown},
			[]apierrors.Reason{"", apierrors.InternalError},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := fmt.Errorf("watch pods: %w", apierrors.FromStatus(tt.status))
			for _, r := range tt.is {
				if !errors.Is(err, r) {
					t.Errorf("%v is not %q", err, r)
				}
			}
			for _, r := range tt.isNot {
				if errors.Is(err, r) {
					t.Errorf("%v is %q", err, r)
				}
			}
		})
	}
}

// behaviour 331
func TestForeignErrorsHaveNoReason(t *testing.T) {
	var none *apierrors.StatusError
	for _, err := range []error{
		nil, io.EOF, fmt.Errorf("a: %w", io.EOF), errors.Join(io.EOF, io.ErrClosedPipe), none, fmt.Errorf("a: %w", none),
	} {
		for r := range reasons {
			if errors.Is(err, r) {
				t.Errorf("%v is %s", err, r)
			}
		}
		if errors.Is(err, apierrors.Unknown) || apierrors.ReasonOf(err) != "" {
			t.Errorf("%v has a reason", err)
		}
		if apierrors.SafeToRetry(err) || apierrors.IsTooLargeResourceVersion(err) {
			t.Errorf("%v is taken for an answer", err)
		}
		if d, ok := apierrors.RetryAfter(err); d != 0 || ok {
			t.Errorf("%v says to wait %v", err, d)
		}
		if c, ok := apierrors.Cause(err, ""); ok {
			t.Errorf("%v has cause %v", err, c)
		}
	}
	if none.Error() == "" || none.Causes() != nil {
		t.Error("a nil *StatusError must not panic")
	}
}
