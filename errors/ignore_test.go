package errors_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// Ignore ignores an error by its reason alone, wherever in the chain it says it.
func TestIgnore(t *testing.T) {
	missing := error(apierrors.FromStatus(meta.Status{Reason: "NotFound", Code: 404}))
	byCode := error(apierrors.FromStatus(meta.Status{Code: 404}))
	for _, test := range []struct {
		name    string
		err     error
		reasons []apierrors.Reason
		ignored bool
	}{
		{"no error", nil, []apierrors.Reason{apierrors.NotFound}, true},
		{"no error and no reason", nil, nil, true},
		{"no reason", missing, nil, false},
		{"its reason", missing, []apierrors.Reason{apierrors.NotFound}, true},
		{"one of them", missing, []apierrors.Reason{apierrors.Conflict, apierrors.NotFound}, true},
		{"another reason", missing, []apierrors.Reason{apierrors.Conflict}, false},
		{"its code", byCode, []apierrors.Reason{apierrors.NotFound}, true},
		{"one of several errors", errors.Join(context.Canceled, missing), []apierrors.Reason{apierrors.NotFound}, true},
		{"an error without a reason", context.Canceled, []apierrors.Reason{apierrors.NotFound}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := test.err
			if test.ignored {
				want = nil
			}
			if got := apierrors.Ignore(test.err, test.reasons...); got != want {
				t.Errorf("Ignore = %v, want %v", got, want)
			}
		})
	}
}
