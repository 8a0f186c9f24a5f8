package sample

// The job of leader election, against the cluster.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Election is one side's leader election.
type Election struct {
	// Settings are its public settings.
	Settings string
	// Contend makes a client, and contends for the lease of that name in the namespace default, with the identity. It
	// calls lead when it leads, and releases the lease when ctx has ended, which ends lead's ctx too.
	Contend func(ctx context.Context, server, lease, identity string, lead func(ctx context.Context)) error
}

// Failover is the job of Params.Elections elections at once, each with a separate lease. The first contender leads; the
// second one contends for a time between Params.Contending and twice that, so that the failovers happen at different
// points of the contender's period. Then the context of the first ends, and it releases the lease. The time of a
// failover is from then to the call of the second one's lead, so it includes the first one's end. It counts the
// elections in which the second one has led after that, and those in which it has led before.
func Failover(e Election) Job {
	return func(ctx context.Context, p Params) (Report, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, errors.New("it takes too long"))
		defer cancel()
		var (
			wg     sync.WaitGroup
			mu     sync.Mutex
			times  []float64
			early  int
			failed error
		)
		for i := range p.Elections {
			wg.Go(func() {
				took, err := e.hold(ctx, p, fmt.Sprintf("election-%d", i))
				mu.Lock()
				defer mu.Unlock()
				if failed = errors.Join(failed, err); took < 0 {
					early++
				}
				times = append(times, took.Seconds())
			})
		}
		wg.Wait()
		if failed != nil {
			return Report{}, failed
		}
		slices.Sort(times)
		return Report{
			Settings: e.Settings,
			Counts:   map[string]int{"failovers": len(times) - early, "early": early},
			Figures:  map[string]float64{"median": times[len(times)/2], "longest": times[len(times)-1]},
		}, nil
	}
}

// hold holds one election, and returns how long its failover took.
func (e Election) hold(ctx context.Context, p Params, lease string) (took time.Duration, err error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var ended [2]chan error
	contend := func(ctx context.Context, i int) <-chan time.Time {
		leads := make(chan time.Time, 1)
		ended[i] = make(chan error, 1)
		go func() {
			ended[i] <- e.Contend(ctx, p.Server, lease, fmt.Sprintf("contender-%d", i), func(ctx context.Context) {
				leads <- time.Now()
				<-ctx.Done()
			})
		}()
		return leads
	}
	await := func(leads <-chan time.Time, i int) (time.Time, error) {
		select {
		case at := <-leads:
			return at, nil
		case err := <-ended[i]:
			return time.Time{}, fmt.Errorf("lead as contender %d of %s: it has ended: %w", i, lease, errors.Join(err, context.Cause(ctx)))
		}
	}
	first, release := context.WithCancel(ctx)
	defer release()
	if _, err := await(contend(first, 0), 0); err != nil {
		return 0, err
	}
	second := contend(ctx, 1)
	select {
	case <-time.After(p.Contending + rand.N(p.Contending)):
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	began := time.Now()
	release()
	led, err := await(second, 1)
	if err != nil {
		return 0, err
	}
	end()
	return led.Sub(began), errors.Join(<-ended[0], <-ended[1])
}
