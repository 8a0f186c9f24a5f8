package controller_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// of returns a function that covers the names with a first letter.
func of(letter string) func(string) bool {
	return func(name string) bool { return strings.HasPrefix(name, letter) }
}

func mustAddFor[K comparable](t *testing.T, c *controller.Controller[K], covers func(K) bool, from ...controller.Source[K]) *controller.AddedSource {
	t.Helper()
	added, err := c.AddSourcesFor(covers, from...)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

// started returns a controller of names with a source that waits, and what takes the names that it has reconciled.
func started(o controller.Options) (*controller.Controller[string], *counting) {
	got := &counting{}
	return controller.New("c", o, func(ctx context.Context, name string) (controller.Result, error) {
		return got.reconcile(ctx, meta.Key{Name: name})
	}, controller.Chan(make(chan string))), got
}

// delayed returns a source that begins a millisecond later, when others have been added that its keys wait for.
func delayed(s keys) controller.Source[string] {
	return sourceFunc(func(ctx context.Context, add func(string), synced func()) error {
		time.Sleep(time.Millisecond)
		return s.Run(ctx, add, synced)
	})
}

func TestOnlyTheKeysThatNeedASourceWaitForIt(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c, got := started(controller.Options{SyncTimeout: time.Minute})
			var stop func() error
			if late {
				stop = run(t, c)
			}
			a := mustAddFor(t, c, of("a"), delayed(keys{names: []string{"a1", "a2"}, after: time.Hour}), delayed(keys{names: []string{"a3", "b0"}, after: time.Minute}))
			b := mustAddFor(t, c, of("b"), delayed(keys{names: []string{"b1", "a4"}, after: time.Second}))
			if !late {
				if err := a.Unsynced(); err == nil || !strings.Contains(err.Error(), `controller "c" does not run`) {
					t.Errorf("before Run the reason is %v", err)
				}
				stop = run(t, c)
			}
			sleep(time.Millisecond)
			want(t, "while all wait", got.take, "")
			sleep(time.Second)
			want(t, "when one has delivered", got.take, "b0 b1")
			if err := b.WaitSynced(t.Context()); err != nil {
				t.Error(err)
			}
			if err := b.Unsynced(); err != nil {
				t.Error(err)
			}
			sleep(10 * time.Minute)
			want(t, "when half of the other one has", got.take, "")
			s := c.Status()
			if s.State != controller.Running || len(s.Unsynced) != 1 || s.Queue.Held != 4 || s.Queue.InProgress != 0 {
				t.Errorf("the status is %v, %+v", s, s.Queue)
			}
			if err := a.Unsynced(); err == nil || !strings.Contains(err.Error(), "the source has not delivered its initial keys yet") {
				t.Errorf("the reason is %v", err)
			}
			sleep(time.Hour)
			want(t, "when all have", got.take, "a1 a2 a3 a4")
			if s := c.Status(); len(s.Unsynced) != 0 || s.Reconciles != 6 {
				t.Errorf("the status is %v", s)
			}
			mustStop(t, stop)
			stop = run(t, c)
			sleep(2 * time.Second)
			want(t, "another Run", got.take, "b0 b1")
			a.Remove()
			a.Remove()
			want(t, "keys of a source that is removed", got.take, "a1 a2 a3 a4")
			if err := a.Unsynced(); err == nil || !strings.Contains(err.Error(), "the source has been removed") {
				t.Errorf("the reason is %v", err)
			}
			mustStop(t, stop)
		})
	}
}

func TestASourceForSomeKeysThatFails(t *testing.T) {
	for name, late := range map[string]time.Duration{"at once": 0, "later": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []error
				c, got := started(controller.Options{OnError: func(err error) { told = append(told, err) }})
				fails := make(chan string)
				failing := sourceFunc(func(ctx context.Context, add func(string), synced func()) error {
					if late > 0 {
						synced()
					}
					select {
					case <-time.After(late):
						return errFailed
					case <-ctx.Done():
						return nil
					}
				})
				a := mustAddFor(t, c, of("a"), controller.Source[string](failing), controller.Chan(fails))
				other, err := c.AddSource(controller.Every(time.Minute, "a", "b"))
				if err != nil {
					t.Fatal(err)
				}
				stop := run(t, c)
				if late > 0 {
					want(t, "before it fails", got.take, "a b")
					sleep(late)
					got.take()
				}
				sleep(time.Minute)
				want(t, "after that", func() string { return strings.TrimPrefix(got.take(), "b ") }, "b")
				const failed = `run source controller_test.sourceFunc of controller "c": its keys wait until it is removed: `
				if len(told) != 1 || !strings.HasPrefix(told[0].Error(), failed) || !errors.Is(told[0], errFailed) {
					t.Errorf("told %v", told)
				}
				if err := a.WaitSynced(t.Context()); !errors.Is(err, errFailed) {
					t.Errorf("the wait returned %v", err)
				}
				if s := c.Status(); s.State != controller.Running || len(s.Unsynced) != 1 || !errors.Is(s.Unsynced[0], errFailed) {
					t.Errorf("the status is %v", s)
				}
				a.Remove()
				want(t, "when it is removed", got.take, "a")
				if s := c.Status(); len(s.Unsynced) != 0 || s.Queue.Held != 0 {
					t.Errorf("the status is %v", s)
				}
				other.Remove()
				mustStop(t, stop)
			})
		})
	}
}

type sourceFunc func(ctx context.Context, add func(string), synced func()) error

func (f sourceFunc) Run(ctx context.Context, add func(string), synced func()) error {
	return f(ctx, add, synced)
}

