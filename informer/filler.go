package informer

import (
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/filler"
)

// What package controller needs of an informer is no method that users see: package internal/filler has the interface.

func init() {
	filler.Register(func(what any) filler.Filler {
		i, ok := what.(interface{ filler() filler.Filler })
		if v := reflect.ValueOf(what); !ok || v.Kind() == reflect.Pointer && v.IsNil() {
			return nil
		}
		return i.filler()
	})
}

// asFiller is an informer as package controller sees it. A part of its methods stands beside what they are about.
type asFiller[T meta.Object] struct{ *Informer[T] }

func (i *Informer[T]) filler() filler.Filler { return asFiller[T]{i} }

// Refuse implements filler.Filler.
func (i asFiller[T]) Refuse(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refused = err
}

// refusal returns the error of Refuse, or nil.
func (i *Informer[T]) refusal() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.refused
}

// sharedFiller is a handle on an informer, whose own Run can be refused.
type sharedFiller[T meta.Object] struct {
	asFiller[T]
	handle *Shared[T]
}

func (u *Shared[T]) filler() filler.Filler { return sharedFiller[T]{asFiller[T]{u.informer}, u} }

// Refuse implements filler.Filler.
func (s sharedFiller[T]) Refuse(err error) {
	s.handle.mu.Lock()
	defer s.handle.mu.Unlock()
	s.handle.refused = err
}

// refusal returns the error of Refuse, or nil.
func (u *Shared[T]) refusal() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.refused
}
