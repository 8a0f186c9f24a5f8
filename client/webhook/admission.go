package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/patch/carry"
	"github.com/bowline-go/bowline/patch"
)

// Validate returns a handler that allows a request if check returns no error. Changes that check makes to the object
// have no effect. Use it in a ValidatingWebhookConfiguration. It panics if check is nil.
func Validate[T meta.Object](of client.Type[T], check func(ctx context.Context, r *Request[T]) error) http.Handler {
	return admission(of, check, func(*meeting[T]) ([]byte, error) { return nil, nil })
}

// Default returns a handler that lets change set missing members of r.Object. The handler answers with the JSON patch
// of the changes. If change returns an error, the handler refuses the request. Use it in a
// MutatingWebhookConfiguration. A server may call several times for one request, so a second call must find nothing
// left to change. For Delete and Connect, changes of the object have no effect. It panics if change is nil.
func Default[T meta.Object](of client.Type[T], change func(ctx context.Context, r *Request[T]) error) http.Handler {
	return admission(of, change, (*meeting[T]).patch)
}

// meeting is the state of one call of the function.
type meeting[T meta.Object] struct {
	of      client.Type[T]
	asked   admissionRequest
	request *Request[T]
	before  []byte // the JSON of Object before the call
}

func admission[T meta.Object](of client.Type[T], decide func(context.Context, *Request[T]) error, patched func(*meeting[T]) ([]byte, error)) http.Handler {
	if decide == nil {
		panic("webhook: the function must not be nil")
	}
	return &handler{admissionVersion, "AdmissionReview", "an AdmissionReview", func(ctx context.Context, text json.RawMessage) (any, error) {
		m, err := read(of, text)
		if err != nil {
			return nil, err
		}
		answer := &admissionResponse{UID: m.asked.UID, Allowed: true}
		if err := decide(ctx, m.request); err != nil {
			answer.Allowed, answer.Status = false, refusal(m.asked.Kind, m.asked.Name, err)
		} else if answer.Patch, err = patched(m); err != nil {
			return nil, err
		}
		if answer.Patch != nil {
			answer.PatchType = "JSONPatch"
		}
		notes := &m.request.notes
		notes.mu.Lock()
		defer notes.mu.Unlock()
		answer.Warnings, answer.AuditAnnotations = notes.warnings, notes.audit
		return answer, nil
	}}
}

// read reads a request.
func read[T meta.Object](of client.Type[T], text json.RawMessage) (*meeting[T], error) {
	m := &meeting[T]{of: of}
	a := &m.asked
	if err := json.Unmarshal(text, a); err != nil {
		return nil, wrong(http.StatusBadRequest, "read the request: %w", err)
	}
	is := meta.GVK{Group: a.Kind.Group, Version: a.Kind.Version, Kind: a.Kind.Kind}
	if is != of.GVK() {
		return nil, wrong(http.StatusBadRequest, "this webhook decides about %v, and was asked about %v; see the rules of its configuration", of.GVK(), is)
	}
	if a.UID == "" {
		return nil, wrong(http.StatusBadRequest, "the request must have a uid")
	}
	m.request = &Request[T]{
		Operation: a.Operation, Key: meta.Key{Namespace: a.Namespace, Name: a.Name}, Kind: is,
		Resource: meta.GVR{Group: a.Resource.Group, Version: a.Resource.Version, Resource: a.Resource.Resource}, Subresource: a.Subresource,
		User: a.User, DryRun: a.DryRun, Options: a.Options,
	}
	var err error
	if m.request.Object, err = object(of, a.Object); err == nil {
		m.request.Old, err = object(of, a.OldObject)
	}
	if err == nil && isThere(a.Object) {
		m.before, err = encode(of, m.request.Object)
	}
	return m, err
}

// object decodes an object, which may be missing.
func object[T meta.Object](of client.Type[T], text json.RawMessage) (T, error) {
	var none T
	if !isThere(text) {
		return none, nil
	}
	obj, err := codec.Unmarshal[T](text)
	if err != nil {
		return none, wrong(http.StatusInternalServerError, "read the %s: %w", of.Kind, err)
	}
	return obj, nil
}

func isThere(text json.RawMessage) bool { return len(text) > 0 && string(text) != "null" }

func encode[T meta.Object](of client.Type[T], obj T) ([]byte, error) {
	return codec.Marshal(obj, of.GVK().APIVersion(), of.Kind)
}

// patch returns the JSON patch for the changes of the function, or nil.
func (m *meeting[T]) patch() ([]byte, error) {
	if m.before == nil || m.asked.Operation == Delete || m.asked.Operation == Connect {
		return nil, nil
	}
	after, err := encode(m.of, m.request.Object)
	if err != nil || bytes.Equal(after, m.before) {
		return nil, err
	}
	whole, err := carry.Change(m.asked.Object, m.before, after)
	if err != nil {
		return nil, err
	}
	p := patch.DiffJSON(m.asked.Object, json.RawMessage(whole))
	if p.IsEmpty() {
		return nil, nil
	}
	return p.Body()
}
