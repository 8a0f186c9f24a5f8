package patch

import (
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/internal/patch/strategic"
)

// DiffStrategic returns the strategic merge patch that changes old to new, which are JSON objects. Its body is {} if
// nothing differs. It does the same as the patch that a server and its clients compute for these documents, and is as
// short as possible.
//
// Applied to old, the patch gives new, with two exceptions: members that are null count as absent, and a merged list
// of scalars, such as finalizers, is a set, so a scalar that occurs twice may then occur once. If two items of a
// merged list have one merge key, such as the ports 53 of TCP and UDP, no patch can distinguish them. The list is then
// replaced whole, and such items come next to each other, as a server puts them.
//
// The error is [ErrNull] if new has an object that old lacks, the object is a map or unknown to the schema, and one of
// its members is null, because that member would be lost. The null of a creationTimestamp has no meaning and is
// allowed.
//
// With the zero Schema the Patch is a JSON merge patch, which has the same effect, and which a server also accepts for
// custom resources. It is an error, which names the place, if a document contains directives.
func DiffStrategic(old, new []byte, s Schema) (Patch, error) {
	if s.err != nil {
		return Patch{}, s.err
	}
	body, err := strategic.Diff(old, new, s.root)
	return s.patch(body, err)
}

// patch returns the patch that the schema computed: a JSON merge patch if the schema knows nothing.
func (s Schema) patch(body []byte, err error) (Patch, error) {
	switch {
	case err != nil:
		return Patch{}, err
	case s.root == nil:
		return Patch{mediaType: MergeType, body: body}, nil
	}
	return Patch{mediaType: StrategicType, body: body}, nil
}

// ThreeWayOptions says how [ThreeWay] merges.
type ThreeWayOptions struct {
	// RefuseConflicts makes ThreeWay return a [*MergeConflictError] if the patch sets a member to one value and
	// another client has changed it to a different value since original. By default modified wins.
	RefuseConflicts bool
}

// ThreeWay returns the patch that brings an object to a configuration, as kubectl apply does on the client's side.
// original is the configuration that was applied last, modified the one to apply, and current the live object. The
// patch sets the members of modified that differ in current, and removes those that original has and modified does
// not. Everything else stays, such as the values that the server and others have set. original may be empty; the patch
// then removes nothing. The body is {} if there is nothing to do.
//
// If current has more items in a merged list than modified, the patch still gives the order of modified's items. A
// member that original has and modified does not have is null in the patch, whether or not current still has it. If
// current does not have the object around that member, there is nothing to remove: the patch does not name the member,
// and adds that object as modified has it.
//
// The rules of [DiffStrategic] about lists and the zero Schema hold here too. If a list needs a change and two of its
// items have one merge key, the patch replaces the list whole. The new list has modified's items, each with the other
// members that it has in current, and the items that others have added to current's list. If several items have one
// key, those that have most in common are matched.
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

// MergeConflictError says that another client has changed members that a configuration also changes. It shows no
// values.
type MergeConflictError struct {
	// Paths are JSON pointers (RFC 6901) into the patch, to the members that it would overwrite. There is at least
	// one.
	Paths []string
}

func (e *MergeConflictError) Error() string {
	more := ""
	if n := len(e.Paths) - 5; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "patch: the live object has changed at " + strings.Join(e.Paths[:min(5, len(e.Paths))], ", ") + more + " since it was configured"
}
