// Package errors represents the failures with which the API server answers, and says what a caller may do about them.
// Import it as apierrors.
//
// Every answer that is not a success becomes a [*StatusError], whether it came as a Status object, as the API server
// sends it, or as anything else, such as the page of a proxy. The reasons of the API are constants of type [Reason]
// that are errors themselves, so the usual question is
//
//	if errors.Is(err, apierrors.NotFound) { ... }
//
// errors.Is compares the reason that the server gave, or the HTTP code if the server gave none, and looks through
// every wrapping and joining. The other questions are functions: [ReasonOf], [RetryAfter], [SafeToRetry], [Cause],
// [FieldConflicts], [IsTooLargeResourceVersion], and [NetworkOf] for failures without any answer. Each of them takes
// any error, and returns its negative result for nil and for errors that have nothing to do with the API.
//
// Joined errors are several failures: those of errors.Join, of fmt.Errorf with several %w, and of types with a method
// Unwrap() []error or Errors() []error. Ignore and SafeToRetry need the consent of all of them; the other functions
// look for one that matches:
//
//	Ignore                            nil only if each of them is one of the reasons
//	SafeToRetry                       at least one is safe, and none is unsafe
//	RetryAfter                        the longest time
//	FieldConflicts                    those of all
//	ReasonOf, NetworkOf, Cause        the first that is found
//	IsTooLargeResourceVersion         one of them says so
//	errors.Is, errors.As              one of them matches
//
// The package does no I/O and keeps no state. Text that came from a server is cleaned of control characters and
// terminal escapes, made one line and cut to 2048 bytes before it becomes part of an error's text.
package errors
