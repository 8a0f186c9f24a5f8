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

// LogOptions select a part of a container's log. The zero value selects everything that the node has kept, without
// following.
type LogOptions struct {
	// Container is the name of the container, which may be an init or ephemeral container. It may be empty if the pod
	// has only one; otherwise the server returns an error that lists them.
	Container string
	// Follow keeps reading new output until the container ends. If the connection between the node and the API server
	// is cut, the log ends too, without an error, as if the container had ended. [Tail] resumes such a log.
	Follow bool
	// Previous reads the log of the container's previous run, before its last restart. It is an error if there is no
	// previous run.
	Previous bool
	// Since leaves out output from before this time by the node's clock, such as time.Now().Add(-time.Hour); zero
	// leaves out nothing. The server cuts off fractions of a second, so [Logs] may begin with lines up to a second
	// older; [Lines] leaves them out.
	Since time.Time
	// Tail is how many of the last existing lines are read; 0 reads all, and -1 none, which is useful only with Follow.
	// Since may leave out some of them.
	Tail int
	// Limit cuts the log off after this many bytes, perhaps within a line; 0 is no limit. Timestamps count.
	Limit int64
	// Timestamps puts the time of a line and a space before the line, in the format of time.RFC3339Nano. It is for
	// [Logs]; [Lines] always requests the time.
	Timestamps bool
}

// Logs returns the log of one container, byte for byte. The caller must close it; a second Close does nothing, and a
// Read after Close fails. With Follow, Read blocks until the container writes; the end of ctx or Close unblocks it.
//
// Every error is a *client.OpError, including those of Read: NotFound if the pod does not exist; BadRequest if the
// container has not started yet, or if Container is empty and the pod has several; Forbidden without the permission get
// on pods/log. The log of a pod that has no node yet is empty. If a node fails after the log has begun, it writes its
// error into the log.
func Logs[T meta.Object](ctx context.Context, pods client.Resource[T], key meta.Key, o LogOptions) (io.ReadCloser, error) {
	return newLogSource(pods).open(ctx, key, o)
}

// logSource opens the logs of the pods of one handle.
type logSource struct {
	gvr    meta.GVR
	refuse error // why the handle cannot be used
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

// fail adds the pod to an error.
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

// query returns the query of the request.
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
		q.Set("sinceTime", o.Since.UTC().Format(time.RFC3339)) // time.RFC3339 has no fractions
	}
	if o.Tail != 0 {
		q.Set("tailLines", strconv.Itoa(max(o.Tail, 0)))
	}
	if o.Limit > 0 {
		q.Set("limitBytes", strconv.FormatInt(o.Limit, 10))
	}
	return q
}
