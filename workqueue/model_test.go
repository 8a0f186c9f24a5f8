package workqueue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// model is the queue's contract, written down as plainly as possible: no heap, no lists, no timer. (It has no bucket;
// the tests of the bucket have exact expectations.)
type model struct {
	now  time.Duration
	keys map[byte]*modelKey
}

type modelKey struct {
	pending   time.Duration // when it is or was to be ready; never if it is not pending
	retry     time.Duration // the same, if it waits because it failed
	running   bool
	failures  int
	settledAt time.Duration
}

func (m *model) key(k byte) *modelKey {
	if m.keys[k] == nil {
		m.keys[k] = &modelKey{pending: never, retry: never}
	}
	return m.keys[k]
}

// isReady reports whether the pending run of k may start, or could if k were not in progress.
func (m *model) isReady(k *modelKey) bool { return k.pending <= m.now }

func (m *model) addAfter(b byte, d time.Duration) {
	k := m.key(b)
	k.pending = min(k.pending, m.now+max(0, d))
}

func (m *model) addRateLimited(b byte) {
	if k := m.key(b); !m.isReady(k) && k.retry == never {
		m.failed(b)
	}
}

func (m *model) failed(b byte) {
	k := m.key(b)
	k.failures++
	if m.isReady(k) {
		return
	}
	if at := m.now + modelBackoff(b, k.failures); at < k.retry {
		k.retry = at
		k.pending = min(k.pending, at)
	}
}

// takeable returns the time since when the keys that come next are ready, and which those are: one, or several that
// became ready at the same moment.
func (m *model) takeable() (since time.Duration, next map[byte]bool) {
	since = never
	for b, k := range m.keys {
		if k.running || k.pending == never {
			continue
		}
		at := max(k.pending, k.settledAt)
		if at < since {
			since, next = at, map[byte]bool{}
		}
		if at == since {
			next[b] = true
		}
	}
	return since, next
}

func (m *model) take(b byte) {
	k := m.key(b)
	k.pending, k.retry, k.running = never, never, true
}

func (m *model) settle(b byte, err error) {
	k := m.key(b)
	if err != nil {
		m.failed(b)
	} else {
		k.failures = 0
	}
	k.running = false
	if m.isReady(k) {
		k.settledAt = m.now // from here on it is ready for others
	}
}

func (m *model) stats() (s Stats) {
	for _, k := range m.keys {
		if k.running {
			s.InProgress++
		}
		switch {
		case k.pending == never:
		case !m.isReady(k):
			s.Delayed++
		case !k.running:
			s.Ready++
			s.Oldest = max(s.Oldest, m.now-max(k.pending, k.settledAt))
		}
	}
	return s
}

func modelBackoff(b byte, failures int) time.Duration {
	return time.Duration(failures)*100*time.Millisecond + time.Duration(b)*time.Millisecond
}

var errModel = errors.New("failed")

// runModel plays program on a queue and on the model and compares all that can be seen. Each two bytes are a step.
func runModel(t *testing.T, program []byte) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options[byte]{Backoff: modelBackoff})
		m := &model{keys: map[byte]*modelKey{}}
		running := map[byte]chan error{} // each has a Do that waits for its outcome
		defer func() {
			for _, c := range running {
				close(c)
			}
			synctest.Wait()
		}()
		for i := 0; i+1 < len(program); i += 2 {
			op, k, arg := program[i]%8, program[i+1]%8, time.Duration(program[i+1]/8)
			step := fmt.Sprintf("step %d: op %d, key %d, argument %d", i/2, op, k, arg)
			switch op {
			case 0, 1:
				q.Add(k)
				m.addAfter(k, 0)
			case 2:
				q.AddAfter(k, (arg-1)*10*time.Millisecond)
				m.addAfter(k, (arg-1)*10*time.Millisecond)
			case 3:
				q.AddRateLimited(k)
				m.addRateLimited(k)
			case 4, 5: // take, waiting up to half a millisecond more than some milliseconds, so that no tie is in doubt
				ctx, cancel := context.WithTimeout(t.Context(), arg*10*time.Millisecond+time.Millisecond/2)
				taken, ended := make(chan byte), make(chan struct{})
				outcome := make(chan error)
				start := time.Now()
				go func() {
					defer close(ended)
					_ = q.Do(ctx, func(_ context.Context, k byte) error {
						taken <- k
						return <-outcome
					})
				}()
				since, next := m.takeable()
				late := m.now + arg*10*time.Millisecond + time.Millisecond/2
				select {
				case k := <-taken:
					m.now += time.Since(start)
					if !next[k] || m.now != max(since, m.now-time.Since(start)) {
						t.Fatalf("%s: took %d at %v, want one of %v at %v", step, k, m.now, next, since)
					}
					m.take(k)
					running[k] = outcome
				case <-ended:
					if since < late {
						t.Fatalf("%s: took nothing, want one of %v at %v", step, next, since)
					}
					m.now += time.Since(start)
				}
				cancel()
			case 6:
				outcome := running[k]
				if outcome == nil {
					continue
				}
				var err error
				if arg%2 == 1 {
					err = errModel
				}
				outcome <- err
				delete(running, k)
				synctest.Wait()
				m.settle(k, err)
			case 7:
				time.Sleep(arg * 10 * time.Millisecond)
				m.now += arg * 10 * time.Millisecond
			}
			synctest.Wait()
			if got, want := q.Stats(), m.stats(); got != want {
				t.Fatalf("%s: stats are %+v, want %+v", step, got, want)
			}
			for b := range byte(8) {
				if got, want := q.Failures(b), m.key(b).failures; got != want {
					t.Fatalf("%s: failures of %d are %d, want %d", step, b, got, want)
				}
			}
			if err := q.check(); err != nil {
				t.Fatalf("%s: %v", step, err)
			}
		}
	})
}

