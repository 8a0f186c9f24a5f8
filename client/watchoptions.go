package client

import (
	"fmt"
	"net/url"
	"strconv"
	"time"
)

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
