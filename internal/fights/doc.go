// Package fights notices that the reconciles of a controller and another writer undo each other's writes. It receives
// each write, and reads an object only if its writes look as if another writer undid them. In this package, "ours"
// means the reconciles of the controller, and "theirs" all other writers.
package fights
