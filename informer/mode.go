package informer

import "github.com/bowline-go/bowline/internal/shown"

// Mode says how an informer reads the whole collection.
type Mode int

const (
	// Auto reads the collection as a streaming list. It reads page by page if the server does not serve streaming
	// lists: the server refuses, ignores the request, or sends no sign of the end. The client remembers that for an
	// hour, for each resource. If the server forbids one way (403), Auto tries the other: a streaming list needs the
	// permission to watch, a paged one the permission to list. After three streaming lists in a row that fail in
	// another way, Auto tries a paged one. While the server serves no watch, lists are paged; see Status.Polling.
	Auto Mode = iota
	// Paged reads the collection page by page.
	Paged
	// Streaming reads the collection from the watch that then follows the changes (KEP-3157), however the server
	// answers. If the server serves no streaming lists, the informer never syncs, and Status says why.
	Streaming
)

// String returns the mode's name.
func (m Mode) String() string {
	return shown.Name("Mode", int(m), "Auto", "Paged", "Streaming")
}
