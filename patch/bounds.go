package patch

// The bounds of what is read and made. What is beyond them is an error that is [ErrTooLarge].
const (
	// maxSize is the size of a document, or of a patch, in bytes. The API server takes 3 MiB.
	maxSize = 64 << 20
	// maxLevels is how deep objects and lists may lie in each other: as deep as encoding/json reads them.
	maxLevels = 10_000
	// maxOps is the number of operations of a JSON patch: that of the API server.
	maxOps = 10_000
	// maxCopied is what all "copy" operations of a JSON patch may add to the document, in bytes: that of the API server.
	maxCopied = 3 << 20
)
