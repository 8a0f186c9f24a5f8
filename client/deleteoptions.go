package client

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// DeleteOptions choose how an object is deleted. The zero value deletes any object of that name, in the server's
// default way.
type DeleteOptions struct {
	// UID and ResourceVersion are preconditions: if the object's differ, nothing happens and the error is a Conflict.
	UID             string
	ResourceVersion string
	// Propagation says what happens to the objects that this one owns; empty means the default of the resource.
	Propagation Propagation
	// GracePeriod is how long the object may take to end, in whole seconds; 0 means the default of the resource, and
	// NoGracePeriod means no grace period.
	GracePeriod time.Duration
}

// NoGracePeriod is the DeleteOptions.GracePeriod that deletes without a grace period.
const NoGracePeriod time.Duration = -1

// Propagation says what a deletion does to the dependents of the deleted object, which are the objects that it owns.
type Propagation string

const (
	// Background deletes the object at once, and its dependents afterwards.
	Background Propagation = "Background"
	// Foreground deletes the object's dependents first.
	Foreground Propagation = "Foreground"
	// Orphan deletes the object and leaves its dependents.
	Orphan Propagation = "Orphan"
)

// Selection says which objects of a collection [Resource.DeleteCollection] deletes.
type Selection struct {
	// Namespace is the namespace; it must be set for a namespaced resource, unless [Resource.In] has set it.
	Namespace string
	// LabelSelector and FieldSelector are the API's selectors. Without either, Everything must be set.
	LabelSelector string
	FieldSelector string
	// Everything selects the whole collection. It is required if there is no selector.
	Everything bool
}

func (s Selection) validate() error {
	none := s.LabelSelector == "" && s.FieldSelector == ""
	switch {
	case none && !s.Everything:
		return errors.New("client.Selection: LabelSelector or FieldSelector must be set, or Everything for all of the collection")
	case !none && s.Everything:
		return errors.New("client.Selection: Everything must not be set beside a selector")
	}
	return nil
}

func (s Selection) query() url.Values {
	q := url.Values{}
	set(q, "labelSelector", s.LabelSelector)
	set(q, "fieldSelector", s.FieldSelector)
	return q
}

// deleteBody is DeleteOptions on the wire.
type deleteBody struct {
	Kind               string         `json:"kind"`
	APIVersion         string         `json:"apiVersion"`
	GracePeriodSeconds *int64         `json:"gracePeriodSeconds,omitempty"`
	Preconditions      *preconditions `json:"preconditions,omitempty"`
	PropagationPolicy  Propagation    `json:"propagationPolicy,omitempty"`
	DryRun             []string       `json:"dryRun,omitempty"`
}

type preconditions struct {
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// body returns the options in their wire form.
func (o DeleteOptions) body(dryRun bool) (deleteBody, error) {
	b := deleteBody{Kind: "DeleteOptions", APIVersion: "v1", PropagationPolicy: o.Propagation}
	switch o.Propagation {
	case "", Background, Foreground, Orphan:
	default:
		return b, fmt.Errorf("client.DeleteOptions: Propagation must be Background, Foreground, Orphan or empty, got %q", o.Propagation)
	}
	if o.UID != "" || o.ResourceVersion != "" {
		b.Preconditions = &preconditions{UID: o.UID, ResourceVersion: o.ResourceVersion}
	}
	switch {
	case o.GracePeriod == NoGracePeriod:
		b.GracePeriodSeconds = new(int64)
	case o.GracePeriod < 0 || o.GracePeriod%time.Second != 0:
		return b, fmt.Errorf("client.DeleteOptions: GracePeriod must be whole seconds or NoGracePeriod, got %v", o.GracePeriod)
	case o.GracePeriod > 0:
		b.GracePeriodSeconds = new(int64(o.GracePeriod / time.Second))
	}
	// The server ignores the query parameters of a deletion that has a body, so the dry run must be in the body.
	if dryRun {
		b.DryRun = []string{"All"}
	}
	return b, nil
}
