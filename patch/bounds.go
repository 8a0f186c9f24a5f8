package patch

// The bounds of JSON patches. Beyond them the error is [ErrTooLarge].
const (
	// maxOps is the maximal number of operations in a JSON patch, the same as the API server's.
	maxOps = 10_000
	// maxCopied is how many bytes all "copy" operations of a JSON patch may add to the document, the same as the API
	// server's.
	maxCopied = 3 << 20
)
