package errors

import (
	stderrors "errors"
	"net/http"
)

// Reason is the API's machine-readable word for why a request failed. It is an error, so that it can be the target of
// errors.Is. A server may also send words that are not listed here; compare them in the same way: errors.Is(err,
// apierrors.Reason("Mine")).
//
// An answer without a listed reason also matches the listed reason of its HTTP code. Gone and Expired match each
// other, and the code 410 alone matches both.
type Reason string

// The reasons, from the Kubernetes API conventions ("HTTP Status codes") and the API's StatusReason.
const (
	// BadRequest (400): the server cannot understand the request, and never will.
	BadRequest Reason = "BadRequest"
	// Unauthorized (401): the server does not know the caller; the credentials are missing, wrong or have expired.
	Unauthorized Reason = "Unauthorized"
	// Forbidden (403): the caller is known and must not do this. Admission control and quotas use it too, and so does
	// a namespace that is being deleted, with the cause [CauseNamespaceTerminating].
	Forbidden Reason = "Forbidden"
	// NotFound (404): there is no such object, or no such resource. [StatusError.FromStatus] is true if the API server
	// itself says so.
	NotFound Reason = "NotFound"
	// MethodNotAllowed (405): the resource has no such verb.
	MethodNotAllowed Reason = "MethodNotAllowed"
	// NotAcceptable (406): the server has none of the media types that the request accepts.
	NotAcceptable Reason = "NotAcceptable"
	// AlreadyExists (409): a create found an object of that name, or the server found no free name for a generateName.
	// The code alone has this meaning only as the answer to a POST.
	AlreadyExists Reason = "AlreadyExists"
	// Conflict (409): the object has changed since it was read, a precondition on its uid or version failed, or
	// another manager owns an applied field. Read the object again, repeat the change on it, and write it again.
	Conflict Reason = "Conflict"
	// Gone (410): the requested item no longer exists and will not come back. For a list or watch it means the same as
	// Expired.
	Gone Reason = "Gone"
	// Expired (410): the resource version or the continue token is too old for the server's history. List again.
	Expired Reason = "Expired"
	// RequestEntityTooLarge (413): the request's body, or the object that it makes, is larger than the server or its
	// store takes. Nothing was written, and the same request never succeeds. The store's own refusals come with the
	// code 500 and without a reason; [FromResponse] and [FromStatus] give them this one.
	RequestEntityTooLarge Reason = "RequestEntityTooLarge"
	// UnsupportedMediaType (415): the server does not read the request's content type here.
	UnsupportedMediaType Reason = "UnsupportedMediaType"
	// Invalid (422): the object was understood and is not valid; [StatusError.Causes] names the fields.
	Invalid Reason = "Invalid"
	// TooManyRequests (429): the server did not handle the request because there are too many, or, for an eviction,
	// because the disruption budget is exhausted. Retry after the time that [RetryAfter] returns.
	TooManyRequests Reason = "TooManyRequests"
	// InternalError (500): something failed inside the server or in a webhook that it called. It is unknown whether
	// the request took effect.
	InternalError Reason = "InternalError"
	// ServerTimeout (500): the server could not finish in time, mostly because its store did not answer. It is unknown
	// whether the request took effect. No code implies this reason.
	ServerTimeout Reason = "ServerTimeout"
	// StoreReadError (500): an object in the store cannot be decrypted or decoded. The API's word is
	// "StorageReadError".
	StoreReadError Reason = "StorageReadError"
	// ServiceUnavailable (503): the server, or a proxy before it, cannot handle requests now.
	ServiceUnavailable Reason = "ServiceUnavailable"
	// Timeout (504): the request did not end within its time limit, and may still take effect. A list at a version
	// that the server has not reached also ends this way; see [IsTooLargeResourceVersion].
	Timeout Reason = "Timeout"
	// Unknown is the reason of an answer that gives no reason and whose code implies none. It is not a word of the
	// API.
	Unknown Reason = "Unknown"
)

// Error returns the word.
func (r Reason) Error() string { return string(r) }

// Is makes Gone and Expired equal for errors.Is, even if an error wraps a Reason and not a StatusError.
func (r Reason) Is(target error) bool {
	t, ok := target.(Reason)
	return ok && r.Code() == http.StatusGone && t.Code() == http.StatusGone
}

// Code returns the HTTP code with which the server sends the reason; 0 for Unknown and words that are not listed.
func (r Reason) Code() int {
	switch r {
	case BadRequest:
		return http.StatusBadRequest
	case Unauthorized:
		return http.StatusUnauthorized
	case Forbidden:
		return http.StatusForbidden
	case NotFound:
		return http.StatusNotFound
	case MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case NotAcceptable:
		return http.StatusNotAcceptable
	case AlreadyExists, Conflict:
		return http.StatusConflict
	case Gone, Expired:
		return http.StatusGone
	case RequestEntityTooLarge:
		return http.StatusRequestEntityTooLarge
	case UnsupportedMediaType:
		return http.StatusUnsupportedMediaType
	case Invalid:
		return http.StatusUnprocessableEntity
	case TooManyRequests:
		return http.StatusTooManyRequests
	case InternalError, ServerTimeout, StoreReadError:
		return http.StatusInternalServerError
	case ServiceUnavailable:
		return http.StatusServiceUnavailable
	case Timeout:
		return http.StatusGatewayTimeout
	}
	return 0
}

// reasonOfCode returns the reason that a code implies. method distinguishes the two reasons of 409; it may be empty.
func reasonOfCode(code int, method string) Reason {
	switch code {
	case http.StatusBadRequest:
		return BadRequest
	case http.StatusUnauthorized:
		return Unauthorized
	case http.StatusForbidden:
		return Forbidden
	case http.StatusNotFound:
		return NotFound
	case http.StatusMethodNotAllowed:
		return MethodNotAllowed
	case http.StatusNotAcceptable:
		return NotAcceptable
	case http.StatusConflict:
		if method == http.MethodPost {
			return AlreadyExists
		}
		return Conflict
	case http.StatusGone:
		return Expired
	case http.StatusRequestEntityTooLarge:
		return RequestEntityTooLarge
	case http.StatusUnsupportedMediaType:
		return UnsupportedMediaType
	case http.StatusUnprocessableEntity:
		return Invalid
	case http.StatusTooManyRequests:
		return TooManyRequests
	case http.StatusServiceUnavailable:
		return ServiceUnavailable
	case http.StatusGatewayTimeout:
		return Timeout
	}
	if code >= 500 && code <= 599 {
		return InternalError
	}
	return Unknown
}

// ReasonOf returns the reason of the first [*StatusError] in err. If there is none, it returns the Reason that err
// wraps, or the empty Reason if err has nothing to do with an answer of the API. An answer that gives no reason, and
// whose code implies none, has the reason Unknown. The other errors that err joins may have other reasons: [Ignore]
// asks all of them.
func ReasonOf(err error) Reason {
	if e, ok := stderrors.AsType[*StatusError](err); ok && e != nil {
		return e.reason()
	}
	for e := range all(err) { // errors.As does not look into a type with a method Errors
		return e.reason()
	}
	r, _ := stderrors.AsType[Reason](err)
	return r
}
