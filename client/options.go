package client

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// DefaultPageSize is how many objects a page of a list has when ListOptions.PageSize is 0.
const DefaultPageSize = 500

// ListOptions choose what a list returns. The zero value lists every object of the resource, in all namespaces, as the
// server has it now.
type ListOptions struct {
	// Namespace limits the list to one namespace; empty means all of them.
	Namespace string
	// LabelSelector and FieldSelector are the API's selectors, such as "app=web,tier!=cache"; empty selects everything.
	LabelSelector string
	FieldSelector string
	// PageSize is how many objects the server is asked for at a time, the API's limit; 0 means DefaultPageSize, and a
	// negative number asks for everything in one answer. Every call reads all pages, whatever the size.
	PageSize int
	// ResourceVersion and ResourceVersionMatch relax how fresh the list must be. Empty means what the server has now; see
	// "Resource versions" in the Kubernetes API concepts for the rest.
	ResourceVersion      string
	ResourceVersionMatch ResourceVersionMatch
	// KeepManagedFields leaves metadata.managedFields in the objects. By default it is cut before they are decoded.
	KeepManagedFields bool
	// OnPage, where it is set, is called with the metadata of each page as soon as it is known, before the page's objects if
	// the server sends it before them. Its RemainingItemCount says how many objects there are after the page, where the
	// server knows. It is called by the goroutine that lists.
	OnPage func(meta.ListMeta)
}

// ResourceVersionMatch says how ListOptions.ResourceVersion is meant.
type ResourceVersionMatch string

const (
	// NotOlderThan asks for data at least as new as the version. It is the server's default for a version other than
	// empty and "0".
	NotOlderThan ResourceVersionMatch = "NotOlderThan"
	// Exact asks for the data at exactly the version.
	Exact ResourceVersionMatch = "Exact"
)

// query returns the parameters of the first page.
func (o ListOptions) query() (url.Values, error) {
	switch {
	case o.ResourceVersionMatch == "":
	case o.ResourceVersionMatch != NotOlderThan && o.ResourceVersionMatch != Exact:
		return nil, fmt.Errorf("client.ListOptions: ResourceVersionMatch must be NotOlderThan or Exact, got %q", o.ResourceVersionMatch)
	case o.ResourceVersion == "":
		return nil, errors.New("client.ListOptions: ResourceVersionMatch needs a ResourceVersion")
	case o.ResourceVersionMatch == Exact && o.ResourceVersion == "0":
		return nil, errors.New(`client.ListOptions: ResourceVersionMatch Exact needs a ResourceVersion other than "0"`)
	}
	q := o.pageQuery()
	set(q, "labelSelector", o.LabelSelector)
	set(q, "fieldSelector", o.FieldSelector)
	set(q, "resourceVersion", o.ResourceVersion)
	set(q, "resourceVersionMatch", string(o.ResourceVersionMatch))
	return q, nil
}

// pageQuery returns what every page's request carries.
func (o ListOptions) pageQuery() url.Values {
	q := url.Values{}
	switch {
	case o.PageSize == 0:
		q.Set("limit", strconv.Itoa(DefaultPageSize))
	case o.PageSize > 0:
		q.Set("limit", strconv.Itoa(o.PageSize))
	}
	return q
}

// nextQuery returns the parameters of the page that a continue token leads to. The server refuses a resource version there:
// the token holds it. Selectors go along.
func (o ListOptions) nextQuery(token string) url.Values {
	q := o.pageQuery()
	set(q, "labelSelector", o.LabelSelector)
	set(q, "fieldSelector", o.FieldSelector)
	q.Set("continue", token)
	return q
}

// WatchOptions choose what a watch reports. The zero value reports every object of the resource as Added first, and then
// what changes.
type WatchOptions struct {
	// Namespace limits the watch to one namespace; empty means all of them.
	Namespace string
	// LabelSelector and FieldSelector are the API's selectors; empty selects everything. An object that starts or ceases
	// to match arrives as Added or Deleted.
	LabelSelector string
	FieldSelector string
	// ResourceVersion is the version after which to start, that of a list or of an event. Empty starts with the present
	// objects as Added events, in no order, and without a sign of where they end.
	ResourceVersion string
	// InitialEvents asks for a streaming list (KEP-3157): the present objects come as Added events, then a Bookmark with
	// InitialEventsEnd, whether Bookmarks is set or not, and then what changes. ResourceVersion then is the least that the
	// objects must be current to; empty means what the server has now. A server that is too old for it ignores it and sends
	// no such Bookmark, or refuses the watch; [Resource.StreamingLists] remembers which.
	InitialEvents bool
	// Bookmarks asks for Bookmark events, which carry a version to resume from and no object.
	Bookmarks bool
	// Timeout is how long the server keeps the watch open, in whole seconds; 0 leaves it to the server, usually 30 to 60
	// minutes. The watch then ends without an error.
	Timeout time.Duration
	// KeepManagedFields leaves metadata.managedFields in the objects.
	KeepManagedFields bool
}

