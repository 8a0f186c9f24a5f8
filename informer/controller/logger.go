// The logger of a reconcile.

package controller

import (
	"context"
	"log/slog"

	"github.com/go-logr/logr"
)

// Logger returns a logger for the reconcile that ctx belongs to. Its lines have the name of the controller, the key,
// and the number of the [Attempt]. They go where the controller's own lines go; see Options.Logger. For another context
// it returns the logger of the context (logr.NewContext), or else slog.Default().
//
//	controller.Logger(ctx).Info("certificate renewed", "until", until)
//
// Programs that use logr call logr.FromContext(ctx), which returns the same logger. Neither costs anything until it is
// called.
func Logger(ctx context.Context) *slog.Logger {
	if logger, err := logr.FromContext(ctx); err == nil {
		return slog.New(logr.ToSlogHandler(logger))
	}
	return slog.Default()
}

// loggerKey returns the key by which logr.FromContext asks a context for a logger, which logr does not export.
func loggerKey() any {
	asked := &asked{Context: context.Background()}
	_, _ = logr.FromContext(asked)
	return asked.key
}

// asked is a context that records the key with which Value is called.
type asked struct {
	context.Context
	key any
}

func (a *asked) Value(key any) any {
	a.key = key
	return nil
}
