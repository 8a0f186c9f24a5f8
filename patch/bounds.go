package patch

// The bounds of JSON patches. Beyond them it is an error that is [ErrTooLarge].
const (
	// maxOps is the number of operations of a JSON patch: that of the API server.
	maxOps = 10_000
	// maxCopied is what all "copy" operations of a JSON patch may add to the document, in bytes: that of the API server.
	maxCopied = 3 << 20
)
