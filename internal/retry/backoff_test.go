package retry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// largest returns the longest of many first waits of fresh backoffs after n failures each.
func largest(p Policy, n int) time.Duration {
	var longest time.Duration
	for range 2000 {
		b := New(p)
		for range n {
			b.Next(0)
		}
		longest = max(longest, b.Next(0))
	}
	return longest
}

// behaviour 178: factor 2, full jitter, capped.
func TestWaitsDoubleUpToTheMaximumWithFullJitter(t *testing.T) {
	conflict := Policy{Base: 10 * time.Millisecond, Max: time.Second}
	for _, test := range []struct {
		name     string
		policy   Policy
		failures int
		bound    time.Duration
	}{
		{"a watch's first wait is bounded by 800 ms", Policy{}, 0, 800 * time.Millisecond},
		{"its second by twice as much", Policy{}, 1, 1600 * time.Millisecond},
		{"its fifth by 2^4 as much", Policy{}, 4, 12800 * time.Millisecond},
		{"a doubling above the maximum is the maximum", Policy{}, 6, 30 * time.Second},
		{"it stays there", Policy{}, 40, 30 * time.Second},
		{"a conflict's first wait is bounded by 10 ms", conflict, 0, 10 * time.Millisecond},
		{"and its eighth by 1 s", conflict, 7, time.Second},
		{"a base above the maximum counts as the maximum", Policy{Base: time.Hour, Max: time.Second}, 0, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			// The longest of 2000 even draws lies in the top twentieth of the range, except once in 10^44.
			if got := largest(test.policy, test.failures); got > test.bound || got < test.bound/20*19 {
				t.Errorf("longest of 2000 waits is %v, want just below %v", got, test.bound)
			}
		})
	}
}

func TestJitterIsEvenFromZeroToTheBound(t *testing.T) {
	const draws, parts = 20_000, 10
	var counts [parts]int
	for range draws {
		d := New(Policy{Base: time.Second, Max: time.Minute}).Next(0)
		counts[min(parts-1, int(d*parts/time.Second))]++
	}
	for i, n := range counts { // each is 2000 ± 42; 1700..2300 is seven standard deviations
		if n < 1700 || n > 2300 {
			t.Errorf("part %d of the range was drawn %d times of %d, want about %d", i, n, draws, draws/parts)
		}
	}
}

func TestTheSmallestAndLargestPoliciesNeitherOverflowNorStop(t *testing.T) {
	for _, p := range []Policy{
		{},
		{Base: 1, Max: 1},
		{Base: 1, Max: math.MaxInt64},
		{Base: math.MaxInt64, Max: math.MaxInt64},
		{Base: -1, Max: -1, Reset: -1},
	} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			b, bound := New(p), p.Max
			if bound <= 0 {
				bound = 30 * time.Second
			}
			for n := range 1000 {
				if d := b.Next(0); d < 0 || d > max(bound, 2) {
					t.Fatalf("wait after %d failures is %v, want 0 to %v", n, d, bound)
				}
			}
		})
	}
}

// fault F7: wait at least Retry-After, jittered upward.
func TestAFloorIsALowerBoundAndIsSpreadUpward(t *testing.T) {
	for _, floor := range []time.Duration{
		1, time.Millisecond, 7 * time.Second, time.Hour, math.MaxInt64 - 1, math.MaxInt64,
	} {
		t.Run(floor.String(), func(t *testing.T) {
			distinct := map[time.Duration]bool{}
			for range 1000 {
				d := New(Policy{Base: 2, Max: 2}).Next(floor)
				if d < floor || float64(d) > float64(floor)*1.1+2 {
					t.Fatalf("wait is %v, want %v to a tenth more", d, floor)
				}
				distinct[d] = true
			}
			if floor >= time.Millisecond && floor < math.MaxInt64-1 && len(distinct) < 900 {
				t.Errorf("1000 clients came back at %d distinct moments", len(distinct))
			}
		})
	}
}

func TestAFloorBelowTheDrawChangesNothing(t *testing.T) {
	b := New(Policy{Base: time.Hour, Max: time.Hour})
	for range 1000 {
		if d := b.Next(time.Nanosecond); d > time.Hour {
			t.Fatalf("wait is %v, want at most the bound of an hour", d)
		}
	}
}

// behaviour 178: the first failure after two minutes of health starts low again; health that was shorter does not.
func TestOnlyLastingHealthMakesTheNextWaitLow(t *testing.T) {
	for _, test := range []struct {
		name  string
		after func(b *Backoff)
		low   bool
	}{
		{"two minutes of health", func(b *Backoff) {
			b.Healthy()
			time.Sleep(2 * time.Minute)
		}, true},
		{"health counts from its first sign, not from its last", func(b *Backoff) {
			b.Healthy()
			time.Sleep(time.Minute)
			b.Healthy()
			time.Sleep(time.Minute)
		}, true},
		{"health that ended a moment early", func(b *Backoff) {
			b.Healthy()
			time.Sleep(2*time.Minute - 1)
		}, false},
		{"a long time without a sign of health", func(*Backoff) { time.Sleep(time.Hour) }, false},
		{"health before a failure does not count for the one after it", func(b *Backoff) {
			b.Healthy()
			time.Sleep(time.Minute)
			b.Next(0)
			time.Sleep(time.Minute)
		}, false},
		{"a reset by hand", func(b *Backoff) { b.Reset() }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var longest time.Duration
				for range 200 {
					b := New(Policy{})
					for range 20 {
						b.Next(0)
					}
					test.after(b)
					longest = max(longest, b.Next(0))
				}
				if low := longest <= 800*time.Millisecond; low != test.low {
					t.Errorf("longest of 200 waits is %v, want low again: %v", longest, test.low)
				}
			})
		})
	}
}

func TestGrowthStartsAgainAfterHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var first, second time.Duration
		for range 500 {
			b := New(Policy{})
			for range 20 {
				b.Next(0)
			}
			b.Healthy()
			time.Sleep(5 * time.Minute)
			first, second = max(first, b.Next(0)), max(second, b.Next(0))
		}
		if first > 800*time.Millisecond || second <= 800*time.Millisecond || second > 1600*time.Millisecond {
			t.Errorf("longest first and second waits are %v and %v, want just below 800ms and 1.6s", first, second)
		}
	})
}

func TestSleepWaitsForItsTimeOrItsContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name    string
		ctx     func(ctx context.Context) (context.Context, context.CancelFunc)
		d, took time.Duration
		want    error
	}{
		{"its time passes", context.WithCancel, time.Hour, time.Hour, nil},
		{"the context ends first", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, time.Hour, time.Second, context.DeadlineExceeded},
		{"nothing to wait for", context.WithCancel, 0, 0, nil},
		{"less than nothing to wait for", context.WithCancel, -time.Hour, 0, nil},
		{"the context has ended before", func(context.Context) (context.Context, context.CancelFunc) {
			return ended, cancel
		}, -time.Hour, 0, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := test.ctx(t.Context())
				defer cancel()
				start := time.Now()
				if err := Sleep(ctx, test.d); !errors.Is(err, test.want) {
					t.Errorf("got error %v, want %v", err, test.want)
				}
				if took := time.Since(start); took != test.took {
					t.Errorf("took %v, want %v", took, test.took)
				}
			})
		})
	}
}

func BenchmarkNext(b *testing.B) {
	backoff := New(Policy{})
	b.ReportAllocs()
	for b.Loop() {
		backoff.Next(0)
	}
}
