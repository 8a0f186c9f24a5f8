package patch

import (
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/internal/patch/strategic"
)

// DiffStrategic returns the strategic merge patch that makes new of old, which are JSON objects. Its body is {} if nothing
// differs. It is what a server and its clients compute for the same documents, in as few words as that has.
//
// Applied to old the patch gives new, except that members that are null count as absent, and that a list of scalars that is
// merged, such as finalizers, is a set: what stands in it twice may then stand there once. Where two items of a merged list
// have one merge key, as the ports 53 of TCP and UDP, no patch can tell them apart, and the list is replaced whole; such
// items then stand together, as a server puts them.
//
// With the zero Schema the Patch is a JSON merge patch, which says the same and which a server takes for custom resources too.
// Errors about the documents are of type [*StrategicError]; a document with directives in it is one.
func DiffStrategic(old, new []byte, s Schema) (Patch, error) {
	if s.err != nil {
		return Patch{}, s.err
	}
	body, err := strategic.Diff(old, new, s.root)
	return s.patch(body, err)
}

// patch returns the patch that has been computed by the schema: a JSON merge patch if it knows nothing.
func (s Schema) patch(body []byte, err error) (Patch, error) {
	switch {
	case err != nil:
		return Patch{}, strategicError(err)
	case s.root == nil:
		return Patch{mediaType: MergeType, body: body}, nil
	}
	return Patch{mediaType: StrategicType, body: body}, nil
}

// ThreeWayOptions says how [ThreeWay] merges.
type ThreeWayOptions struct {
	// RefuseConflicts makes it a [*MergeConflictError] if the patch sets what someone else has changed since original to another
	// value. By default modified wins.
	RefuseConflicts bool
}

// ThreeWay returns the patch that brings an object to a configuration, as kubectl apply does on the client's side: original is
// the configuration that was applied last, modified is the one to apply, and current is the live object. What modified has is
// set where current differs, what original had and modified no longer has is removed, and everything else stays, such as what
// the server and others have put there. original may be empty: then nothing is removed. The body is {} if there is nothing to
// do; where current has more items in a merged list than modified, the patch still gives the order of modified's. A member that
// original had and modified does not have is null in the patch, whether or not current still has it. If current does not have the
// object around that member, there is nothing to remove: the patch does not name the member, and adds that object as modified has it.
//
// What [DiffStrategic] says of lists and of the zero Schema holds here too. A list that needs a change, and in which two items have
// one merge key, is replaced whole: by modified's items, each with what current has of it besides, and by the items that others
// have put into current's list. Of items with one key those are taken for the same that have most in common.
func ThreeWay(original, modified, current []byte, s Schema, o ThreeWayOptions) (Patch, error) {
	if s.err != nil {
		return Patch{}, s.err
	}
	body, conflicts, err := strategic.ThreeWay(original, modified, current, s.root, o.RefuseConflicts)
	if len(conflicts) > 0 {
		return Patch{}, &MergeConflictError{Paths: conflicts}
	}
	return s.patch(body, err)
}

// MergeConflictError says that someone else has changed what a configuration changes too. It shows no values.
type MergeConflictError struct {
	// Paths are JSON pointers (RFC 6901) into the patch, to what it would overwrite. There is at least one.
	Paths []string
}

func (e *MergeConflictError) Error() string {
	more := ""
	if n := len(e.Paths) - 5; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "patch: the live object has changed at " + strings.Join(e.Paths[:min(5, len(e.Paths))], ", ") + more + " since it was configured"
}
