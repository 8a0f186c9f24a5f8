package informer

import "fmt"

// rollbackError says that the server has an older state than before, for example because its etcd was restored from a
// backup: a consistent list, or a bookmark, has a resource version before the cache's. The informer then replaces the
// whole cache, and handlers are told of every object that is not certainly unchanged.
type rollbackError struct {
	was, is string // the resource versions of the cache, and the one that the server sent
}

func (e *rollbackError) Error() string {
	return fmt.Sprintf("server went back from resource version %s to %s, as after a restore from a backup", e.was, e.is)
}
