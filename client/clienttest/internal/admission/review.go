package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// Request is what a webhook is asked: the member request of an AdmissionReview.
type Request struct {
	UID                string          `json:"uid"`
	Kind               kind            `json:"kind"`
	Resource           resource        `json:"resource"`
	Subresource        string          `json:"subResource,omitempty"`
	RequestKind        kind            `json:"requestKind"`
	RequestResource    resource        `json:"requestResource"`
	RequestSubresource string          `json:"requestSubResource,omitempty"`
	Name               string          `json:"name,omitempty"`
	Namespace          string          `json:"namespace,omitempty"`
	Operation          string          `json:"operation"`
	User               any             `json:"userInfo"`
	Object             json.RawMessage `json:"object"`
	OldObject          json.RawMessage `json:"oldObject"`
	DryRun             bool            `json:"dryRun"`
	Options            json.RawMessage `json:"options"`
}

type kind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

type resource struct {
	Group    string `json:"group"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
}

// As shows the request in a version of its resource. requested is the version of the request itself.
func (r *Request) As(shown, requested Version, subresource string) {
	r.Kind, r.RequestKind = kind(shown.Kind), kind(requested.Kind)
	r.Resource, r.RequestResource = resource(shown.Resource), resource(requested.Resource)
	r.Subresource, r.RequestSubresource = subresource, subresource
}

// Answer is what a webhook says: the member response of an AdmissionReview.
type Answer struct {
	UID       string       `json:"uid"`
	Allowed   bool         `json:"allowed"`
	Status    *meta.Status `json:"status"`
	Patch     []byte       `json:"patch"`
	PatchType *string      `json:"patchType"`
	Warnings  []string     `json:"warnings"`
}

const group = "admission.k8s.io/"

// review returns the body of a call.
func (h *Hook) review(r *Request) (body []byte, version string, _ error) {
	for _, v := range h.AdmissionReviewVersions {
		if v == "v1" || v == "v1beta1" {
			body, err := json.Marshal(map[string]any{"kind": "AdmissionReview", "apiVersion": group + v, "request": r})
			return body, v, err
		}
	}
	return nil, "", errors.New("webhook does not accept known AdmissionReview versions (v1, v1beta1)")
}

// decodeReview decodes the answer of a webhook, which is a review of a kind in a version, and returns which kind it is.
func decodeReview(body []byte, kind, group, version string, into any) (is meta.TypeMeta, err error) {
	if is, err = object.TypeOf(body); err == nil {
		err = json.Unmarshal(body, into)
	}
	switch {
	case err != nil:
	case is.Kind == "":
		//lint:ignore ST1005 these are the real server's words
		err = fmt.Errorf("Object 'Kind' is missing in '%s'", body)
	case is.Kind == kind && is.APIVersion != group+version && (is.APIVersion == group+"v1" || is.APIVersion == group+"v1beta1"):
		err = fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", strings.TrimPrefix(is.APIVersion, group), kind, version, kind)
	}
	return is, err
}

// read reads and checks the answer to a call in a version.
func (r *Request) read(body []byte, version string, mutating bool) (*Answer, error) {
	var review struct {
		Response *Answer `json:"response"`
	}
	is, err := decodeReview(body, "AdmissionReview", group, version, &review)
	if err != nil {
		return nil, fmt.Errorf("failed to call webhook: %w", err)
	}
	a, wrong := review.Response, ""
	switch {
	case a == nil:
		wrong = "webhook response was absent"
	case version == "v1beta1": // a server checks less in this version
	case a.UID != r.UID:
		wrong = fmt.Sprintf("expected response.uid=%q, got %q", r.UID, a.UID)
	case is != meta.TypeMeta{Kind: "AdmissionReview", APIVersion: group + version}:
		gvk := is.GVK()
		wrong = fmt.Sprintf("expected webhook response of %s%s, Kind=AdmissionReview, got %s/%s, Kind=%s", group, version, gvk.Group, gvk.Version, gvk.Kind)
	case !mutating && len(a.Patch) > 0:
		wrong = "validating webhook may not return response.patch"
	case !mutating && a.PatchType != nil:
		wrong = "validating webhook may not return response.patchType"
	case !mutating:
	case len(a.Patch) > 0 && a.PatchType == nil:
		wrong = "webhook returned response.patch but not response.patchType"
	case len(a.Patch) == 0 && a.PatchType != nil:
		wrong = "webhook returned response.patchType but not response.patch"
	case a.PatchType != nil && *a.PatchType == "":
		wrong = `webhook returned invalid response.patchType of ""`
	case a.PatchType != nil && *a.PatchType != "JSONPatch":
		return nil, fmt.Errorf("unsupported patch type %q", *a.PatchType)
	}
	if wrong != "" {
		return nil, fmt.Errorf("received invalid webhook response: %s", wrong)
	}
	return a, nil
}

// refusal returns the error of a write that a webhook does not allow.
func (h *Hook) refusal(said *meta.Status) error {
	e := status.Failure(http.StatusBadRequest, "", "")
	if said != nil {
		e.Status = *said
	}
	e.Status.TypeMeta = meta.TypeMeta{Kind: "Status", APIVersion: "v1"}
	e.Status.Code = max(e.Status.Code, http.StatusBadRequest)
	if e.Status.Status == "" || e.Status.Status == "Success" {
		e.Status.Status = "Failure"
	}
	why := " without explanation"
	switch {
	case e.Status.Message != "":
		why = ": " + e.Status.Message
	case e.Status.Reason != "":
		why = ": " + e.Status.Reason
	}
	e.Status.Message = fmt.Sprintf("admission webhook %q denied the request%s", h.Name, why)
	return e
}

// Failed is the error of a call that failed: the webhook has not answered, or its answer cannot be read.
type Failed struct {
	Hook string
	Err  error
}

func (e *Failed) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", e.Hook, e.Err)
}

// Unwrap returns the reason.
func (e *Failed) Unwrap() error { return e.Err }
