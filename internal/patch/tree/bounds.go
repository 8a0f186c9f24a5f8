package tree

// The bounds of documents and results. Beyond them the error is [ErrTooLarge].
const (
	// MaxSize is the maximal size of a document or a patch, in bytes. The API server accepts 3 MiB.
	MaxSize = 64 << 20
	// maxLevels is the maximal nesting of objects and lists, the same as encoding/json's.
	maxLevels = 10_000
)
