package informer

// Mode says how an informer reads the whole collection.
type Mode int

const (
	// Auto reads it as a streaming list, and page by page where the server does not serve those: it refuses, ignores what
	// was asked, or sends no sign of the end. The client remembers for an hour which it is, for each resource. Where the
	// server forbids the one (403) it is asked for the other, as that takes the permission to watch, and this the one to list.
	Auto Mode = iota
	// Paged reads it page by page.
	Paged
	// Streaming reads it from the watch that then follows the changes (KEP-3157), whatever the server makes of it: where it
	// serves no such lists the informer never syncs, and Status says why.
	Streaming
)

// String returns the mode's name.
func (m Mode) String() string {
	switch m {
	case Auto:
		return "Auto"
	case Paged:
		return "Paged"
	case Streaming:
		return "Streaming"
	}
	return "unknown"
}
