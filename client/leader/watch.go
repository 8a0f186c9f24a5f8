package leader

import (
	"context"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/retry"
)

// news is an event of a watch of the lease.
type news struct {
	lease   *meta.Unstructured
	deleted bool
}

// watcher watches the lease during a Run. It keeps only the latest event. It only makes contenders faster, because they
// also poll.
type watcher struct {
	e     *Elector
	ready chan struct{} // has a token if there is an event

	mu     sync.Mutex // guards the fields below
	latest *news
	cut    context.CancelFunc // ends the open watch; nil if there is none
}

func newWatcher(e *Elector) *watcher { return &watcher{e: e, ready: make(chan struct{}, 1)} }

// next returns the latest event since the last call; false if there is none.
func (w *watcher) next() (news, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.latest == nil {
		return news{}, false
	}
	n := *w.latest
	w.latest = nil
	return n, true
}

func (w *watcher) tell(n news) {
	w.mu.Lock()
	w.latest = &n
	w.mu.Unlock()
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// restart replaces the open watch by a new one, because it has missed an event.
func (w *watcher) restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut != nil {
		w.cut()
	}
}

// run watches until ctx ends.
func (w *watcher) run(ctx context.Context) {
	backoff := retry.New(retry.Policy{Base: w.e.config.RetryPeriod, Max: slowest, Reset: slowest})
	for ctx.Err() == nil {
		begun := time.Now()
		err := w.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		floor := time.Duration(0)
		if err != nil {
			w.e.failed(report.Topic{
				Key:   aboutWatch,
				Fails: w.e.String() + ": watch fails, so changes of the lease are noticed late",
				Works: w.e.String() + ": watch works again",
			}, err)
			floor, _ = apierrors.RetryAfter(err)
		} else {
			w.e.works(aboutWatch)
		}
		if err != nil || time.Since(begun) < w.e.config.RetryPeriod {
			_ = retry.Sleep(ctx, backoff.Next(floor)) // the loop checks ctx
		} else {
			backoff.Healthy()
		}
	}
}

// watch runs one watch. It begins with the current state from the server's cache, which may be old. For one object no
// list is needed, so the permission to list is not needed, and no version can be expired.
func (w *watcher) watch(outer context.Context) error {
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	w.mu.Lock()
	w.cut = cancel
	w.mu.Unlock()
	o := client.WatchOptions{Namespace: w.e.key.Namespace, FieldSelector: "metadata.name=" + w.e.key.Name, ResourceVersion: "0"}
	first := true
	err := w.e.leases.WatchEach(ctx, o, nil, func(event client.Event[*meta.Unstructured]) error {
		if event.Err != nil {
			return event.Err
		}
		if first {
			first = false
			w.e.works(aboutWatch)
		}
		switch event.Type {
		case client.Added, client.Modified:
			w.tell(news{lease: event.Object})
		case client.Deleted:
			w.tell(news{lease: event.Object, deleted: true})
		}
		return nil
	})
	w.mu.Lock()
	w.cut = nil
	w.mu.Unlock()
	if ctx.Err() != nil {
		return nil // restart was called, or the Run has ended
	}
	return err
}
