package remote

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/handle"
)

// checkHandle returns an error unless r is a handle on this resource of the core group.
func checkHandle[T meta.Object](r client.Resource[T], resource string) error {
	if handle.Of(r).Upgrade == nil {
		return fmt.Errorf("remote: the handle on %s is the zero Resource; make it with client.For", resource)
	}
	if gvr := r.GVR(); gvr.Group != "" || gvr.Resource != resource {
		return fmt.Errorf("remote: the handle must be for core v1 %s, got %s", resource, gvr)
	}
	return nil
}

// createPermission adds the permission create to a Forbidden error whose message names no verb. The server names the
// verb only if get, the request's own verb, is missing.
func createPermission(err error, subresource string) error {
	op, inRequest := errors.AsType[*client.OpError](err)
	refused, answered := errors.AsType[*apierrors.StatusError](err)
	if !errors.Is(err, apierrors.Forbidden) || !inRequest || !answered || strings.Contains(refused.Status.Message, " cannot ") {
		return err
	}
	explained := *op
	explained.Err = fmt.Errorf("%w (Kubernetes 1.35 and later ask for the permission create on pods/%s too)", op.Err, subresource)
	return &explained
}

// failed wraps err in a *client.OpError, unless err already is a *client.OpError or *client.WaitError, or nil.
func failed(verb string, gvr meta.GVR, subresource string, key meta.Key, err error) error {
	if err == nil || errors.As(err, new(*client.OpError)) || errors.As(err, new(*client.WaitError)) {
		return err
	}
	return &client.OpError{Verb: verb, Resource: gvr, Subresource: subresource, Key: key, Err: err}
}

func usage(err error) error { return &client.UsageError{Err: err} }
