package recorder

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/shown"
)

// The server's limits, in bytes.
const (
	maxReason   = 128 // for the reason and for the action
	maxNote     = 1024
	maxInstance = 128
)

// mark is the end of a text that has been cut.
const mark = "..."

// Record says what has happened to an object.
type Record struct {
	// Warning says that something is wrong. Otherwise the record is of type Normal.
	Warning bool
	// Regarding is the object that the record is about.
	Regarding Reference
	// Related is a second object that is involved, such as a pod that a controller has made. The zero Reference means
	// none.
	Related Reference
	// Reason says in one word why the record is made, such as "Scheduled". It must not be empty.
	Reason string
	// Action says in one word what the program has done or tried, such as "Binding". Empty means the Reason.
	Action string
	// Note is text for people.
	Note string
}

// Reference says which object a record is about. [ReferenceTo] makes one.
type Reference struct {
	// GVK is the object's kind, Scope is its resource's scope, and Identity says which object it is. Without a uid,
	// kubectl describe does not find the record.
	GVK      meta.GVK
	Scope    meta.Scope
	Identity meta.Identity
	// FieldPath is the part of the object that the record is about, such as "spec.containers{web}". Empty means all of
	// it.
	FieldPath string
}

// ReferenceTo returns a reference to obj, with the kind and the scope of the descriptor; obj need not have them.
func ReferenceTo[T meta.Identified[U], U ~string](t client.Type[T], obj T) Reference {
	o := client.OwnerOf(t, obj)
	return Reference{GVK: o.GVK, Scope: o.Scope, Identity: o.Identity}
}

// String returns the kind and the key of the object, such as `Pod "web/a"`.
func (r Reference) String() string {
	return fmt.Sprintf("%s %q", shown.Text(cmp.Or(r.GVK.Kind, "object")), shown.Text(r.Identity.Key().String()))
}

// validate returns an error if the reference is invalid.
func (r Reference) validate() error {
	id := r.Identity
	switch {
	case r.GVK.Kind == "" || r.GVK.Version == "":
		return errors.New("must have a kind and a version; use recorder.ReferenceTo")
	case id.Name == "":
		return fmt.Errorf("must have a name; this %s has none, or is nil", shown.Text(r.GVK.Kind))
	case r.Scope == meta.Cluster && id.Namespace != "":
		return fmt.Errorf("must have no namespace, since %s is cluster-wide, got %q", shown.Text(r.GVK.Kind), shown.Text(id.Namespace))
	case r.Scope == meta.Namespaced && id.Namespace == "":
		return fmt.Errorf("must have a namespace, which %v does not have", r)
	case r.Scope != meta.Cluster && r.Scope != meta.Namespaced:
		return fmt.Errorf("must have the scope meta.Namespaced or meta.Cluster, got %d", r.Scope)
	case r.Scope == meta.Namespaced:
		return meta.ValidSegment("namespace", id.Namespace)
	}
	return nil
}

// namespace returns the namespace of records about the object.
func (r Reference) namespace() string {
	return cmp.Or(r.Identity.Namespace, "default")
}

// validate returns an error if the record is invalid.
func (r Record) validate() error {
	if err := r.Regarding.validate(); err != nil {
		return fmt.Errorf("recorder.Record: Regarding %w", err)
	}
	if r.Related != (Reference{}) {
		if err := r.Related.validate(); err != nil {
			return fmt.Errorf("recorder.Record: Related %w", err)
		}
	}
	if r.Reason == "" {
		return fmt.Errorf("recorder.Record: Reason must not be empty, for %v", r.Regarding)
	}
	return nil
}

// fit returns the record within the limits of the server, and an error that says what has been cut, or nil.
func (r Record) fit() (Record, error) {
	var cuts []error
	fit := func(name string, text *string, limit int) {
		if length := len(*text); length > limit {
			cuts = append(cuts, fmt.Errorf("%s has %d bytes, more than the %d that the server accepts",
				name, length, limit))
		}
		*text = cut(*text, limit)
	}
	fit("Reason", &r.Reason, maxReason)
	fit("Action", &r.Action, maxReason)
	fit("Note", &r.Note, maxNote)
	r.Action = cmp.Or(r.Action, r.Reason)
	return r, errors.Join(cuts...)
}

// cut returns valid UTF-8 of at most limit bytes: s, or its start and the mark.
func cut(s string, limit int) string {
	long := len(s) > limit
	if long {
		s = s[:limit] // before ToValidUTF8, so that it does not read all of a long text
	}
	if s = strings.ToValidUTF8(s, string(utf8.RuneError)); !long && len(s) <= limit {
		return s
	}
	end := min(len(s), limit-len(mark))
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}
