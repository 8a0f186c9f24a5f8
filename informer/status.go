package informer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Status says how an informer is doing. It is a copy: it does not change afterwards.
type Status struct {
	// State is what the informer is doing.
	State State
	// Synced says that the cache holds a complete list, however old.
	Synced bool
	// Err is the last error of a list or a watch, nil when a list, an event or the clean end of a watch has followed. Since is
	// when the last error happened, whether or not Err still has it.
	Err   error
	Since time.Time
	// LastEvent is when something last came from the server: a list, an event or a bookmark.
	LastEvent time.Time
	// ResourceVersion is what the cache is current to.
	ResourceVersion string
	// Objects is how many objects the cache holds.
	Objects int
	// Lists and Watches count what was asked of the server, Events what was applied.
	Lists, Watches, Events int
	// Relists counts the complete lists after the first one, by cause.
	Relists map[Cause]int
	// Undecodable are the objects that do not decode at present, ordered by key. The cache holds their last good state, where
	// there was one.
	Undecodable []Undecodable
}

// Undecodable is an object that does not decode.
type Undecodable struct {
	// Identity is the state that does not decode.
	Identity meta.Identity
	// Err is why.
	Err error
}

// String returns one line for people.
func (s Status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d objects at version %q, %d lists, %d watches, %d events", s.State, s.Objects, s.ResourceVersion, s.Lists, s.Watches, s.Events)
	if !s.Synced {
		b.WriteString(", not synced")
	}
	for _, cause := range slices.Sorted(maps.Keys(s.Relists)) {
		fmt.Fprintf(&b, ", relists %s=%d", cause, s.Relists[cause])
	}
	if len(s.Undecodable) > 0 {
		fmt.Fprintf(&b, ", %d objects do not decode", len(s.Undecodable))
	}
	if s.Err != nil {
		fmt.Fprintf(&b, ", last error: %v", s.Err)
	}
	return b.String()
}
