package errors_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// behaviour 334
func TestRetryAfterOfJoinedErrorsIsTheLongest(t *testing.T) {
	err := errors.Join(
		apierrors.FromStatus(meta.Status{Code: 429, Details: &meta.StatusDetails{RetryAfterSeconds: 2}}),
		apierrors.FromStatus(meta.Status{Code: 503, Details: &meta.StatusDetails{RetryAfterSeconds: 5}}),
		apierrors.FromStatus(meta.Status{Code: 404}),
	)
	if wait, ok := apierrors.RetryAfter(err); wait != 5*time.Second || !ok {
		t.Errorf("RetryAfter = %v, %v; want 5s", wait, ok)
	}
}

func TestRetryAfterReadsAConstructedStatusError(t *testing.T) {
	tests := []struct {
		name string
		err  apierrors.StatusError
		want time.Duration
		ok   bool
	}{
		{"a duration", apierrors.StatusError{RetryAfter: time.Second}, time.Second, true},
		{"a duration of 0", apierrors.StatusError{HasRetryAfter: true}, 0, true},
		{
			"a duration beside a longer one in the details",
			apierrors.StatusError{RetryAfter: time.Second, Status: meta.Status{Details: &meta.StatusDetails{RetryAfterSeconds: 3}}},
			time.Second, true,
		},
		{
			"a duration of 0 beside one in the details",
			apierrors.StatusError{HasRetryAfter: true, Status: meta.Status{Details: &meta.StatusDetails{RetryAfterSeconds: 3}}},
			0, true,
		},
		{"a duration beyond the limit", apierrors.StatusError{RetryAfter: 48 * time.Hour}, apierrors.MaxRetryAfter, true},
		{"a negative duration", apierrors.StatusError{RetryAfter: -time.Second}, 0, false},
		{
			"seconds in the Status",
			apierrors.StatusError{Status: meta.Status{Details: &meta.StatusDetails{RetryAfterSeconds: 3}}},
			3 * time.Second, true,
		},
		{"nothing", apierrors.StatusError{}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if wait, ok := apierrors.RetryAfter(&tt.err); wait != tt.want || ok != tt.ok {
				t.Errorf("RetryAfter = %v, %v; want %v, %v", wait, ok, tt.want, tt.ok)
			}
		})
	}
}

// Without a Date header the date in Retry-After is taken relative to this machine's clock.
func TestRetryAfterDateByTheLocalClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(90 * time.Second).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
		e := apierrors.FromResponse(503, header("Retry-After", at), nil, "GET")
		if e.RetryAfter != 90*time.Second {
			t.Errorf("Retry-After %s at %s is %v, want 90s", at, time.Now().UTC(), e.RetryAfter)
		}
	})
}
