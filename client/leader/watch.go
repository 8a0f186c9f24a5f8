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

// watcher watches the lease during a Run. It keeps the latest event only. Nothing depends on it but the time that it
// saves: those who wait for news also poll.
type watcher struct {
	e     *Elector
	ready chan struct{} // has an element if there are news

	mu     sync.Mutex // guards the rest
	latest *news
	cut    context.CancelFunc // ends the watch that is open, or nil
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

// restart ends the watch that is open, so that another one is opened: it has missed something.
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
			w.e.failed(report.Topic{Key: aboutWatch, Fails: w.e.String() + ": watch fails", Works: w.e.String() + ": watch works again"}, err)
			floor, _ = apierrors.RetryAfter(err)
		} else {
			w.e.works(aboutWatch)
		}
		if err != nil || time.Since(begun) < w.e.config.RetryPeriod {
			_ = retry.Sleep(ctx, backoff.Next(floor)) // the loop asks ctx
		} else {
			backoff.Healthy()
		}
	}
}

// watch opens one watch. It starts with the server's present state, which may be old, because one object needs no list:
// so it works without the permission to list, and at no version that the server has forgotten.
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
		return nil // by restart, or the Run has ended
	}
	return err
}
