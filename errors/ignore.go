package errors

import "errors"

// Ignore returns nil if err is one of the reasons, and err otherwise. Use it for errors that mean that there is nothing
// left to do:
//
//	err := sites.Delete(ctx, key, client.DeleteOptions{})
//	return apierrors.Ignore(err, apierrors.NotFound)
//
// client.DeletingError and client.PreconditionError count as a Conflict.
//
// Without a reason it returns err. An error that joins several, as errors.Join makes, is ignored if one of them is.
func Ignore(err error, reasons ...Reason) error {
	for _, r := range reasons {
		if errors.Is(err, r) {
			return nil
		}
	}
	return err
}
