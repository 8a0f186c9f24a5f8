// Package fights notices that the reconciles of a controller and another writer undo each other's writes. It is told of
// each write, and reads an object only if writes to it look as if somebody undid them.
package fights
