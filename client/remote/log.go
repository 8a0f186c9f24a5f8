package remote

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/handle"
)

// LogOptions say which part of a container's log is read. The zero value is the whole log that the node has kept, as it
// is now.
type LogOptions struct {
	// Container is the container, which may be an init or ephemeral one. It may be empty if the pod has one container;
	// otherwise the server's error lists them.
	Container string
	// Follow goes on with what the container writes, until it ends. A log that is followed also ends, as if the
	// container had ended, when its node cuts the connection to the API server, which passes the cut on without an
	// error. [Tail] resumes.
	Follow bool
	// Previous reads the log of the container's previous run, before its last restart. A container that has had none is
	// an error.
	Previous bool
	// Since leaves out what was written before, such as time.Now().Add(-time.Hour), by the node's clock; zero leaves
	// out nothing. The server cuts off fractions of a second, so [Logs] may begin with lines up to a second older;
	// [Lines] leaves them out.
	Since time.Time
	// Tail is how many lines at the end of the present log are read; 0 reads all, and -1 none, which is of use only
	// with Follow. Since may leave out some of them.
	Tail int
	// Limit is the number of bytes after which the log is cut off, perhaps within a line; 0 is no limit. The timestamps
	// count.
	Limit int64
	// Timestamps puts the time at which a line was written before the line, in the format of time.RFC3339Nano, and a
	// space. It is for [Logs]; [Lines] always has the time.
	Timestamps bool
}

// Logs returns the log of one container as the container has written it. The caller closes it; a second Close does
// nothing, and a Read after Close fails. With Follow, a Read waits for as long as the container writes nothing; the end
// of ctx ends it, and so does Close.
//
// Every error is a *client.OpError, also one of Read: NotFound for a pod; BadRequest for a container that has not
// started yet, or that is not named and not the only one; Forbidden without the permission get on pods/log. The log of
// a pod that has no node yet is empty. A node that fails after the log has begun writes its error into the log.
func Logs[T meta.Object](ctx context.Context, pods client.Resource[T], key meta.Key, o LogOptions) (io.ReadCloser, error) {
	return newLogSource(pods).open(ctx, key, o)
}

// logSource is where logs come from.
type logSource struct {
	gvr    meta.GVR
	refuse error // why there are none
	stream func(ctx context.Context, key meta.Key, subresource string, query map[string][]string, idles bool) (io.ReadCloser, error)
}

func newLogSource[T meta.Object](pods client.Resource[T]) logSource {
	return logSource{gvr: pods.GVR(), refuse: checkHandle(pods, "pods"), stream: handle.Of(pods).Stream}
}

// open opens a log.
func (l logSource) open(ctx context.Context, key meta.Key, o LogOptions) (io.ReadCloser, error) {
	if l.refuse != nil {
		return nil, l.fail(key, usage(l.refuse))
	}
	if err := o.validate(); err != nil {
		return nil, l.fail(key, usage(err))
	}
	return l.stream(ctx, key, "log", o.query(), o.Follow)
}

// fail returns the error of a call.
func (l logSource) fail(key meta.Key, err error) error { return failed("get", l.gvr, "log", key, err) }

func (o LogOptions) validate() error {
	switch year := o.Since.UTC().Year(); {
	case year < 1 || year > 9999:
		return fmt.Errorf("remote.LogOptions: Since must be in a year from 1 to 9999, got %d", year)
	case o.Tail < -1:
		return fmt.Errorf("remote.LogOptions: Tail must be a number of lines, 0 for all or -1 for none, got %d", o.Tail)
	case o.Limit < 0:
		return fmt.Errorf("remote.LogOptions: Limit must be 0 or more, got %d", o.Limit)
	}
	return nil
}

// query returns what the server is asked for.
func (o LogOptions) query() url.Values {
	q := url.Values{}
	for name, wanted := range map[string]bool{"follow": o.Follow, "previous": o.Previous, "timestamps": o.Timestamps} {
		if wanted {
			q.Set(name, "true")
		}
	}
	if o.Container != "" {
		q.Set("container", o.Container)
	}
	if !o.Since.IsZero() {
		q.Set("sinceTime", o.Since.UTC().Format(time.RFC3339)) // which has no fractions
	}
	if o.Tail != 0 {
		q.Set("tailLines", strconv.Itoa(max(o.Tail, 0)))
	}
	if o.Limit > 0 {
		q.Set("limitBytes", strconv.FormatInt(o.Limit, 10))
	}
	return q
}
