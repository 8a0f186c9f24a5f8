package strategic

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// The causes of an [Error].
var (
	// ErrMergeKey: an item of a merged list lacks the member that distinguishes the items, or the member is not a
	// scalar.
	ErrMergeKey = errors.New("merge key")
	// ErrDirective: a directive has a value that it cannot have, or stands where it means nothing.
	ErrDirective = errors.New("directive")
	// ErrElementOrder: a $setElementOrder list does not have the items of its list in their order, or its list has no
	// items.
	ErrElementOrder = errors.New("element order")
	// ErrMergedList: a list cannot be merged, because its items are of different types, or null, or lists, or objects
	// without a merge key in the schema.
	ErrMergedList = errors.New("merged list")
	// ErrRetainKeys: a patch sets a member that its $retainKeys does not list.
	ErrRetainKeys = errors.New("retain keys")
)

// Error says why a strategic merge patch cannot be applied or made, and where. It shows no value of a document.
type Error struct {
	Document string // the document that is wrong
	Path     string // a JSON pointer to the place in it
	Err      error  // one of those above, ErrNull or ErrTooLarge
	Reason   string // a sentence about it, without the place
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("patch: %s: %s", e.Document, e.Reason)
	}
	return fmt.Sprintf("patch: %s at %s: %s", e.Document, e.Path, e.Reason)
}

func (e *Error) Unwrap() error { return e.Err }

// place is a place in a document: its last step, and the place of the object or list around it. Nil is the whole
// document.
type place struct {
	up    *place
	name  []byte
	index int // of an item, if name is empty and list is true
	list  bool
}

func (p *place) member(name []byte) *place { return &place{up: p, name: name} }

func (p *place) item(i int) *place { return &place{up: p, index: i, list: true} }

func (p *place) String() string {
	if p == nil {
		return ""
	}
	if p.list {
		return p.up.String() + "/" + strconv.Itoa(p.index)
	}
	return p.up.String() + "/" + tree.EscapeName(string(p.name))
}

func (p *place) fault(document string, kind error, reason string, args ...any) error {
	return &Error{Document: document, Path: p.String(), Err: kind, Reason: fmt.Sprintf(reason, args...)}
}

// maxDepth is the maximal nesting of objects and lists in this package, which keeps a place for each level.
const maxDepth = 1000

// parseObject reads a document that must be a JSON object, within bounds.
func parseObject(what string, doc []byte) (tree.Node, error) {
	source, err := tree.Read(what, doc)
	if err != nil {
		return tree.Node{}, fmt.Errorf("patch: %w", err)
	}
	if source.Depth > maxDepth {
		return tree.Node{}, (*place)(nil).fault(what, tree.ErrTooLarge, "it is nested more than %d deep", maxDepth)
	}
	root := source.Root()
	if root.Kind() != '{' {
		return tree.Node{}, fmt.Errorf("patch: %s is not a JSON object", what)
	}
	return root, nil
}
