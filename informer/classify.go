package informer

import (
	"errors"
	"net/http"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
)

// classify returns the meaning of an error for recovery.
func classify(err error) outcome {
	if err == nil {
		return done
	}
	inStream := errors.As(err, new(*client.EventError))
	status, answered := errors.AsType[*apierrors.StatusError](err)
	switch {
	case errors.As(err, new(*client.UsageError)):
		return unusable
	case errors.As(err, new(*rollbackError)):
		return older
	case errors.Is(err, errSilent):
		return silent
	case errors.Is(err, errUnproven):
		return unproven
	case errors.Is(err, errDue):
		return due
	case errors.Is(err, errUnended):
		return unended
	case errors.Is(err, errUnmarked):
		return refused
	case errors.Is(err, client.WrongKind), inStream && !answered, errors.Is(err, apierrors.StoreReadError):
		// An event that the server cannot read from its store is as lost as one that does not decode here: a watch from
		// the same version receives it again and again.
		return inapplicable
	case apierrors.IsTooLargeResourceVersion(err):
		return tooLarge
	case errors.Is(err, apierrors.Expired):
		if op, ok := errors.AsType[*client.OpError](err); ok && op.Page > 0 {
			return outdated
		}
		return expired
	case errors.Is(err, apierrors.NotFound):
		return absent
	case !answered:
		return transient
	}
	return classifyCode(status.Status.Code, inStream)
}

// classifyCode classifies a status of which only the code is known. inStream says that the status arrived as an event
// of an open watch.
func classifyCode(code int, inStream bool) outcome {
	switch {
	case code == http.StatusInternalServerError && inStream:
		// The server fails at the next event. The failure may pass; if it does not, a list avoids the event.
		return inapplicable
	case code == http.StatusTooManyRequests:
		return busy
	case code == http.StatusUnauthorized, code == http.StatusRequestTimeout:
		return transient
	case code == http.StatusForbidden:
		return forbidden
	case code >= 400 && code < 500, code == http.StatusNotImplemented:
		return refused
	}
	return transient
}
