package ctrlcache

import (
	"errors"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// translated returns an error that is also an error of k8s.io/apimachinery if it is the server's, so that the functions
// of that module, such as IsForbidden, recognize it.
func translated(err error) error {
	ours, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || errors.As(err, new(kerrors.APIStatus)) {
		return err
	}
	s := ours.Status
	status := metav1.Status{
		Status: metav1.StatusFailure, Message: s.Message, Reason: metav1.StatusReason(s.Reason), Code: int32(s.Code),
	}
	if d := s.Details; d != nil {
		status.Details = &metav1.StatusDetails{
			Name: d.Name, Group: d.Group, Kind: d.Kind, UID: types.UID(d.UID), RetryAfterSeconds: int32(d.RetryAfterSeconds),
		}
		for _, c := range d.Causes {
			status.Details.Causes = append(status.Details.Causes, metav1.StatusCause{
				Type: metav1.CauseType(c.Reason), Message: c.Message, Field: c.Field,
			})
		}
	}
	return &serverError{err, &kerrors.StatusError{ErrStatus: status}}
}

// serverError is an error of this module together with the same error of k8s.io/apimachinery.
type serverError struct {
	error
	theirs error
}

func (e *serverError) Unwrap() []error { return []error{e.error, e.theirs} }

// isAboutServer reports whether an error of an informer is one of a list or a watch.
func isAboutServer(err error) bool {
	return !errors.As(err, new(*client.DecodeError)) && !errors.As(err, new(*cache.PanicError)) &&
		!errors.As(err, new(*cache.MutationError)) && !errors.As(err, new(*informer.EarlyReadError))
}
