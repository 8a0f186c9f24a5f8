package controller_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// numbers are the names of n keys.
func numbers(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	return names
}

// gated is a controller of n keys whose reconciles wait until finish lets one of them end.
func gated(n, workers int) (c *controller.Controller[string], finish func()) {
	gate := make(chan struct{})
	c = controller.New("c", controller.Options{Logger: logged{newLog()}.logger(), Workers: workers},
		func(ctx context.Context, _ string) (controller.Result, error) {
			select {
			case <-gate:
			case <-ctx.Done():
			}
			return controller.Result{}, nil
		}, keys{names: numbers(n)})
	return c, func() {
		gate <- struct{}{}
		synctest.Wait()
	}
}

// working fails unless n keys are in progress.
func working(t *testing.T, c *controller.Controller[string], n int) {
	t.Helper()
	synctest.Wait()
	if s := c.Status(); s.Queue.InProgress != n {
		t.Errorf("%d keys are in progress, want %d; %v", s.Queue.InProgress, n, s)
	}
}

func setWorkers(t *testing.T, c *controller.Controller[string], n int) {
	t.Helper()
	if err := c.SetWorkers(n); err != nil {
		t.Error(err)
	}
	if s := c.Status(); s.Workers != n {
		t.Errorf("the status has %d workers, want %d", s.Workers, n)
	}
}

func TestMoreWorkersStartAtOnceAndSurplusOnesEndAfterTheirReconciles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, finish := gated(100, 2)
		stop := run(t, c)
		working(t, c, 2)
		setWorkers(t, c, 5)
		working(t, c, 5)
		setWorkers(t, c, 2)
		working(t, c, 5) // they are not interrupted
		for range 2 * 5 {
			finish()
		}
		working(t, c, 2)
		if n := c.Status().Reconciles; n != 10 {
			t.Errorf("%d reconciles have ended, want 10", n)
		}
		setWorkers(t, c, 3)
		working(t, c, 3)
		mustStop(t, stop)
	})
}

func TestNoMoreReconcilesThanWorkersWhenTheNumberGoesDownAndUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, finish := gated(100, 4)
		stop := run(t, c)
		setWorkers(t, c, 1)
		setWorkers(t, c, 4) // the surplus workers have not ended
		working(t, c, 4)
		finish()
		working(t, c, 4)
		mustStop(t, stop)
	})
}

func TestIdleWorkersLeaveBeforeThoseThatReconcile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for busy := range 4 {
			names, gate := make(chan string, 10), make(chan struct{})
			c := controller.New("c", controller.Options{Workers: 4}, func(context.Context, string) (controller.Result, error) {
				<-gate
				return controller.Result{}, nil
			}, controller.Chan(names))
			stop := run(t, c)
			for k := range busy {
				names <- fmt.Sprint(k)
			}
			working(t, c, busy)
			setWorkers(t, c, 3)
			for k := range 4 {
				names <- fmt.Sprint("more ", k)
			}
			working(t, c, 3)
			close(gate)
			synctest.Wait()
			mustStop(t, stop)
		}
	})
}

func TestTheNumberOfWorkersOutlastsARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := gated(100, 1)
		setWorkers(t, c, 3)
		stop := run(t, c)
		working(t, c, 3)
		mustStop(t, stop)
		setWorkers(t, c, 4)
		stop = run(t, c)
		working(t, c, 4)
		mustStop(t, stop)
	})
}

func TestAControllerHasOneWorkerAtLeast(t *testing.T) {
	c, _ := gated(1, 3)
	for _, n := range []int{0, -1} {
		want := fmt.Sprintf("controller.SetWorkers: n must be 1 or more, got %d; Pause stops all workers", n)
		if err := c.SetWorkers(n); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	if n := c.Status().Workers; n != 3 {
		t.Errorf("there are %d workers, want 3", n)
	}
}

// A worker whose reconcile ends the goroutine is replaced, unless it is one too many.
func TestASurplusWorkerThatEndsItsGoroutineIsNotReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exit := make(chan bool)
		c := controller.New("c", controller.Options{Workers: 3, MinBackoff: time.Hour, MaxBackoff: time.Hour, OnError: func(error) {}},
			func(ctx context.Context, _ string) (controller.Result, error) {
				select {
				case <-exit:
					runtime.Goexit()
				case <-ctx.Done():
				}
				return controller.Result{}, nil
			}, keys{names: numbers(100)})
		stop := run(t, c)
		exit <- true
		working(t, c, 3)
		setWorkers(t, c, 1)
		exit <- true
		exit <- true
		exit <- true
		working(t, c, 1)
		mustStop(t, stop)
	})
}

func TestAReconcileMayChangeTheNumberOfWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *controller.Controller[string]
		most := 0
		var mu sync.Mutex
		c = controller.New("c", controller.Options{}, func(_ context.Context, k string) (controller.Result, error) {
			mu.Lock()
			most = max(most, c.Status().Queue.InProgress)
			mu.Unlock()
			setWorkers(t, c, 1+len(k)%3)
			time.Sleep(time.Second)
			return controller.Result{}, nil
		}, keys{names: numbers(200)})
		stop := run(t, c)
		time.Sleep(time.Hour)
		if s := c.Status(); s.Reconciles != 200 || most > 3 || most < 2 {
			t.Errorf("up to %d at a time, %v", most, s)
		}
		mustStop(t, stop)
	})
}

