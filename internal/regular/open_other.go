//go:build !unix

package regular

import "io/fs"

// unblocked is nothing on systems whose named pipes are no files.
const unblocked = 0

// Owned reports true: on this system the mode does not show a file's owner.
func Owned(fs.FileInfo) bool { return true }
