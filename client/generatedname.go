package client

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	apierrors "github.com/bowline-go/bowline/errors"
)

// A create may leave the object's name to the server (metadata.generateName). Sent twice, it makes two objects. So it
// is repeated only after an answer that says that none was made: the name that the server made is taken, or the request
// was not handled.

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

// madeNothing reports whether an answer with that code says that a create made no object, but may make one if it is
// repeated. asked says that the server named a time to wait before a retry.
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
