package clienttest

import (
	"fmt"
	"strconv"

	"github.com/bowline-go/bowline/client/meta"
)

// Bookmark sends a bookmark now to every watch that allows bookmarks, even if they are muted. A watch whose initial
// events have not ended gets the bookmark that ends them. A watch that lags sends the bookmark after its pending
// events. Bookmark returns the number of watches that get one.
func (s *Server) Bookmark() int { return s.store.Bookmark() }

// MuteBookmarks stops the bookmarks that the server sends by itself, at intervals and shortly before the end of a
// watch, until it is called with false. It does not affect the bookmark that ends initial events: see
// [StreamingEndless].
func (s *Server) MuteBookmarks(mute bool) { s.muted.Store(mute) }

// SetStreamingLists replaces Options.StreamingLists for the watches that start from now on.
func (s *Server) SetStreamingLists(m StreamingLists) { s.streaming.Store(int32(m)) }

// SetShardedLists replaces Options.ShardedLists for the requests that start from now on.
func (s *Server) SetShardedLists(m ShardedLists) { s.sharded.Store(int32(m)) }

// SetStale makes a group version stale in discovery, or current again. A server reports a version as stale while it
// cannot reach the server behind it (an APIService). In the old form of discovery the version is then answered with
// 503. The resources themselves are still served.
func (s *Server) SetStale(group, version string, stale bool) {
	if v := (meta.GVR{Group: group, Version: version}); stale {
		s.stale.Store(v, true)
	} else {
		s.stale.Delete(v)
	}
}

// SetAggregated says whether the server supports aggregated discovery, as it does by default. Without it, the server
// behaves like one before Kubernetes 1.27, whose group versions are requested one by one.
func (s *Server) SetAggregated(known bool) { s.old.Store(!known) }

// ResourceVersion returns the present version: that of the last change of any object.
func (s *Server) ResourceVersion() string { return strconv.FormatUint(s.store.Version(), 10) }

// Compact makes the server forget its history. From then on the server answers 410 Expired to a list at an earlier
// resource version and to a continue token for one; a watch from an earlier version gets 410 as its first event. As on
// a real server, Compact does not affect open watches.
func (s *Server) Compact() { s.store.Compact() }

// Rollback restores the store to its state at a version, as when etcd is restored from a backup and the servers are
// restarted. Objects that were created since are gone, and changes since are undone. New versions count up from there,
// so one version may name two states. The server forgets its history as by [Server.Compact], all replicas have the
// store's state, and every watch is cut as by [Server.DropWatches]. Registered resources stay registered. A resource
// that was registered after that version, even if it was also registered before it, has no objects.
// CustomResourceDefinitions take effect as they were.
//
// The error says that the version is not a number, lies in the future, or is too old.
func (s *Server) Rollback(version string) error {
	v, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return fmt.Errorf("clienttest: roll back to version %q: %w", version, err)
	}
	if err := s.store.Rollback(v); err != nil {
		return err
	}
	s.redefine()
	return nil
}
