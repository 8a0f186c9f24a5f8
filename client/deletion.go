package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// Deletion is a server's answer to a deletion that it has accepted.
type Deletion[T meta.Object] struct {
	// Gone says that the object no longer exists. Otherwise it exists until its finalizers are removed and its grace
	// period is over. With [WriteOptions.DryRun], Gone says whether the object would be gone.
	Gone bool
	// Object is the object that waits or, if Gone is set, its last state, which only some resources answer with. It is
	// the zero T if the answer had no object.
	Object T
	// Finalizers and GracePeriod are what the object waits for; both are empty if Gone is set. Those of a namespace
	// include the finalizers of its spec.
	Finalizers  []string
	GracePeriod time.Duration
	// UID is the object's uid. It is empty if the server did not send it.
	UID string
	// ResourceVersion is that of the state in Object. Without an Object it is the version of the deletion, which
	// servers send from Kubernetes 1.38 on; it is empty if the server is older. A cache that has reached the version of
	// a deletion no longer holds the object: see informer.Informer.WaitFor.
	ResourceVersion string
}

// deletionHead is the part of the answer to a deletion that tells whether the object is gone.
type deletionHead struct {
	Metadata struct {
		DeletionTimestamp          meta.Time `json:"deletionTimestamp"`
		DeletionGracePeriodSeconds int64     `json:"deletionGracePeriodSeconds"`
		Finalizers                 []string  `json:"finalizers"`
	} `json:"metadata"`
	Spec struct {
		Finalizers json.RawMessage `json:"finalizers"` // a namespace has finalizers here too
	} `json:"spec"`
}

// DeleteWithResult is [Resource.Delete], and also returns the server's answer: whether the object is gone, or what it
// waits for. The errors are those of Delete. If the server has accepted the deletion, and its answer cannot be read or
// decoded, the error is an [*AnswerError] or a [*DecodeError], and the deletion goes on.
func (r Resource[T]) DeleteWithResult(ctx context.Context, key meta.Key, o DeleteOptions) (Deletion[T], error) {
	d, err := r.untyped.deleteWithResult(ctx, key, o)
	obj, _ := d.Object.(T)
	return Deletion[T]{
		Gone: d.Gone, Object: obj, Finalizers: d.Finalizers, GracePeriod: d.GracePeriod, UID: d.UID, ResourceVersion: d.ResourceVersion,
	}, err
}

func (r resource) deleteWithResult(ctx context.Context, key meta.Key, o DeleteOptions) (d Deletion[meta.Object], err error) {
	q := r.request("delete", key)
	if err := q.setDelete(o, r.write.DryRun); err != nil {
		return d, err
	}
	if err := r.usable(); err != nil {
		return d, q.fail(&UsageError{Err: err})
	}
	err = r.c.call(ctx, q, func(resp *http.Response) error {
		defer func() { _ = resp.Body.Close() }()
		item, err := jsonstream.ReadObject(resp.Body, r.c.streamOptions(true))
		if err != nil {
			return unread(err, readError(ctx, resp, err))
		}
		if err := refusal(item.Raw, item.Kind); err != nil {
			return err
		}
		r.deleted(ctx, q, item.Raw)
		d, err = r.deletion(item, resp.StatusCode)
		return err
	})
	return d, err
}

// deletion interprets the answer to a deletion.
func (r resource) deletion(item jsonstream.Item, code int) (d Deletion[meta.Object], err error) {
	if item.Kind == "Status" {
		var s meta.Status
		if err := json.Unmarshal(item.Raw, &s); err != nil {
			return d, fmt.Errorf("decode the Status of a deletion: %w", err)
		}
		if s.Details != nil {
			d.UID = s.Details.UID
		}
		d.Gone, d.ResourceVersion = code != http.StatusAccepted, s.ResourceVersion // after 202 it still exists
		return d, nil
	}
	var head deletionHead
	if err := json.Unmarshal(item.Raw, &head); err != nil {
		return d, &DecodeError{Identity: item.Identity, Err: err}
	}
	if d.Object, err = r.decode(item); err != nil {
		return Deletion[meta.Object]{}, err
	}
	d.UID, d.ResourceVersion = item.UID, item.ResourceVersion
	var ofNamespace []string // in any other kind, spec.finalizers may be anything
	if item.Kind == "Namespace" && item.APIVersion == "v1" && len(head.Spec.Finalizers) > 0 {
		_ = json.Unmarshal(head.Spec.Finalizers, &ofNamespace)
	}
	finalizers := append(head.Metadata.Finalizers, ofNamespace...)
	grace := time.Duration(head.Metadata.DeletionGracePeriodSeconds) * time.Second
	switch {
	case head.Metadata.DeletionTimestamp.IsZero(), len(finalizers) == 0 && grace == 0:
		d.Gone = true
	default:
		d.Finalizers, d.GracePeriod = finalizers, grace
	}
	return d, nil
}

// setDelete makes q the request of a deletion. Its error is that of the call.
func (q *request) setDelete(o DeleteOptions, dryRun bool) error {
	q.contentType = jsonType
	body, err := o.body(dryRun)
	if err == nil {
		q.body, err = json.Marshal(body)
	}
	if err != nil {
		return q.fail(&UsageError{Err: err})
	}
	return nil
}
