//go:build !unix

package regular

// unblocked is nothing on systems whose named pipes are no files.
const unblocked = 0