// A source may deliver after the controller has seen that a key has to wait for it, and before the key waits.
func TestASourceDeliversWhileAKeyIsPutAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, got := started(controller.Options{})
		deliver := make(chan func(), 1)
		source := sourceFunc(func(ctx context.Context, add func(string), synced func()) error {
			deliver <- synced
			add("a")
			<-ctx.Done()
			return nil
		})
		mustAddFor(t, c, func(string) bool {
			select {
			case synced := <-deliver:
				synced()
			default:
			}
			return true
		}, controller.Source[string](source))
		stop := run(t, c)
		want(t, "the key", got.take, "a")
		if q := c.Status().Queue; q.Held != 0 {
			t.Errorf("the queue is %+v", q)
		}
		mustStop(t, stop)
	})
}

// A source that says that it has delivered when it has failed already does not start its keys.
func TestASourceDeliversAfterItsInformerHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, got := started(controller.Options{OnError: func(error) {}})
		added := mustAddFor(t, c, of("a"), controller.Source[string](afterwards{}))
		if _, err := c.AddSource(controller.Every(time.Hour, "a", "b")); err != nil {
			t.Fatal(err)
		}
		stop := run(t, c)
		want(t, "the other key", got.take, "b")
		if err := added.Unsynced(); !errors.Is(err, errFailed) {
			t.Errorf("the reason is %v", err)
		}
		mustStop(t, stop)
	})
}

// afterwards is a source whose informer fails, and which delivers when it is told to end.
type afterwards struct{}

func (afterwards) Run(ctx context.Context, _ func(string), synced func()) error {
	<-ctx.Done()
	synced()
	return nil
}

func (afterwards) Runners() []informer.Runner {
	return []informer.Runner{informer.RunnerFunc(func(context.Context) error { return errFailed })}
}

// Without OnError the failure is logged, once.
func TestTheFailureOfASourceForSomeKeysIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		before := slog.Default()
		defer slog.SetDefault(before)
		slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
		c, _ := started(controller.Options{})
		mustAddFor(t, c, of("a"), controller.Every[string](0))
		stop := run(t, c)
		sleep(time.Hour)
		if text := said.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, `a source has failed, its keys wait until it is removed`) || !strings.Contains(text, `Every(0s)`) || !strings.Contains(text, "above 0") {
			t.Errorf("the log is %s", text)
		}
		mustStop(t, stop)
	})
}

// An informer that fails ends the sources that need it, and is run anew for those that come. informer.Run, which runs what
// a controller needs, does not run it.
func TestAnInformerThatFailsEndsTheSourcesForSomeKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, maps := startServer(t, clienttest.Options{})
		create(t, maps, "a")
		got := &counting{}
		var told []error
		c := controller.New("c", controller.Options{OnError: func(err error) { told = append(told, err) }}, got.reconcile, controller.Chan(make(chan meta.Key)))
		bad := &brittle{inf: informer.New(maps, informer.Options{})}
		bad.fails.Store(true)
		all := func(meta.Key) bool { return true }
		first := mustAddFor(t, c, all, controller.Source[meta.Key](bad), controller.Every(time.Hour, meta.Key{Name: "named"}))
		if n := len(c.Runners()); n != 0 {
			t.Errorf("informer.Run would run %d", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- informer.Run(ctx, c) }()
		want(t, "it fails", got.take, "")
		if len(told) != 1 || !errors.Is(told[0], errFailed) {
			t.Errorf("told %v", told)
		}
		bad.fails.Store(false)
		second := mustAddFor(t, c, all, controller.Source[meta.Key](bad))
		if err := second.WaitSynced(ctx); err != nil {
			t.Error(err)
		}
		want(t, "the first one is still there", got.take, "")
		first.Remove()
		want(t, "without the first", got.take, "a named")
		second.Remove()

		// A source that all keys need, and an informer that fails later.
		if _, err := c.AddSource(bad); err != nil {
			t.Fatal(err)
		}
		want(t, "the third", got.take, "a")
		mustAddFor(t, c, all, controller.Source[meta.Key](bad))
		want(t, "the fourth", got.take, "a")
		bad.fail()
		if err := <-ended; !errors.Is(err, errFailed) {
			t.Errorf("Run returned %v", err)
		}
		if len(told) != 1 {
			t.Errorf("told %v", told)
		}
		cancel()
	})
}

func TestSourcesForSomeKeysThatAreNil(t *testing.T) {
	c, _ := started(controller.Options{})
	if _, err := c.AddSourcesFor(nil); err == nil || !strings.Contains(err.Error(), "covers must not be nil") {
		t.Errorf("the error is %v", err)
	}
	if _, err := c.AddSourcesFor(of("a"), controller.Every(time.Hour, "a"), nil); err == nil || !strings.Contains(err.Error(), "from[1] must not be nil") {
		t.Errorf("the error is %v", err)
	}
	if n := len(c.Status().Unsynced); n != 0 {
		t.Errorf("%d sources were added", n)
	}
}

// brittle is a source that watches an informer, and runs it so that it may fail.
type brittle struct {
	inf   *informer.Informer[*pod]
	fails atomic.Bool
	mu    sync.Mutex
	end   context.CancelCauseFunc
}

func (b *brittle) Run(ctx context.Context, add func(meta.Key), synced func()) error {
	return controller.Watch(b.inf).Run(ctx, add, synced)
}

func (b *brittle) Runners() []informer.Runner {
	return []informer.Runner{(*brittleRunner)(b)}
}

func (b *brittle) fail() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end(errFailed)
}

type brittleRunner brittle

func (b *brittleRunner) Run(ctx context.Context) error {
	if b.fails.Load() {
		return errFailed
	}
	inner, end := context.WithCancelCause(ctx)
	b.mu.Lock()
	b.end = end
	b.mu.Unlock()
	if err := b.inf.Run(inner); err != nil || ctx.Err() != nil {
		return err
	}
	return context.Cause(inner)
}
