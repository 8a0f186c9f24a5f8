package clienttest

// Bookmark sends a bookmark now to every watch that allows them, also while they are muted; a watch whose initial events
// have not ended gets the one that ends them. It returns how many watches there are to get one; one that lags sends it
// after what it has to send before.
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
				default: // one is wanted already
				}
			}
		}
	}
	return n
}

// MuteBookmarks ends the bookmarks that watches get by themselves, every so often and shortly before their end, until it
// is called with false. The bookmark that ends initial events is none of them: see [StreamingEndless].
func (s *Server) MuteBookmarks(mute bool) { s.muted.Store(mute) }

// StreamingLists says what the server makes of watches that ask for the initial events (KEP-3157).
type StreamingLists int

const (
	// StreamingServed sends the initial events, and a bookmark that ends them.
	StreamingServed StreamingLists = iota
	// StreamingRefused answers 422, as a kube-apiserver does whose feature gate WatchList is off.
	StreamingRefused
	// StreamingIgnored does as if the parameters were not there, as servers do that do not know them.
	StreamingIgnored
	// StreamingEndless sends the initial events, and what happens then, and never a bookmark.
	StreamingEndless
)

// SetStreamingLists replaces Options.StreamingLists for the watches that start from now on.
func (s *Server) SetStreamingLists(m StreamingLists) { s.streaming.Store(int32(m)) }

// mode returns the present one.
func (s *Server) mode() StreamingLists { return StreamingLists(s.streaming.Load()) }
