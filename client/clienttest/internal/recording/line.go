package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Type says what a line is.
type Type string

const (
	Listed   Type = "LISTED"   // an object of the first list
	Synced   Type = "SYNCED"   // a list of a stream is complete, at ResourceVersion
	Added    Type = "ADDED"    // an event
	Modified Type = "MODIFIED" // an event
	Deleted  Type = "DELETED"  // an event
	Bookmark Type = "BOOKMARK" // nothing up to ResourceVersion is missing
	Cut      Type = "CUT"      // the stream was interrupted; nothing is missing unless a GAP follows
	Gap      Type = "GAP"      // events after ResourceVersion are missing; changes that a list shows follow, then SYNCED
	Bad      Type = "BAD"      // an event whose object could not be read
	Resumed  Type = "RESUMED"  // another run of the recorder continues the file
	End      Type = "END"      // the recorder stopped; Message says why
)

// Line is one line of a file after the first.
type Line struct {
	At   Offset `json:"at"`
	Type Type   `json:"type"`
	// Resource is the name of a resource of the header, and Namespace that of the stream. Lines with an object have no
	// Namespace.
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Gap marks a change that was found by a list after a gap. A DELETED one then has only the identity of its object.
	Gap             bool            `json:"gap,omitempty"`
	ResourceVersion string          `json:"resourceVersion,omitempty"` // of SYNCED, BOOKMARK and GAP, and of a DELETED with Gap
	Message         string          `json:"message,omitempty"`         // of CUT, GAP, BAD and END
	Object          json.RawMessage `json:"object,omitempty"`
}

// HasObject reports whether lines of the type have an object.
func (t Type) HasObject() bool { return t == Listed || t == Added || t == Modified || t == Deleted }

// Offset is a time after the start of a recording. In a file it is a number of seconds, with as many decimals as it
// needs.
type Offset time.Duration

// MarshalJSON implements json.Marshaler.
func (o Offset) MarshalJSON() ([]byte, error) {
	text := strconv.FormatInt(int64(o)/1e9, 10)
	if rest := int64(o) % 1e9; rest != 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%09d", rest), "0")
	}
	return []byte(text), nil
}

var errOffset = errors.New("at must be a number of seconds, not negative, with at most 9 decimals")

// UnmarshalJSON implements json.Unmarshaler.
func (o *Offset) UnmarshalJSON(b []byte) error {
	whole, decimals, point := strings.Cut(string(b), ".")
	seconds, err := strconv.ParseUint(whole, 10, 32) // 136 years
	if err != nil || len(decimals) > 9 || point && decimals == "" {
		return fmt.Errorf("%w, got %s", errOffset, b)
	}
	nanos := uint64(0)
	if point {
		if nanos, err = strconv.ParseUint(decimals+"000000000"[len(decimals):], 10, 64); err != nil {
			return fmt.Errorf("%w, got %s", errOffset, b)
		}
	}
	*o = Offset(seconds*1e9 + nanos)
	return nil
}

// Identity is the part of an object that a recorder and a reader need.
type Identity struct {
	meta.Key
	UID, ResourceVersion string
}

// identity reads the identity of the line's object, and checks that the object is one of the resource.
func (l *Line) identity(r *Resource) (Identity, error) {
	var o struct {
		APIVersion, Kind string
		Metadata         struct{ Namespace, Name, UID, ResourceVersion string }
	}
	if err := json.Unmarshal(l.Object, &o); err != nil {
		return Identity{}, fmt.Errorf("object: %w", err)
	}
	id := Identity{meta.Key{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}, o.Metadata.UID, o.Metadata.ResourceVersion}
	switch {
	case o.Kind != r.Kind || o.APIVersion != r.GVK().APIVersion():
		return id, fmt.Errorf("object must be a %s of %s, as the header says of %s, got %q of %q",
			r.Kind, r.GVK().APIVersion(), r.Name(), o.Kind, o.APIVersion)
	case id.Name == "":
		return id, errors.New("object.metadata.name must not be empty")
	case r.Namespaced != (id.Namespace != ""):
		return id, fmt.Errorf("object.metadata.namespace must be set for namespaced resources and no others, got %q", id.Namespace)
	}
	return id, nil
}

// validate returns what is wrong with a line, and the identity of its object.
func (l *Line) validate(h *Header) (Identity, error) {
	switch l.Type {
	case Resumed, End:
		return Identity{}, nil
	case Synced, Bookmark, Gap, Cut, Bad, Listed, Added, Modified, Deleted:
	default:
		return Identity{}, fmt.Errorf("type must be a type of line, such as ADDED, got %q", l.Type)
	}
	r := h.Resource(l.Resource)
	if r == nil {
		return Identity{}, fmt.Errorf("resource must be one of the header, got %q", l.Resource)
	}
	if l.Type.HasObject() {
		if len(l.Object) == 0 {
			return Identity{}, fmt.Errorf("object must be set on a line of type %s", l.Type)
		}
		id, err := l.identity(r)
		if err == nil && !h.has(h.StreamOf(r, id.Namespace)) {
			err = fmt.Errorf("object.metadata.namespace must be one of the header's namespaces, got %q", id.Namespace)
		}
		return id, err
	}
	if s := (Stream{l.Resource, l.Namespace}); !h.has(s) {
		return Identity{}, fmt.Errorf("namespace must be one of the header, or empty if that has none, got %q", l.Namespace)
	}
	if l.ResourceVersion == "" && (l.Type == Synced || l.Type == Bookmark) {
		return Identity{}, fmt.Errorf("resourceVersion must be set on a line of type %s", l.Type)
	}
	return Identity{}, nil
}

func (h *Header) has(want Stream) bool {
	r := h.Resource(want.Resource)
	if r == nil || !r.Namespaced || len(h.Namespaces) == 0 {
		return r != nil && want.Namespace == ""
	}
	for _, n := range h.Namespaces {
		if n == want.Namespace {
			return true
		}
	}
	return false
}