// behaviour 292
func FuzzQueueAgainstItsModel(f *testing.F) {
	f.Add([]byte{0, 1, 4, 0, 0, 1, 6, 9, 4, 0, 6, 1, 4, 31})
	f.Add([]byte{2, 255, 0, 7, 4, 0, 2, 7, 3, 7, 7, 255, 6, 7, 4, 0})
	f.Fuzz(func(t *testing.T, program []byte) { runModel(t, program[:min(len(program), 400)]) })
}

// behaviour 292
func TestRandomProgramsGiveWhatTheModelGives(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		program := make([]byte, 600)
		for i := range program {
			program[i] = byte(r.Uint32())
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runModel(t, program) })
	}
}

// behaviour 292: many producers and workers at once. No key is ever with two workers, none is lost (whatever its
// producer saw last, a run saw later), and nothing is left at the end.
func TestNoKeyIsLostOrRunTwiceAtOnceUnderLoad(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options[int]
	}{
		{"without a limit", Options[int]{}},
		{"with a limit for retries", Options[int]{RetryRate: 1000}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const keys, producers, workers, adds = 50, 8, 8, 2000
				type state struct {
					sync.Mutex
					version, seen int
					running       bool
				}
				var states [keys]state
				q := New(test.options)
				work := func(_ context.Context, k int) (err error) {
					s := &states[k]
					s.Lock()
					if s.running {
						t.Errorf("key %d is in progress twice", k)
					}
					s.running = true
					version := s.version
					s.Unlock()
					defer func() {
						s.Lock()
						s.running = false
						if err == nil {
							s.seen = version
						}
						s.Unlock()
					}()
					switch rand.IntN(8) {
					case 0:
						return errModel
					case 1:
						time.Sleep(rand.N(10 * time.Millisecond))
					case 2:
						q.AddAfter(k, rand.N(time.Second))
					}
					return nil
				}
				var produced, worked sync.WaitGroup
				ctx, cancel := context.WithCancel(t.Context())
				for range workers {
					worked.Go(func() {
						for ctx.Err() == nil { // each Do on a context that may end early, to hand over often
							short, done := context.WithTimeout(ctx, rand.N(20*time.Millisecond))
							_ = q.Do(short, work)
							done()
						}
					})
				}
				for range producers {
					produced.Go(func() {
						for range adds {
							k := rand.IntN(keys)
							states[k].Lock()
							states[k].version++
							states[k].Unlock()
							switch rand.IntN(4) {
							case 0:
								q.AddAfter(k, rand.N(20*time.Millisecond))
							case 1:
								q.AddRateLimited(k)
							default:
								q.Add(k)
							}
							if rand.IntN(4) == 0 {
								time.Sleep(rand.N(time.Millisecond))
							}
						}
					})
				}
				produced.Wait()
				for q.Stats() != (Stats{}) { // virtual time: every delay passes
					if err := q.check(); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Second)
				}
				cancel()
				worked.Wait()
				for k := range states {
					if s := &states[k]; s.seen != s.version {
						t.Errorf("key %d was seen at version %d, want %d", k, s.seen, s.version)
					}
				}
				if len(q.entries) != 0 {
					t.Errorf("%d entries are left", len(q.entries))
				}
			})
		})
	}
}
