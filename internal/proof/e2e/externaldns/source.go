package externaldns

import (
	"context"
	"iter"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// source is a kind of object that wants records. Its definition may be missing, so neither the controller nor the
// readiness of the group must wait for its informer: the group sees a runner that is not an informer, and that runs the
// informer.
type source interface {
	informer.Runner
	kind() string   // as in Endpoint.Resource
	complete() bool // whether all records that it wants are known
	wanted() iter.Seq[*Endpoint]
	follow(changed func()) // calls changed after each change
}

// kindOf is the source of one resource.
type kindOf[T meta.Object] struct {
	informer *informer.Informer[T]
	name     string
	of       func(T) []*Endpoint
	needs    []interface{ complete() bool } // the other sources whose objects k.of reads
}

// newKind returns a source. of is nil if only other sources read the objects.
func newKind[T meta.Object](name string, r client.Resource[T], of func(T) []*Endpoint) *kindOf[T] {
	return &kindOf[T]{informer: informer.New(r, informer.Options{AllowEarlyReads: true}), name: name, of: of}
}

func (k *kindOf[T]) kind() string { return k.name }

// Run implements informer.Runner.
func (k *kindOf[T]) Run(ctx context.Context) error { return k.informer.Run(ctx) }

// Permissions returns the permissions of the informer. The group finds them here, because it does not see the informer.
func (k *kindOf[T]) Permissions() []client.Access { return k.informer.Permissions() }

func (k *kindOf[T]) String() string { return k.informer.String() }

func (k *kindOf[T]) reader() cache.Reader[T] { return k.informer.Reader() }

func (k *kindOf[T]) complete() bool {
	for _, other := range k.needs {
		if !other.complete() {
			return false
		}
	}
	return k.informer.Status().Synced
}

func (k *kindOf[T]) wanted() iter.Seq[*Endpoint] {
	return func(yield func(*Endpoint) bool) {
		if k.of == nil {
			return
		}
		for obj := range k.reader().Sorted() {
			for _, e := range k.of(obj) {
				if !yield(e) {
					return
				}
			}
		}
	}
}

func (k *kindOf[T]) follow(changed func()) {
	k.reader().Subscribe(cache.HandlerFuncs[T]{
		Add: func(T) { changed() }, Update: func(_, _ T) { changed() }, Delete: func(T) { changed() },
	})
}

// resource returns the name of an object in an endpoint.
func resource(kind string, o meta.Object) string { return kind + "/" + meta.KeyOf(o).String() }
