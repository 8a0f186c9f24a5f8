package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/retry"
)

// conflictAttempts bounds how often one call writes what it has read; with the pauses between them it is about 20 s of a storm on
// one object.
const conflictAttempts = 50

// attempts are those of one call that reads an object and writes what it makes of it, again while somebody else is faster. Each
// attempt reads and writes; what Config.Retry sends again is within one.
type attempts[T meta.Object] struct {
	r       Resource[T]
	q       request         // names the call and the object in errors
	absent  bool            // step takes an object that is not there, as a zero Item
	quits   ModifyError     // what the call says when it gives up
	lost    error           // the refusal of the last attempt, if there was one
	last    jsonstream.Item // the object that it was made from; nothing where there was none
	backoff *retry.Backoff
}

func newAttempts[T meta.Object](r Resource[T], q request) *attempts[T] {
	return &attempts[T]{r: r, q: q, backoff: retry.New(retry.Policy{Base: 10 * time.Millisecond, Max: time.Second})}
}

// run reads the object and calls step with it, until step returns no refusal, there have been too many attempts, or ctx has ended. step
// returns as lost the refusal of a write that may be made again, from the object as it is then; or nil, and why the call fails.
func (a *attempts[T]) run(ctx context.Context, step func(obj T, live jsonstream.Item) (lost, err error)) error {
	for {
		obj, live, err := a.r.get(ctx, a.q.key, a.q.subresource)
		switch {
		case a.absent && errors.Is(err, apierrors.NotFound):
			live = jsonstream.Item{}
		case err != nil:
			return a.unread(ctx, err)
		}
		if a.lost != nil {
			a.quits.Won = wroteBetween(a.last, live)
		}
		lost, err := step(obj, live)
		if lost == nil {
			return err
		}
		if err := a.pause(ctx, live, lost); err != nil {
			return err
		}
	}
}

// because returns the error of a call that gives up.
func (a *attempts[T]) because(err error) error {
	a.quits.Err = err
	return a.q.fail(&a.quits)
}

// ended returns the error of a call that gives up with err, which is about ctx if that has ended, and the refusal before.
func (a *attempts[T]) ended(err error) error {
	if a.lost != nil {
		err = fmt.Errorf("%w; before that: %w", err, a.lost)
	}
	return a.because(err)
}

// unread returns err, with which a read has failed, as the error of the call. Of an object that is gone there is no more to say.
func (a *attempts[T]) unread(ctx context.Context, err error) error {
	if errors.Is(err, apierrors.NotFound) || !a.quits.MayHaveWritten && (a.lost == nil || ctx.Err() == nil) {
		return err
	}
	return a.ended(err)
}

// pause waits before the next attempt, after one that was made from live and refused with err. It returns why there is none:
// there have been enough, or ctx has ended.
func (a *attempts[T]) pause(ctx context.Context, live jsonstream.Item, err error) error {
	if a.quits.Attempts == conflictAttempts {
		a.quits.Won = a.r.winner(ctx, a.q, live)
		return a.because(err)
	}
	a.lost, a.last = err, live
	if retry.Sleep(ctx, a.backoff.Next(0)) != nil {
		return a.ended(conn.ContextError(ctx))
	}
	return nil
}
