// The context of one reconcile: the logger in it, and what takes the reconcile's writes.

package controller

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/internal/follow"
	"github.com/bowline-go/bowline/workqueue"
)

// Logger returns a logger for the reconcile that ctx belongs to. Its lines have the name of the controller, the key, and
// the number of the attempt: 1, and one more after each failure in a row. They go where the controller's own do; see
// Options.Logger. For another context it returns the logger of the context (logr.NewContext), or else slog.Default().
//
//	controller.Logger(ctx).Info("certificate renewed", "until", until)
//
// Programs that use logr call logr.FromContext(ctx), which returns the same. Neither costs anything until it is called.
func Logger(ctx context.Context) *slog.Logger {
	if logger, err := logr.FromContext(ctx); err == nil {
		return slog.New(logr.ToSlogHandler(logger))
	}
	return slog.Default()
}

// scope is the context of one reconcile. It makes a logger for those who ask for one, and notes writes for the client.
type scope[K comparable] struct {
	context.Context
	c     *Controller[K]
	queue *workqueue.Queue[K]
	key   K
	round atomic.Pointer[round[K]] // nil as long as there is nothing to know of the reconcile's writes
}

// Value returns the logger for the key of logr, the function that takes writes for that of package follow, and else the value of
// the context.
func (s *scope[K]) Value(key any) any {
	switch {
	case key == s.c.loggerKey:
		return s.logger()
	case follow.IsWrites(key):
		return s.onWrite()
	case key == (followsKey{}):
		return s.c
	}
	return s.Context.Value(key)
}

// onWrite returns what takes the writes of the reconcile.
func (s *scope[K]) onWrite() func(follow.Write) {
	outer := follow.OnWrite(s.Context)
	fresh, fights := s.c.declaresFresh(), !s.c.options.AllowFights
	if !fresh && !fights {
		return outer
	}
	return func(w follow.Write) {
		if outer != nil {
			outer(w)
		}
		if fresh {
			s.c.unseen.wrote(s.key, s.c.freshCaches(s.key), w)
		}
		if fights {
			s.c.contests.wrote(s.key, &s.round, w)
		}
	}
}

func (s *scope[K]) logger() logr.Logger {
	return s.c.log.Logger().WithValues("controller", s.c.name, "key", fmt.Sprint(s.key), "attempt", s.queue.Failures(s.key)+1)
}

// loggerKey returns the key by which logr.FromContext asks a context for a logger, which logr does not export.
func loggerKey() any {
	asked := &asked{Context: context.Background()}
	_, _ = logr.FromContext(asked)
	return asked.key
}

// asked is a context that notes which key it is asked for.
type asked struct {
	context.Context
	key any
}

func (a *asked) Value(key any) any {
	a.key = key
	return nil
}

// enter returns the context of a reconcile, and what releases it.
func (c *Controller[K]) enter(work *scope[K]) (ctx context.Context, release func()) {
	ctx, release = work, func() {}
	if c.deletions.watched.Load() {
		ctx, release = c.deletions.enter(ctx, work.key)
	}
	if c.options.Timeout <= 0 {
		return ctx, release
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.Timeout, c.timeout)
	leave := release
	return ctx, func() {
		cancel()
		leave()
	}
}
