// Package clustering has what package controller knows of package clusters, which imports it.
package clustering

// Interruption is the error of a reconcile that was interrupted, and whose key is not to be tried again, because its
// cluster is gone. The controller counts the reconcile as interrupted. Hooks see Err.
type Interruption struct{ Err error }

func (i *Interruption) Error() string { return i.Err.Error() }

// Unwrap returns Err.
func (i *Interruption) Unwrap() error { return i.Err }

// Expectant is a source of a controller that has its other sources added later, those of clusters say. With
// Options.Shards by uid, such a controller may run before there is a source that looks up objects.
type Expectant interface{ ExpectsSources() }

// Added is what package clusters learns of a source that was added.
type Added struct {
	// Holds reports whether a key of the controller waits for what the source has not delivered. A key of another type
	// than the controller's does not wait.
	Holds func(key any) bool
}
