package patch

import (
	"errors"
	"fmt"
	"strconv"
)

// What a [StrategicError] can be about; errors.Is finds it.
var (
	// ErrMergeKey: an item of a merged list lacks the member that tells the items apart, or it is not a scalar there.
	ErrMergeKey = errors.New("merge key")
	// ErrDirective: a directive has a value that it cannot have, or stands where it means nothing.
	ErrDirective = errors.New("directive")
	// ErrElementOrder: a $setElementOrder list does not have the items of the list that it is for, in their order, or that list has none.
	ErrElementOrder = errors.New("element order")
	// ErrMergedList: a list cannot be merged, as its items are of different types, or null, or lists, or objects without a merge
	// key in the schema.
	ErrMergedList = errors.New("merged list")
	// ErrRetainKeys: a patch sets a member that its $retainKeys does not list.
	ErrRetainKeys = errors.New("retain keys")
)

// StrategicError says why a strategic merge patch cannot be applied or made, and where. It shows no value of a document.
type StrategicError struct {
	// Document is which document is wrong: "the patch", or for example "the document".
	Document string
	// Path is a JSON pointer (RFC 6901) to the place in it; empty is the whole document.
	Path string
	// Err is one of ErrMergeKey, ErrDirective, ErrElementOrder, ErrMergedList, ErrRetainKeys and ErrTooLarge.
	Err error
	// Reason is a sentence about it, without the place.
	Reason string
}

func (e *StrategicError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("patch: %s: %s", e.Document, e.Reason)
	}
	return fmt.Sprintf("patch: %s at %s: %s", e.Document, e.Path, e.Reason)
}

func (e *StrategicError) Unwrap() error { return e.Err }

// place is a place in a document, as the way up from it. Nil is the top.
type place struct {
	up    *place
	name  []byte
	index int // of an item, where name is empty and list is true
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
	return p.up.String() + "/" + nameEscapes.Replace(string(p.name))
}

func (p *place) fault(document string, kind error, reason string, args ...any) error {
	return &StrategicError{Document: document, Path: p.String(), Err: kind, Reason: fmt.Sprintf(reason, args...)}
}

// maxDepth is how deep objects and lists may lie in each other here, where places are kept on the way down.
const maxDepth = 1000

// parseObject reads a document that must be a JSON object, within bounds.
func parseObject(what string, doc []byte) (node, error) {
	source, err := read(what, doc)
	if err != nil {
		return node{}, fmt.Errorf("patch: %w", err)
	}
	if source.depth > maxDepth {
		return node{}, (*place)(nil).fault(what, ErrTooLarge, "it is nested more than %d deep", maxDepth)
	}
	root := source.root()
	if root.kind() != '{' {
		return node{}, fmt.Errorf("patch: %s is not a JSON object", what)
	}
	return root, nil
}

// checkDepth counts brackets, without looking whether doc is JSON.
func checkDepth(doc []byte, most int) error {
	depth, quoted := 0, false
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return fmt.Errorf("is nested more than %d deep", most)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}
