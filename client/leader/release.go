package leader

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/retry"
)

// release releases the lease if this process may hold it, so that contenders need not wait until it expires. The caller
// guarantees that lead has returned. release gives up after most, because the lease expires anyway.
func (l *lock) release(ctx context.Context, most time.Duration) {
	if !l.mine() && len(l.tries) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	err := l.free(ctx, most/2)
	if err != nil {
		l.e.failed(report.Topic{
			Key: aboutRelease, Fails: l.e.String() + ": release fails, so another process may have to wait until the lease expires",
		}, err)
	}
	tell(ctx, l.e.hooks(ctx).Released, ReleaseInfo{Lease: l.e.key, Err: err})
}

// free writes a record without a holder, unless this process no longer holds the lease.
func (l *lock) free(ctx context.Context, limit time.Duration) error {
	pace := newPace(l.e.config)
	read := len(l.tries) > 0
	for {
		var err error
		if read {
			err = l.attempt(ctx, limit, l.read)
		}
		if err == nil {
			if !l.mine() {
				return nil
			}
			err = l.attempt(ctx, limit, func(ctx context.Context) error { return l.write(ctx, l.empty()) })
		}
		if err == nil {
			l.e.leaseWorks()
			return nil
		}
		wait := pace.conflict.Next(0)
		if !l.isStale(err) {
			l.e.renewConnections(err)
			wait = pace.after(err)
		}
		if retry.Sleep(ctx, wait) != nil {
			return err
		}
		read = true
	}
}

// empty returns the record of a lease that nobody holds. Its duration is a second, the minimum of a lease.
func (l *lock) empty() record {
	now := toMicro(l.e.clock.Wall())
	return record{duration: time.Second, acquired: now, renewed: now, transitions: l.held.record.transitions}
}
