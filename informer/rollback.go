package informer

import "fmt"

// RollbackError says that the server has an older state than it had before, as one has whose etcd was restored from a
// backup: a consistent list, or a bookmark, has a resource version before the one that the cache is current to. The cache is
// then replaced as a whole, and handlers are told of every object that is not certainly the same.
type RollbackError struct {
	// Was is what the cache is current to, Is what the server sent.
	Was, Is string
}

// Error implements error.
func (e *RollbackError) Error() string {
	return fmt.Sprintf("server is at resource version %s, and was at %s: it has been rolled back", e.Is, e.Was)
}
