package clienttest

// Bookmark sends a bookmark now to every watch that allows bookmarks, even if they are muted. A watch whose initial events have
// not ended gets the bookmark that ends them. A watch that lags sends the bookmark after its pending events. Bookmark returns the
// number of watches that get one.
func (s *Server) Bookmark() int {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	n := 0
	for _, r := range s.store.resources {
		for w := range r.objects.watches {
			if w.bookmarks {
				n++
				select {
				case w.demand <- struct{}{}:
				default: // one is already requested
				}
			}
		}
	}
	return n
}

// MuteBookmarks stops the bookmarks that the server sends by itself, at intervals and shortly before the end of a watch, until it
// is called with false. It does not affect the bookmark that ends initial events: see [StreamingEndless].
func (s *Server) MuteBookmarks(mute bool) { s.muted.Store(mute) }

// StreamingLists says how the server treats watches that ask for the initial events (KEP-3157).
type StreamingLists int

const (
	// StreamingServed sends the initial events, and a bookmark that ends them.
	StreamingServed StreamingLists = iota
	// StreamingRefused answers 422, as a kube-apiserver does whose feature gate WatchList is off.
	StreamingRefused
	// StreamingIgnored ignores the parameters, as servers do that do not know them.
	StreamingIgnored
	// StreamingEndless sends the initial events and the later ones, but never a bookmark.
	StreamingEndless
)

// SetStreamingLists replaces Options.StreamingLists for the watches that start from now on.
func (s *Server) SetStreamingLists(m StreamingLists) { s.streaming.Store(int32(m)) }

// mode returns the present mode.
func (s *Server) mode() StreamingLists { return StreamingLists(s.streaming.Load()) }
