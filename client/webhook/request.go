package webhook

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/bowline-go/bowline/client/meta"
)

// Operation is what a request does with an object.
type Operation string

// The operations.
const (
	Create  Operation = "CREATE"
	Update  Operation = "UPDATE"
	Delete  Operation = "DELETE"
	Connect Operation = "CONNECT" // a request such as exec, whose object has the options of the connection
)

// User is the sender of the request to the API server.
type User struct {
	Name   string              `json:"username,omitempty"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// Request is the request about which the API server asks. Its methods may be called by several goroutines at once until
// the function has returned.
type Request[T meta.Object] struct {
	// Operation is one of the operations in the webhook's rules.
	Operation Operation
	// Key is the object's key. The name is empty for a create whose name the server makes.
	Key meta.Key
	// Kind and Resource are those of Object and Old, in the version of the webhook's type.
	Kind     meta.GVK
	Resource meta.GVR
	// Subresource is empty or a word such as "status".
	Subresource string
	// User has sent the request.
	User User
	// DryRun says that nothing will be stored. The function must then not change anything elsewhere.
	DryRun bool
	// Object is the object as it would be after the operation; the zero T for Delete. Old is the object before an
	// Update or a Delete; otherwise the zero T.
	Object, Old T
	// Options are the CreateOptions, UpdateOptions, PatchOptions or DeleteOptions of the request, as JSON.
	Options json.RawMessage

	notes notes
}

// notes are the warnings and the audit annotations of an answer.
type notes struct {
	mu       sync.Mutex
	warnings []string
	audit    map[string]string
}

// Warnf adds a warning, which the API server sends to the client with its answer.
func (r *Request[T]) Warnf(format string, args ...any) {
	r.notes.mu.Lock()
	defer r.notes.mu.Unlock()
	r.notes.warnings = append(r.notes.warnings, fmt.Sprintf(format, args...))
}

// Audit adds an annotation to the server's audit record of the request. The server prefixes the key with the name of
// the webhook and a slash. A second value of a key replaces the first.
func (r *Request[T]) Audit(key, value string) {
	r.notes.mu.Lock()
	defer r.notes.mu.Unlock()
	if r.notes.audit == nil {
		r.notes.audit = map[string]string{}
	}
	r.notes.audit[key] = value
}
