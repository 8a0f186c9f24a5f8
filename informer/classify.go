package informer

import (
	"errors"
	"net/http"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
)

// classify says what an error means for recovery.
func classify(err error) outcome {
	if err == nil {
		return done
	}
	var (
		status *apierrors.StatusError
		kind   *client.KindError
		frame  *client.EventError
		usage  *client.UsageError
	)
	switch {
	case errors.As(err, &usage):
		return unusable
	case errors.As(err, &kind), errors.As(err, &frame), errors.Is(err, apierrors.StoreReadError):
		// An event that the server cannot read from its store is as lost as one that cannot be read here: from the same
		// version it comes again and again.
		return inapplicable
	case apierrors.IsTooLargeResourceVersion(err):
		return tooLarge
	case errors.Is(err, apierrors.Expired):
		return expired
	case errors.Is(err, apierrors.NotFound):
		return absent
	case !errors.As(err, &status):
		return transient
	}
	switch code := status.Status.Code; {
	case code == http.StatusUnauthorized, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return transient
	case code >= 400 && code < 500:
		return refused
	}
	return transient
}
