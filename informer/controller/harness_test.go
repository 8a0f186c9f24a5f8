package controller_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/informer/controller"
)

// run runs a controller in the bubble of t until stop is called, or until it ends by itself; stop returns its error.
func run[K comparable](t *testing.T, c *controller.Controller[K]) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	synctest.Wait()
	return func() error {
		cancel()
		return <-ended
	}
}

// mustStop stops what run started and wants no error.
func mustStop(t *testing.T, stop func() error) {
	t.Helper()
	if err := stop(); err != nil {
		t.Errorf("Run returned %v, want nil when its context ends", err)
	}
}

// keys is a source that has named some keys when it starts, and is synced after a while.
type keys struct {
	names []string
	after time.Duration
	err   error // the end of the source, instead of ctx's
}

func (s keys) Run(ctx context.Context, add func(string), synced func()) error {
	for _, k := range s.names {
		add(k)
	}
	select {
	case <-time.After(s.after):
	case <-ctx.Done():
		return nil
	}
	if s.err != nil {
		return s.err
	}
	synced()
	<-ctx.Done()
	return nil
}

// log collects what happened, with the time since it was made.
type log struct {
	mu    sync.Mutex
	start time.Time
	lines []string
}

func newLog() *log { return &log{start: time.Now()} }

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprint(time.Since(l.start))+" "+fmt.Sprintf(format, args...))
}

func (l *log) want(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.lines, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(l.lines, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// sleep lets time pass, and everything come to rest.
func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// sleepIn waits, unless ctx ends.
func sleepIn(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
