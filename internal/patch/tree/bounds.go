package tree

// The bounds of what is read and made. Whatever is beyond them is an error that is [ErrTooLarge].
const (
	// MaxSize is the size of a document, or of a patch, in bytes. The API server takes 3 MiB.
	MaxSize = 64 << 20
	// maxLevels is how deep objects and lists may lie in each other: as deep as encoding/json reads them.
	maxLevels = 10_000
)
