//go:build !unix

package discovery

import "io/fs"

// own reports true: what a folder's owner and others may do is not in its mode here.
func own(fs.FileInfo) bool { return true }