func (o WatchOptions) query() (url.Values, error) {
	if o.Timeout < 0 || o.Timeout%time.Second != 0 {
		return nil, fmt.Errorf("client.WatchOptions: Timeout must be a whole, not negative number of seconds, got %v", o.Timeout)
	}
	q := url.Values{"watch": {"true"}}
	set(q, "labelSelector", o.LabelSelector)
	set(q, "fieldSelector", o.FieldSelector)
	set(q, "resourceVersion", o.ResourceVersion)
	if o.Bookmarks || o.InitialEvents {
		q.Set("allowWatchBookmarks", "true")
	}
	if o.InitialEvents {
		q.Set("sendInitialEvents", "true")
		q.Set("resourceVersionMatch", string(NotOlderThan))
	}
	if o.Timeout > 0 {
		q.Set("timeoutSeconds", strconv.FormatInt(int64(o.Timeout/time.Second), 10))
	}
	return q, nil
}

// WriteOptions hold for every write of a handle; see [Resource.With].
type WriteOptions struct {
	// FieldManager is the name under which the server records who set which field. Empty leaves it to the server; see
	// Config.UserAgent.
	FieldManager string
	// DryRun makes the server do everything but store the result.
	DryRun bool
	// FieldValidation says what the server does with fields that it does not know.
	FieldValidation FieldValidation
}

// FieldValidation says what the server does with unknown and duplicate fields of a write.
type FieldValidation string

const (
	// ValidateDefault leaves it to the server, which warns.
	ValidateDefault FieldValidation = ""
	// ValidateIgnore drops them silently.
	ValidateIgnore FieldValidation = "Ignore"
	// ValidateWarn drops them and answers with a warning; see Hooks.Warning.
	ValidateWarn FieldValidation = "Warn"
	// ValidateStrict refuses the write.
	ValidateStrict FieldValidation = "Strict"
)

func (o WriteOptions) validate() error {
	switch o.FieldValidation {
	case ValidateDefault, ValidateIgnore, ValidateWarn, ValidateStrict:
		return nil
	}
	return fmt.Errorf("client.WriteOptions: FieldValidation must be Ignore, Warn, Strict or empty, got %q", o.FieldValidation)
}

func (o WriteOptions) query() url.Values {
	q := url.Values{}
	set(q, "fieldManager", o.FieldManager)
	set(q, "fieldValidation", string(o.FieldValidation))
	if o.DryRun {
		q.Set("dryRun", "All")
	}
	return q
}

// DeleteOptions choose how an object is deleted. The zero value deletes whatever has the name, in the server's default way.
type DeleteOptions struct {
	// UID and ResourceVersion are preconditions: where the object's differ, nothing happens and the error is a Conflict.
	UID             string
	ResourceVersion string
	// Propagation says what happens to the objects that this one owns; empty is the default of the resource.
	Propagation Propagation
	// GracePeriod is how long the object may take to end, in whole seconds; 0 is the default of the resource, and
	// Immediately asks for none.
	GracePeriod time.Duration
}

// Immediately is the DeleteOptions.GracePeriod that deletes without one.
const Immediately time.Duration = -1

// Propagation says what a deletion does to the objects that the deleted one owns.
type Propagation string

const (
	// Background deletes the object at once and what it owns afterwards.
	Background Propagation = "Background"
	// Foreground deletes what the object owns first.
	Foreground Propagation = "Foreground"
	// Orphan leaves what the object owns.
	Orphan Propagation = "Orphan"
)

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

func (o DeleteOptions) body() (deleteBody, error) {
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
	case o.GracePeriod == Immediately:
		b.GracePeriodSeconds = new(int64)
	case o.GracePeriod < 0 || o.GracePeriod%time.Second != 0:
		return b, fmt.Errorf("client.DeleteOptions: GracePeriod must be whole seconds or Immediately, got %v", o.GracePeriod)
	case o.GracePeriod > 0:
		seconds := int64(o.GracePeriod / time.Second)
		b.GracePeriodSeconds = &seconds
	}
	return b, nil
}

func set(q url.Values, key, value string) {
	if value != "" {
		q.Set(key, value)
	}
}
