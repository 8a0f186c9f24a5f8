package patch

import "github.com/bowline-go/bowline/internal/patch/strategic"

// The causes of a [StrategicError]; use them with errors.Is.
var (
	// ErrMergeKey: an item of a merged list lacks the member that distinguishes the items, or the member is not a scalar.
	ErrMergeKey = strategic.ErrMergeKey
	// ErrDirective: a directive has a value that it cannot have, or stands where it means nothing.
	ErrDirective = strategic.ErrDirective
	// ErrElementOrder: a $setElementOrder list does not have the items of its list in their order, or its list has no items.
	ErrElementOrder = strategic.ErrElementOrder
	// ErrMergedList: a list cannot be merged, because its items are of different types, or null, or lists, or objects without a
	// merge key in the schema.
	ErrMergedList = strategic.ErrMergedList
	// ErrRetainKeys: a patch sets a member that its $retainKeys does not list.
	ErrRetainKeys = strategic.ErrRetainKeys
)

// StrategicError says why a strategic merge patch cannot be applied or made, and where. It shows no value of a document.
type StrategicError struct {
	// Document is the document that is wrong, such as "the patch" or "the document".
	Document string
	// Path is a JSON pointer (RFC 6901) to the place in it; empty means the whole document.
	Path string
	// Err is one of ErrMergeKey, ErrDirective, ErrElementOrder, ErrMergedList, ErrRetainKeys, ErrNull and ErrTooLarge.
	Err error
	// Reason is a sentence about it, without the place.
	Reason string
}

func (e *StrategicError) Error() string { return (*strategic.Error)(e).Error() }

func (e *StrategicError) Unwrap() error { return e.Err }

// strategicError turns errors of package strategic into errors of this package.
func strategicError(err error) error {
	if e, ok := err.(*strategic.Error); ok {
		return (*StrategicError)(e)
	}
	return err
}
