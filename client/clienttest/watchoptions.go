package clienttest

import (
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// watchTimeout is the duration of a watch without a timeout; a real server picks one between 30 and 60 minutes.
const watchTimeout = 45 * time.Minute

// watchOptions are the parameters of a watch.
type watchOptions struct {
	version   uint64
	current   bool // not older than the store's present version
	initial   bool // send the present objects first
	endMark   bool // and then a bookmark that ends them,
	endless   bool // but only on Server.Bookmark
	bookmarks bool
	timeout   time.Duration
}

// watchOptions reads the parameters of a watch, and the shard selector of its selection.
func (c *call) watchOptions(sel *selection) (o watchOptions, err error) {
	version, mode := c.query.Get("resourceVersion"), StreamingLists(c.streaming.Load())
	send := c.query.Has("sendInitialEvents") && mode != StreamingIgnored
	// A server with streaming lists also treats a watch without a version as a streaming list.
	streams := mode == StreamingServed || mode == StreamingEndless
	if causes := c.checkStreaming(version, send, mode); len(causes) > 0 {
		return o, status.InvalidOptions("ListOptions", causes...)
	}
	if err := c.shard(sel); err != nil {
		return o, err
	}
	timeout, err := intParam(c.query, "timeoutSeconds")
	if err != nil {
		return o, err
	}
	if version != "" {
		if o.version, err = strconv.ParseUint(version, 10, 64); err != nil {
			return o, badVersion(version, err)
		}
	}
	o.timeout = watchTimeout
	if timeout != 0 {
		o.timeout = time.Duration(timeout) * time.Second
	}
	o.initial = o.version == 0
	if send {
		o.initial = isTrue(c.query, "sendInitialEvents")
	}
	o.current = version == "" && (streams || send)
	o.bookmarks = isTrue(c.query, "allowWatchBookmarks")
	o.endMark = o.initial && o.bookmarks && streams
	o.endless = mode == StreamingEndless
	return o, nil
}

// checkStreaming returns the causes for which the parameters of a streaming list are refused. send says that the watch
// is a streaming list.
func (c *call) checkStreaming(version string, send bool, mode StreamingLists) (causes status.Causes) {
	const field, initial = "resourceVersionMatch", "sendInitialEvents"
	match, continues := c.query.Get(field), c.query.Get("continue") != ""
	if mode == StreamingIgnored {
		match = ""
	}
	causes.If(send && match != "NotOlderThan", status.ForbiddenValue(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
	causes.If(send && mode == StreamingRefused, status.ForbiddenValue(initial, "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"))
	if match == "" {
		if continues && version == "" && !send && (mode == StreamingServed || mode == StreamingEndless) {
			// A real server treats such a watch as a streaming list, and then checks its parameters.
			causes = append(causes, status.ForbiddenValue(field, matchAndContinue))
		}
		return causes
	}
	causes.If(!send, status.ForbiddenValue(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
	causes.If(match != "NotOlderThan", status.UnsupportedValue(field, match, "NotOlderThan"))
	causes.If(continues, status.ForbiddenValue(field, matchAndContinue))
	return causes
}
