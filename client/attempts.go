package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/retry"
)

// conflictAttempts bounds how often one call writes what it has read; with the pauses between them it is about 20 s of a storm on
// one object.
const conflictAttempts = 50

// attempts are those of one call that reads an object and writes what it makes of it, again while somebody else is faster.
type attempts struct {
	quits   ModifyError     // what the call says when it gives up
	lost    error           // the refusal of the last attempt, if there was one
	last    jsonstream.Item // the object that it was made from; nothing where there was none
	backoff *retry.Backoff
}

func newAttempts() *attempts {
	return &attempts{backoff: retry.New(retry.Policy{Base: 10 * time.Millisecond, Max: time.Second})}
}

// saw takes note of the object that the next attempt is made from.
func (a *attempts) saw(live jsonstream.Item) {
	if a.lost != nil {
		a.quits.Won = wroteBetween(a.last, live)
	}
}

// because returns the error of a call that gives up.
func (a *attempts) because(err error) *ModifyError {
	a.quits.Err = err
	return &a.quits
}

// ended returns err, which is about ctx if that has ended, with the refusal of the attempt before.
func (a *attempts) ended(err error) *ModifyError {
	if a.lost != nil {
		err = fmt.Errorf("%w; before that: %w", err, a.lost)
	}
	return a.because(err)
}

// failed returns err, with which a read has failed, as the error of the call. Of an object that is gone there is no more to say.
func (r Resource[T]) failed(ctx context.Context, q request, a *attempts, err error) error {
	if errors.Is(err, apierrors.NotFound) || !a.quits.MayHaveWritten && (a.lost == nil || ctx.Err() == nil) {
		return err
	}
	return q.fail(a.ended(err))
}

// again waits before the next attempt, after one that was made from live and refused with err. It returns why there is none:
// there have been enough, or ctx has ended.
func (r Resource[T]) again(ctx context.Context, q request, a *attempts, live jsonstream.Item, err error) error {
	if a.quits.Attempts == conflictAttempts {
		a.quits.Won = r.winner(ctx, q, live)
		return q.fail(a.because(err))
	}
	a.lost, a.last = err, live
	if retry.Sleep(ctx, a.backoff.Next(0)) != nil {
		return q.fail(a.ended(conn.ContextError(ctx)))
	}
	return nil
}
