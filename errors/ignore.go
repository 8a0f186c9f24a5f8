package errors

import (
	stderrors "errors"
	"slices"
)

// Ignore returns nil if err is one of the reasons, and err otherwise. Use it for errors that mean that there is
// nothing left to do:
//
//	err := sites.Delete(ctx, key, client.DeleteOptions{})
//	return apierrors.Ignore(err, apierrors.NotFound)
//
// A client.DeletingError, and the error of an unmet precondition of Ensure or AddFinalizer, count as a Conflict.
//
// Without a reason it returns err. An error that joins several (errors.Join, fmt.Errorf with several %w) is ignored
// only if each of them is; otherwise Ignore returns the whole error. So a cleanup can join the errors of its steps:
//
//	return apierrors.Ignore(errors.Join(deleted, closed), apierrors.NotFound) // nil if nothing else failed
//
// An error that unwraps to several errors and has the text of one of them is one failure with several identities.
// Ignore returns nil for it if it would return nil for one of them.
func Ignore(err error, reasons ...Reason) error {
	if ignored(err, reasons) {
		return nil
	}
	return err
}

func ignored(err error, reasons []Reason) bool {
	if err == nil {
		return true
	}
	parts, joined := joinedIn(err)
	if joined {
		some := false
		for _, part := range parts {
			if part == nil {
				continue
			}
			if !ignored(part, reasons) {
				return false
			}
			some = true
		}
		return some
	}
	for _, r := range reasons {
		if says, ok := err.(interface{ Is(target error) bool }); err == error(r) || ok && says.Is(r) {
			return true
		}
	}
	for _, part := range parts { // err is one failure, and parts are its identities
		if part != nil && ignored(part, reasons) {
			return true
		}
	}
	child := stderrors.Unwrap(err)
	return child != nil && ignored(child, reasons)
}

// joinedIn returns the errors that err unwraps to, if its type unwraps to several, and reports whether these are
// separate failures.
func joinedIn(err error) (parts []error, joined bool) {
	parts = several(err)
	if len(parts) == 0 {
		return nil, false
	}
	text := err.Error()
	same := func(part error) bool { return part != nil && part.Error() == text }
	return parts, !slices.ContainsFunc(parts, same)
}
