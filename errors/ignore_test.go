package errors_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

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
		{"one of several errors", errors.Join(context.Canceled, missing), []apierrors.Reason{apierrors.NotFound}, false},
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

// aggregate has several errors as those of k8s.io/apimachinery have them: it does not unwrap, and says that it is each of them.
type aggregate []error

func (a aggregate) Error() string   { return fmt.Sprint([]error(a)) }
func (a aggregate) Errors() []error { return a }
func (a aggregate) Is(t error) bool {
	return slices.ContainsFunc(a, func(e error) bool { return errors.Is(e, t) })
}
func identities(all ...error) error { return &several{all[0].Error(), all} }
func failures(all ...error) error   { return &several{"some have failed", all} }
func (s *several) Error() string    { return s.text }
func (s *several) Unwrap() []error  { return s.all }

// several is one failure with several identities if its text is that of one of them.
type several struct {
	text string
	all  []error
}

// Ignore of joined errors returned nil if one of them matched, and a cleanup that had failed counted as done.
func TestIgnoreKeepsJoinedErrorsThatDoNotMatch(t *testing.T) {
	gone := error(apierrors.FromStatus(meta.Status{Code: 404, Reason: "NotFound", Message: "gone"}))
	denied := error(apierrors.FromStatus(meta.Status{Code: 403, Reason: "Forbidden", Message: "denied"}))
	down := errors.New("the database is down")
	for name, test := range map[string]struct {
		err     error
		ignored bool
	}{
		"two answers":                          {errors.Join(gone, denied), false},
		"in the other order":                   {errors.Join(denied, gone), false},
		"an error without a reason":            {errors.Join(gone, down), false},
		"by %w":                                {fmt.Errorf("clean up: %w, %w", down, gone), false},
		"wrapped":                              {fmt.Errorf("clean up: %w", errors.Join(gone, down)), false},
		"joined twice":                         {errors.Join(gone, errors.Join(gone, fmt.Errorf("close: %w", down))), false},
		"an aggregate":                         {aggregate{gone, down}, false},
		"an aggregate, wrapped":                {fmt.Errorf("clean up: %w", aggregate{down, gone}), false},
		"a type of several failures":           {failures(gone, denied), false},
		"all match":                            {errors.Join(gone, nil, gone), true},
		"all match, wrapped":                   {fmt.Errorf("a: %w; b: %w", gone, fmt.Errorf("c: %w", errors.Join(gone))), true},
		"an aggregate of which all match":      {aggregate{gone, gone}, true},
		"a type of failures that all match":    {failures(gone, gone), true},
		"the reasons themselves":               {errors.Join(apierrors.NotFound, gone), true},
		"nothing joined":                       {failures(), false},
		"nothing but nil":                      {failures(nil, nil), false},
		"one failure with several identities":  {identities(gone, down), true},
		"the second identity":                  {identities(down, gone), true},
		"identities, wrapped":                  {fmt.Errorf("get: %w", identities(down, gone)), true},
		"identities that do not match":         {identities(denied, down), false},
		"joined with one of two identities":    {errors.Join(identities(gone, down), down), false},
		"an identity that joins":               {identities(down, errors.Join(gone, denied)), false},
		"a type that says what it is":          {&client404{down}, true},
		"joined with one that says what it is": {errors.Join(&client404{down}, denied), false},
	} {
		got := apierrors.Ignore(test.err, apierrors.NotFound)
		switch {
		case test.ignored && got != nil:
			t.Errorf("%s: Ignore = %v, want nil", name, got)
		case !test.ignored && got == nil:
			t.Errorf("%s: Ignore returns nil, and an error is lost", name)
		case !test.ignored && got.Error() != test.err.Error():
			t.Errorf("%s: Ignore = %q, want the error with its text, %q", name, got, test.err)
		}
	}
	both := errors.Join(gone, denied)
	if err := apierrors.Ignore(both, apierrors.Forbidden, apierrors.NotFound); err != nil {
		t.Errorf("each is one of two reasons, and Ignore = %v", err)
	}
	if err := apierrors.Ignore(both); err == nil {
		t.Error("without a reason nothing is ignored")
	}
}

// client404 is an error that matches NotFound by its method, and wraps another one.
type client404 struct{ error }

func (*client404) Is(target error) bool { return target == apierrors.NotFound }
func (e *client404) Unwrap() error      { return e.error }

// The other functions see what joins errors without a method Unwrap.
func TestAggregatesAreJoinedErrors(t *testing.T) {
	slow := apierrors.FromStatus(meta.Status{Code: 429, Details: &meta.StatusDetails{
		RetryAfterSeconds: 3, Causes: []meta.StatusCause{{Reason: "Mine", Message: "m"}},
	}})
	denied := apierrors.FromStatus(meta.Status{Code: 403, Reason: "Forbidden"})
	if wait, ok := apierrors.RetryAfter(aggregate{denied, slow}); !ok || wait != 3*time.Second {
		t.Errorf("RetryAfter = %v, %v", wait, ok)
	}
	if cause, ok := apierrors.Cause(aggregate{denied, slow}, "Mine"); !ok || cause.Message != "m" {
		t.Errorf("Cause = %v, %v", cause, ok)
	}
	if r := apierrors.ReasonOf(aggregate{denied, slow}); r != apierrors.Forbidden {
		t.Errorf("ReasonOf = %v", r)
	}
	if apierrors.SafeToRetry(aggregate{denied, slow}) || !apierrors.SafeToRetry(aggregate{slow, slow}) {
		t.Error("SafeToRetry does not ask each of them")
	}
	if n := apierrors.NetworkOf(aggregate{denied, io.EOF}); n != apierrors.NetworkClosed {
		t.Errorf("NetworkOf = %v", n)
	}
}
