// Package clustering has what package controller needs to know about package clusters, which imports controller.
package clustering

// Interruption is the error of a reconcile that was interrupted because its cluster is gone. Its key must not be
// retried. The controller counts the reconcile as interrupted. Hooks see Err.
type Interruption struct{ Err error }

func (i *Interruption) Error() string { return i.Err.Error() }

// Unwrap returns Err.
func (i *Interruption) Unwrap() error { return i.Err }

// Expectant is a source of a controller whose other sources are added later, such as those of clusters. With
// Options.Shards by uid, such a controller may run before it has a source that looks up objects.
type Expectant interface{ ExpectsSources() }

// Added is the part of an added source that package clusters uses.
type Added struct {
	// Holds reports whether a key of the controller waits because the source has not delivered. A key of another type
	// than the controller's does not wait.
	Holds func(key any) bool
}
