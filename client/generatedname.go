package client

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	apierrors "github.com/bowline-go/bowline/errors"
)

// A create may leave the object's name to the server (metadata.generateName). Such a create makes two objects if it is
// sent twice. So the client repeats it only after an answer that says that no object was made: the name that the server
// made is taken, or the server did not handle the request.

// generatesName reports whether the server makes the name of the object in a create, and stores it.
func generatesName(method string, query url.Values, body []byte) bool {
	var obj struct {
		Metadata struct {
			Name         string `json:"name"`
			GenerateName string `json:"generateName"`
		} `json:"metadata"`
	}
	return method == http.MethodPost && query.Get("dryRun") != "All" && json.Unmarshal(body, &obj) == nil &&
		obj.Metadata.Name == "" && obj.Metadata.GenerateName != ""
}

// madeNothing reports whether an answer with the code says that a create made no object, and that a retry may succeed.
// asked says that the server named a time to wait before a retry.
func madeNothing(code int, err error, asked bool) bool {
	switch code {
	case http.StatusConflict:
		// Servers that know generateName name a time. The caller has checked that the object has no metadata.name.
		return asked && errors.Is(err, apierrors.AlreadyExists)
	case http.StatusGatewayTimeout:
		// By the API conventions ("Idempotency") this means that no free name was found in time. A 500 of the same
		// reason does not.
		return errors.Is(err, apierrors.ServerTimeout)
	}
	return asked && (code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable)
}
