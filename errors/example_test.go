package errors_test

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func Example() {
	body := `{"kind":"Status","status":"Failure","reason":"NotFound","code":404,"message":"pods \"x\" not found"}`
	said := apierrors.FromResponse(404, http.Header{}, []byte(body), http.MethodGet)
	err := fmt.Errorf(`get pod "web/x": %w`, said) // as the client returns it

	fmt.Println(err)
	fmt.Println(errors.Is(err, apierrors.NotFound), errors.Is(err, apierrors.Gone))
	// Output:
	// get pod "web/x": server said NotFound (404): pods "x" not found
	// true false
}

func ExampleFromResponse_proxy() {
	page := "<html><head><title>503 Service Unavailable</title></head></html>"
	err := apierrors.FromResponse(503, http.Header{"Retry-After": {"7"}}, []byte(page), http.MethodGet)
	wait, ok := apierrors.RetryAfter(err)

	fmt.Println(err)
	fmt.Println(err.FromStatus, wait, ok, apierrors.SafeToRetry(err))
	// Output:
	// server said ServiceUnavailable (503): the answer is not a Status but an HTML page titled "503 Service Unavailable"
	// false 7s true true
}

func ExampleStatusError_Causes() {
	err := error(apierrors.FromStatus(meta.Status{Reason: "Invalid", Details: &meta.StatusDetails{Causes: []meta.StatusCause{
		{Reason: "FieldValueRequired", Message: "Required value", Field: "spec.containers[0].image"},
	}}}))

	var said *apierrors.StatusError
	if errors.As(err, &said) && errors.Is(err, apierrors.Invalid) {
		for _, cause := range said.Causes() {
			fmt.Println(cause.Field, cause.Message)
		}
	}
	// Output: spec.containers[0].image Required value
}

func ExampleIgnore() {
	gone := fmt.Errorf("delete pod: %w", apierrors.FromStatus(meta.Status{Reason: "NotFound"}))
	fmt.Println(apierrors.Ignore(gone, apierrors.NotFound, apierrors.Gone))
	fmt.Println(apierrors.Ignore(gone, apierrors.Conflict) == gone)
	// Output:
	// <nil>
	// true
}
