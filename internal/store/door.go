package store

import (
	"context"

	"github.com/bowline-go/bowline/client/meta"
)

// Door leads from a cache.Reader to its store. A Reader embeds it, so that only the packages of this module can make a
// Reader.
type Door[T meta.Object] struct {
	store  *Store[T]
	runner Runner
}

// Runner is cache.Runner.
type Runner interface {
	Run(ctx context.Context) error
}

// Open makes the reader read s. runner fills s; it is nil if unknown.
func (d *Door[T]) Open(s *Store[T], runner Runner) { d.store, d.runner = s, runner }

// Behind returns the store, nil for the zero Reader.
func (d Door[T]) Behind() *Store[T] { return d.store }

// Runner returns the Runner that fills the store, or nil.
func (d Door[T]) Runner() Runner { return d.runner }
