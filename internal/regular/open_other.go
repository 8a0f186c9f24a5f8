//go:build !unix

package regular

import "io/fs"

// unblocked is 0 on systems where named pipes are not files.
const unblocked = 0

// Owned reports true: on this system the mode does not show a file's owner.
func Owned(fs.FileInfo) bool { return true }
