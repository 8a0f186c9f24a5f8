// Command realoperators runs real operators of controller-runtime before and after the one line that gives them the cache of
// informer/ctrlcache. Run it in the directory of module internal/e2e, on Linux:
//
//	go run ./realoperators
//
// It takes the module of each operator from the module cache, or from the module proxy, makes a copy in a temporary directory, and
// builds its command twice. The second build has the line NewCache: ctrlcache.New in its manager.Options, and the import for it.
// Both builds have the same modules, which are those that informer/ctrlcache requires. Where a module that the operator needs does
// not compile with them, both builds use a copy without those lines. Nothing of it reaches our go.mod.
package main