// A pause in the meantime does not keep those at work that a smaller number has sent away.
func TestFewerWorkersStayFewerThroughAPause(t *testing.T) {
	for _, first := range [][]time.Duration{{10, 10, 10, 9, 9, 9}, {9, 9, 9, 10, 10, 10}} { // whichever the controller sends away
		synctest.Test(t, func(t *testing.T) {
			var begun atomic.Int32
			c := controller.New("c", controller.Options{Workers: 3}, func(context.Context, string) (controller.Result, error) {
				d := time.Duration(10)
				if n := int(begun.Add(1)); n <= len(first) {
					d = first[n-1]
				}
				time.Sleep(d * time.Second)
				return controller.Result{}, nil
			}, keys{names: numbers(100)})
			stop := run(t, c)
			working(t, c, 3)
			setWorkers(t, c, 6)
			working(t, c, 6)
			setWorkers(t, c, 3)
			time.Sleep(9500 * time.Millisecond)
			c.Pause()
			c.Resume()
			time.Sleep(time.Second) // everything that was in progress when the number fell has ended by now
			working(t, c, 3)
			mustStop(t, stop)
		})
	}
}

// Nothing is lost, no key is with two workers, and no more reconciles are in progress than there were to be workers while the oldest
// of them ran, whatever is called when.
func TestWorkersAreChangedAtRandom(t *testing.T) {
	for seed := range histories.Seeds(30) {
		synctest.Test(t, func(t *testing.T) {
			r, inner := rand.New(rand.NewPCG(seed, 3)), rand.New(rand.NewPCG(seed, 4)) // mu guards inner
			const longest, most = time.Second, 6
			names := make(chan string)
			type state struct {
				named, seen int
				running     bool
			}
			var mu sync.Mutex
			states, inProgress, size, paused := map[string]*state{}, 0, 1, false
			var sizes []struct { // the number of workers until then
				until time.Time
				n     int
			}
			changed := func(f func()) { // notes the former number, and then changes it
				mu.Lock()
				defer mu.Unlock()
				n := size
				if paused {
					n = 0
				}
				sizes = append(sizes, struct {
					until time.Time
					n     int
				}{time.Now(), n})
				f()
			}
			c := controller.New("c", controller.Options{Logger: logged{newLog()}.logger(), OnError: func(error) {}}, func(_ context.Context, k string) (controller.Result, error) {
				mu.Lock()
				s := states[k]
				if s.running {
					t.Errorf("seed %d: key %s is with two workers", seed, k)
				}
				inProgress++
				bound := size
				for _, former := range sizes {
					if time.Since(former.until) <= longest {
						bound = max(bound, former.n)
					}
				}
				if inProgress > bound {
					t.Errorf("seed %d: %d reconciles at a time, want at most %d", seed, inProgress, bound)
				}
				s.running = true
				version, exit, d := s.named, inner.IntN(20) == 0, time.Duration(inner.Int64N(int64(longest)))
				mu.Unlock()
				time.Sleep(d)
				mu.Lock()
				defer mu.Unlock()
				s.running = false
				inProgress--
				if exit {
					runtime.Goexit()
				}
				s.seen = version
				return controller.Result{}, nil
			}, controller.Chan(names))
			stop := run(t, c)
			for range 300 {
				switch r.IntN(8) {
				case 0:
					n := 1 + r.IntN(most)
					changed(func() { size = n })
					setWorkers(t, c, n)
				case 1:
					changed(func() { paused = true })
					c.Pause()
				case 2, 3:
					changed(func() { paused = false })
					c.Resume()
				case 4:
					time.Sleep(time.Duration(r.Int64N(int64(2 * longest))))
				case 5:
					if r.IntN(10) == 0 { // another Run, whose sources name everything
						mustStop(t, stop)
						stop = run(t, c)
						for k, s := range states {
							s.named++
							names <- k
						}
					}
				default:
					k := fmt.Sprint(r.IntN(30))
					mu.Lock()
					if states[k] == nil {
						states[k] = &state{}
					}
					states[k].named++
					mu.Unlock()
					names <- k
				}
				synctest.Wait()
				mu.Lock()
				isPaused, n := paused, size
				mu.Unlock()
				s := c.Status()
				if s.Paused != isPaused || s.Workers != n {
					t.Errorf("seed %d: status is %v, want %d workers, paused is %v", seed, s, n, isPaused)
				}
				if !isPaused && s.Queue.Ready > 0 && s.Queue.InProgress < n {
					t.Errorf("seed %d: keys wait, and %d of %d workers reconcile", seed, s.Queue.InProgress, n)
				}
			}
			c.Resume()
			time.Sleep(24 * time.Hour)
			mustStop(t, stop)
			for k, s := range states {
				if s.seen != s.named || s.running {
					t.Errorf("seed %d: key %s was seen at version %d, want %d", seed, k, s.seen, s.named)
				}
			}
		})
	}
}

// From many goroutines, before, during and after runs; for the race detector.
func TestWorkersAreChangedByManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := controller.New("c", controller.Options{Logger: logged{newLog()}.logger(), Drain: time.Second}, func(context.Context, string) (controller.Result, error) {
			time.Sleep(time.Millisecond)
			return controller.Result{}, nil
		}, keys{names: numbers(100)})
		var callers sync.WaitGroup
		for i := range 8 {
			callers.Go(func() {
				for n := range 200 {
					switch (n + i) % 4 {
					case 0:
						c.Pause()
					case 1:
						c.Resume()
					case 2:
						_ = c.Status()
					default:
						if err := c.SetWorkers(1 + n%5); err != nil {
							t.Error(err)
						}
					}
					time.Sleep(rand.N(3 * time.Millisecond))
				}
			})
		}
		for range 5 {
			stop := run(t, c)
			time.Sleep(30 * time.Millisecond)
			mustStop(t, stop)
		}
		callers.Wait()
	})
}
