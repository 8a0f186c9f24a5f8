package ctrlcache

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	toolscache "k8s.io/client-go/tools/cache"
)

// indexer shows a cache as client-go's Indexer. The index of namespaces is built into the cache.
type indexer[T meta.Object] struct {
	reader cache.Reader[T]

	mu      sync.RWMutex // guards the fields below
	funcs   toolscache.Indexers
	indexes map[string]*cache.Index[string, T]
}

var _ toolscache.Indexer = &indexer[meta.Object]{}

func newIndexer[T meta.Object](r cache.Reader[T]) *indexer[T] {
	return &indexer[T]{
		reader:  r,
		funcs:   toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc},
		indexes: make(map[string]*cache.Index[string, T]),
	}
}

var errReadOnly = errors.New("the indexer is read-only: its informer writes it")

func (x *indexer[T]) Add(any) error               { return errReadOnly }
func (x *indexer[T]) Update(any) error            { return errReadOnly }
func (x *indexer[T]) Delete(any) error            { return errReadOnly }
func (x *indexer[T]) Replace([]any, string) error { return errReadOnly }
func (x *indexer[T]) Resync() error               { return nil }
func (x *indexer[T]) Bookmark(string)             {}

func (x *indexer[T]) LastStoreSyncResourceVersion() string { return x.reader.ResourceVersion() }

func (x *indexer[T]) List() []any { return collect(x.reader.All(), x.reader.Len()) }

func (x *indexer[T]) ListKeys() []string { return keys(x.reader.All()) }

func (x *indexer[T]) Get(obj any) (item any, exists bool, err error) {
	key, err := toolscache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return nil, false, toolscache.KeyError{Obj: obj, Err: err}
	}
	return x.GetByKey(key)
}

func (x *indexer[T]) GetByKey(key string) (item any, exists bool, err error) {
	ns, name, err := toolscache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil, false, nil // no object has such a key
	}
	obj, found := x.reader.Get(meta.Key{Namespace: ns, Name: name})
	if !found {
		return nil, false, nil
	}
	return obj, true, nil
}

// AddIndexers adds all of the indexes, or none if the name of one is taken.
func (x *indexer[T]) AddIndexers(more toolscache.Indexers) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var taken []string
	for name := range more {
		if _, ok := x.funcs[name]; ok {
			taken = append(taken, name)
		}
	}
	if len(taken) > 0 {
		slices.Sort(taken)
		return fmt.Errorf("indexer conflict: there is an index called %q already", taken)
	}
	for name, f := range more {
		x.indexes[name] = cache.NewIndex(x.reader, func(obj T) []string { return valuesOf(name, f, obj) })
		x.funcs[name] = f
	}
	return nil
}

// valuesOf panics if the index function fails, as client-go does: an index that silently lacks an object would be
// worse.
func valuesOf(name string, f toolscache.IndexFunc, obj any) []string {
	values, err := f(obj)
	if err != nil {
		panic(fmt.Errorf("index %q: %w", name, err))
	}
	return values
}

// GetIndexers returns a copy of the index functions.
func (x *indexer[T]) GetIndexers() toolscache.Indexers {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return maps.Clone(x.funcs)
}

func (x *indexer[T]) index(name string) (*cache.Index[string, T], toolscache.IndexFunc, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	f, ok := x.funcs[name]
	if !ok {
		return nil, nil, fmt.Errorf("index with name %s does not exist", name)
	}
	return x.indexes[name], f, nil
}

// with returns the objects that have a value, and their number, or 0 if that is unknown.
func (x *indexer[T]) with(name, value string) (iter.Seq[T], int, error) {
	ix, _, err := x.index(name)
	switch {
	case err != nil:
		return nil, 0, err
	case ix == nil:
		return x.reader.Namespace(value), 0, nil
	}
	return ix.Get(value), ix.Len(value), nil
}

func (x *indexer[T]) ByIndex(name, value string) ([]any, error) {
	objs, n, err := x.with(name, value)
	if err != nil {
		return nil, err
	}
	return collect(objs, n), nil
}

func (x *indexer[T]) IndexKeys(name, value string) ([]string, error) {
	objs, _, err := x.with(name, value)
	if err != nil {
		return nil, err
	}
	return keys(objs), nil
}

func (x *indexer[T]) Index(name string, obj any) ([]any, error) {
	_, f, err := x.index(name)
	if err != nil {
		return nil, err
	}
	values, err := f(obj)
	if err != nil {
		return nil, err
	}
	var all []any
	seen := make(map[meta.Key]bool)
	for _, value := range values {
		objs, _, err := x.with(name, value)
		if err != nil {
			return nil, err
		}
		for o := range objs {
			if key := meta.KeyOf(o); !seen[key] {
				seen[key] = true
				all = append(all, o)
			}
		}
	}
	return all, nil
}

func (x *indexer[T]) ListIndexFuncValues(name string) []string {
	ix, _, err := x.index(name)
	switch {
	case err != nil:
		return nil
	case ix != nil:
		return slices.Collect(ix.Keys())
	}
	namespaces := make(map[string]bool)
	for obj := range x.reader.All() {
		namespaces[obj.GetNamespace()] = true
	}
	return slices.Collect(maps.Keys(namespaces))
}

func collect[T any](objs iter.Seq[T], n int) []any {
	all := make([]any, 0, n)
	for obj := range objs {
		all = append(all, obj)
	}
	return all
}

func keys[T meta.Object](objs iter.Seq[T]) []string {
	all := []string{}
	for obj := range objs {
		all = append(all, storeKey(obj))
	}
	return all
}

// storeKey is the key of an object in client-go's stores.
func storeKey(obj meta.Object) string {
	if ns := obj.GetNamespace(); ns != "" {
		return ns + "/" + obj.GetName()
	}
	return obj.GetName()
}
