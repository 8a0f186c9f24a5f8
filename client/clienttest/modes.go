package clienttest

import "github.com/bowline-go/bowline/client/meta"

// Bookmark sends a bookmark now to every watch that allows bookmarks, even if they are muted. A watch whose initial events have
// not ended gets the bookmark that ends them. A watch that lags sends the bookmark after its pending events. Bookmark returns the
// number of watches that get one.
func (s *Server) Bookmark() int { return s.store.Bookmark() }

// MuteBookmarks stops the bookmarks that the server sends by itself, at intervals and shortly before the end of a watch, until it
// is called with false. It does not affect the bookmark that ends initial events: see [StreamingEndless].
func (s *Server) MuteBookmarks(mute bool) { s.muted.Store(mute) }

// SetStreamingLists replaces Options.StreamingLists for the watches that start from now on.
func (s *Server) SetStreamingLists(m StreamingLists) { s.streaming.Store(int32(m)) }

// SetShardedLists replaces Options.ShardedLists for the requests that start from now on.
func (s *Server) SetShardedLists(m ShardedLists) { s.sharded.Store(int32(m)) }

// SetStale makes a group version stale in discovery, or current again. A server reports a version as stale while it cannot reach
// the server behind it (an APIService). In the old form of discovery the version is then answered with 503. The resources
// themselves are still served.
func (s *Server) SetStale(group, version string, stale bool) {
	if v := (meta.GVR{Group: group, Version: version}); stale {
		s.stale.Store(v, true)
	} else {
		s.stale.Delete(v)
	}
}

// SetAggregated says whether the server supports aggregated discovery, which it does at first. Without it, the server behaves
// like one before Kubernetes 1.27, whose group versions are requested one by one.
func (s *Server) SetAggregated(known bool) { s.old.Store(!known) }
