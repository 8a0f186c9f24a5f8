package workqueue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/internal/proof/histories"
)

// model is the queue's contract, written down as plainly as possible: no heap, no lists, no timer. (It has no bucket;
// the tests of the bucket have exact expectations.)
type model struct {
	start time.Time
	now   time.Duration
	keys  map[byte]*modelKey
	fair  *fairModel // nil without groups
}

type modelKey struct {
	pending     time.Duration // when it is or was to be ready; never if it is not pending
	retry       time.Duration // the same, if it waits because it failed
	priority    int           // of the pending run
	running     bool
	runPriority int
	started     time.Duration
	failures    int
	err         error
	settledAt   time.Duration
	held, aside bool // held lasts until pending
	overdue     int  // how many runs in a row have called AddOverdue
	late        bool // the present one has
	listed      bool // it waits for a worker, and arrive has seen that; used with groups only
}

const modelAgeing = 30 * time.Millisecond

func (m *model) key(k byte) *modelKey {
	if m.keys[k] == nil {
		m.keys[k] = &modelKey{pending: never, retry: never}
	}
	return m.keys[k]
}

// isReady reports whether the pending run of k may start, or could if k were not in progress.
func (m *model) isReady(k *modelKey) bool { return k.pending <= m.now }

func (m *model) isHeld(k *modelKey) bool { return k.held && !m.isReady(k) }

// since is when k became ready for others.
func (k *modelKey) since() time.Duration { return max(k.pending, k.settledAt) }

func (k *modelKey) request(priority int) {
	if priority = min(max(priority, minPriority), maxPriority); k.pending == never || priority > k.priority {
		k.priority = priority
	}
}

func (m *model) add(b byte, d time.Duration, priority int) {
	m.arrive()
	m.join(b)
	k := m.key(b)
	if k.request(priority); !m.isHeld(k) {
		k.pending = min(k.pending, m.now+max(0, d))
	}
}

func (m *model) addOverdue(b byte, priority int) (row int) {
	k, d := m.key(b), time.Duration(0)
	if k.running {
		if !k.late {
			k.late, k.overdue = true, min(k.overdue+1, 64)
		}
		if row = k.overdue; row > 1 {
			d = modelBackoff(b, row-1)
		}
	}
	m.add(b, d, priority)
	return row
}

func (m *model) hold(b byte, d time.Duration) {
	if k := m.key(b); k.running {
		k.request(k.runPriority)
		k.pending, k.retry, k.held, k.aside = m.now+max(0, d), never, true, true
	}
}

func (m *model) release(b byte) {
	if k := m.key(b); m.isHeld(k) {
		k.pending = m.now
	}
}

func (m *model) addRateLimited(b byte) {
	m.arrive()
	m.join(b)
	k := m.key(b)
	priority := 0
	if k.running {
		priority = k.runPriority
	}
	k.request(priority)
	if !m.isReady(k) && k.retry == never && !k.held {
		m.failed(b)
	}
}

func (m *model) failed(b byte) {
	k := m.key(b)
	k.failures++
	if m.isReady(k) || k.held {
		return
	}
	if at := m.now + modelBackoff(b, k.failures); at < k.retry {
		k.retry = at
		k.pending = min(k.pending, at)
	}
}

func (m *model) cancel(b byte) bool {
	m.arrive()
	k := m.key(b)
	k.listed = false
	pending := k.pending != never
	k.pending, k.retry, k.held = never, never, false
	if !k.running {
		k.failures, k.err, k.overdue = 0, nil, 0
	}
	return pending
}

func (m *model) move(b byte, d time.Duration) bool {
	k := m.key(b)
	if m.isReady(k) || k.held || k.pending == never {
		return false
	}
	k.pending, k.retry = m.now+max(0, d), never
	return true
}

// takeable returns the time since when the keys that come next are ready, and which those are: one, or several that
// became ready at the same moment with the same priority. Keys that are not ready yet come when the first of them is.
func (m *model) takeable() (since time.Duration, next map[byte]bool) {
	at := never
	for _, k := range m.keys {
		if !k.running && k.pending != never {
			at = min(at, max(k.since(), m.now))
		}
	}
	group := -1
	if m.fair != nil && at != never {
		group = m.at(at).group()
	}
	best := never
	since = never
	for b, k := range m.keys {
		if k.running || k.pending == never || k.since() > at || group >= 0 && groupOf(b) != group {
			continue
		}
		rank := k.since() - time.Duration(k.priority)*modelAgeing
		if rank < best || rank == best && k.since() < since {
			best, since, next = rank, k.since(), map[byte]bool{}
		}
		if rank == best && k.since() == since {
			next[b] = true
		}
	}
	return since, next
}

// overtakes returns an error if b, which is taken, overtakes a key that has waited too long for that.
func (m *model) overtakes(b byte) error {
	m.arrive()
	if m.fair != nil {
		if err := m.bounds(b); err != nil {
			return err
		}
	}
	k := m.key(b)
	for o, other := range m.keys {
		if o == b || m.fair != nil && groupOf(o) != groupOf(b) || other.running || !m.isReady(other) || other.since() >= k.since() {
			continue
		}
		if ahead := k.since() - other.since(); ahead >= time.Duration(k.priority-other.priority)*modelAgeing {
			return fmt.Errorf("key %d of priority %d overtakes key %d of priority %d, which became ready %v earlier",
				b, k.priority, o, other.priority, ahead)
		}
	}
	return nil
}

func (m *model) take(b byte) {
	m.arrive()
	k := m.key(b)
	k.listed = false
	if g := groupOf(b); m.fair != nil {
		m.fair.now = max(m.fair.now, m.fair.groups[g].tag)
		if waiting, _ := m.count(g); waiting > 0 {
			m.place(g)
		}
		m.fair.groups[g].forget()
	}
	k.pending, k.retry, k.held, k.running = never, never, false, true
	k.runPriority, k.started = k.priority, m.now
}

func (m *model) settle(b byte, err error) {
	m.arrive()
	k := m.key(b)
	if err != nil {
		k.request(k.runPriority)
		m.failed(b)
		k.err = err
	} else if !k.aside || k.pending == never {
		k.failures, k.err = 0, nil
		if !k.late {
			k.overdue = 0
		}
	}
	k.running, k.aside, k.late = false, false, false
	if k.pending == never { // it leaves the queue
		k.overdue = 0
	}
	if m.isReady(k) {
		k.settledAt = m.now // from here on it is ready for others
	}
}

func (m *model) stats() (s Stats) {
	for _, k := range m.keys {
		if k.running {
			s.InProgress++
			s.Longest = max(s.Longest, m.now-k.started)
			s.Unfinished += m.now - k.started
		}
		switch {
		case k.pending == never:
		case m.isHeld(k):
			s.Held++
		case !m.isReady(k):
			s.Delayed++
		case !k.running:
			s.Ready++
			s.Oldest = max(s.Oldest, m.now-k.since())
		}
	}
	return s
}

func (m *model) readyByPriority() map[int]int {
	n := map[int]int{}
	for _, k := range m.keys {
		if !k.running && m.isReady(k) {
			n[k.priority]++
		}
	}
	return n
}

func (m *model) info(b byte) (i KeyInfo[byte], known bool) {
	k := m.key(b)
	i = KeyInfo[byte]{Key: b, Failures: k.failures, LastError: k.err}
	if known = k.running || k.pending != never; known && m.fair != nil {
		i.Group = groupName(b)
	}
	if k.pending != never {
		i.Pending, i.Due, i.Priority = Delayed, m.start.Add(k.pending), k.priority
		switch {
		case m.isHeld(k):
			i.Pending = Held
		case m.isReady(k):
			i.Pending, i.Due = Ready, m.start.Add(k.since())
		}
	}
	if k.running {
		i.Started, i.RunPriority = m.start.Add(k.started), k.runPriority
	}
	return i, known
}

// compare returns an error if the queue does not say of itself what the model says.
func (m *model) compare(q *Queue[byte]) error {
	if got, want := q.Stats(), m.stats(); got != want {
		return fmt.Errorf("stats are %+v, want %+v", got, want)
	}
	if got, want := q.ReadyByPriority(), m.readyByPriority(); !maps.Equal(got, want) {
		return fmt.Errorf("ready keys by priority are %v, want %v", got, want)
	}
	if m.fair != nil {
		m.arrive()
		if got, want := q.Groups(), m.groupStats(); !slices.Equal(got, want) {
			return fmt.Errorf("groups are %+v, want %+v", got, want)
		}
	}
	infos := map[byte]KeyInfo[byte]{}
	for b := range byte(16) {
		if got, want := q.Failures(b), m.key(b).failures; got != want {
			return fmt.Errorf("failures of %d are %d, want %d", b, got, want)
		}
		want, known := m.info(b)
		if got, is := q.Inspect(b); got != want || is != known {
			return fmt.Errorf("key %d is %+v, %v, want %+v, %v", b, got, is, want, known)
		}
		if known {
			infos[b] = want
		}
	}
	first := true
	for got := range q.Keys() {
		if want, known := infos[got.Key]; !known || got != want {
			return fmt.Errorf("among the keys is %+v, want %+v", got, want)
		}
		delete(infos, got.Key)
		if got.Started.IsZero() && got.Pending == Ready && first && m.fair == nil {
			if _, next := m.takeable(); !next[got.Key] {
				return fmt.Errorf("the first of the ready keys is %d, want one of %v", got.Key, next)
			}
			first = false
		}
	}
	if len(infos) > 0 {
		return fmt.Errorf("among the keys are not %v", infos)
	}
	return q.check()
}

func modelBackoff(b byte, failures int) time.Duration {
	return time.Duration(failures)*100*time.Millisecond + time.Duration(b)*time.Millisecond
}

var errModel = errors.New("failed")

// runModel plays program on a queue and on the model and compares all that can be seen. Each three bytes are a step.
func runModel(t *testing.T, program []byte, groups bool) {
	synctest.Test(t, func(t *testing.T) {
		o := Options[byte]{Backoff: modelBackoff, Ageing: modelAgeing}
		m := &model{start: time.Now(), keys: map[byte]*modelKey{}}
		if groups {
			m.fair = &fairModel{}
			o.Group, o.Weight = groupName, m.fair.weightOf
		}
		q := New(o)
		running := map[byte]chan error{} // each has a Do that waits for its outcome
		defer func() {
			for _, c := range running {
				close(c)
			}
			synctest.Wait()
		}()
		for i := 0; i+2 < len(program); i += 3 {
			op, k, arg := program[i]%16, program[i+1]%8, time.Duration(program[i+1]/8)
			priority := [...]int{0, 0, -1, 1, 2, 5, minPriority, maxPriority, math.MinInt, math.MaxInt}[program[i+2]%10]
			if groups {
				k += program[i+2] / 128 * 8
				// Requests of two steps never come due at the same moment, because delays are whole milliseconds, so it is known which
				// group waits first.
				const grid = time.Millisecond / 2
				d := grid - m.now%grid + time.Duration(i/3)*time.Microsecond
				time.Sleep(d)
				m.now += d
				if w := int(program[i+2] / 10); op < 5 && w%2 == 0 {
					m.fair.weights[groupOf(k)] = []int{-1, 0, 1, 2, 3, 4, 7, 10, 50, 99, 100, 1000}[w/2%12]
				}
			}
			fatal := func(format string, about ...any) {
				t.Helper()
				t.Fatalf("step %d: op %d, key %d, argument %d, priority %d: %v", i/3, op, k, arg, priority, fmt.Sprintf(format, about...))
			}
			switch op {
			case 0:
				q.Add(k)
				m.add(k, 0, 0)
			case 1:
				q.AddAfter(k, (arg-1)*10*time.Millisecond)
				m.add(k, (arg-1)*10*time.Millisecond, 0)
			case 2, 3:
				if op == 3 && arg < 10 {
					if got, want := q.AddOverdue(k, priority), m.addOverdue(k, priority); got != want {
						fatal("the row is %d, want %d", got, want)
					}
					break
				}
				d := max(0, arg-16) * 10 * time.Millisecond
				q.AddWith(k, AddOptions{After: d, Priority: priority})
				m.add(k, d, priority)
			case 4:
				q.AddRateLimited(k)
				m.addRateLimited(k)
			case 5, 6, 7: // take, waiting up to half a millisecond more than some milliseconds, so that no tie is in doubt
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
						fatal("took %d at %v, want one of %v at %v", k, m.now, next, since)
					}
					if err := m.overtakes(k); err != nil {
						fatal("%v", err)
					}
					m.take(k)
					running[k] = outcome
				case <-ended:
					if since < late {
						fatal("took nothing, want one of %v at %v", next, since)
					}
					m.now += time.Since(start)
				}
				cancel()
			case 8, 9:
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
			case 10:
				time.Sleep(arg * 10 * time.Millisecond)
				m.now += arg * 10 * time.Millisecond
			case 11:
				if got, want := q.Cancel(k), m.cancel(k); got != want {
					fatal("cancelled is %v, want %v", got, want)
				}
			case 12:
				if got, want := q.Move(k, (arg-4)*10*time.Millisecond), m.move(k, (arg-4)*10*time.Millisecond); got != want {
					fatal("moved is %v, want %v", got, want)
				}
			case 14:
				q.Hold(k, (arg-4)*10*time.Millisecond)
				m.hold(k, (arg-4)*10*time.Millisecond)
			case 15:
				q.Release(k)
				m.release(k)
			case 13: // drain, which lets every other run fail; it waits for what is in progress, and gives up
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond/2)
				start, n := time.Now(), 0
				err := q.Drain(ctx, func(_ context.Context, k byte) (err error) {
					since, next := m.takeable()
					if !next[k] || since > m.now {
						fatal("drained %d, want one of %v since %v", k, next, since)
					}
					if err := m.overtakes(k); err != nil {
						fatal("%v", err)
					}
					m.take(k)
					if n++; n%2 == 0 {
						err = errModel
					}
					m.settle(k, err)
					return err
				})
				m.now += time.Since(start)
				if given := errors.Is(err, context.DeadlineExceeded); given != (len(running) > 0) || err != nil && !given {
					fatal("drained with error %v, and %d keys are in progress", err, len(running))
				}
				if since, next := m.takeable(); since <= m.now-time.Since(start) {
					fatal("drained, and left %v, which are ready since %v", next, since)
				}
				cancel()
			}
			synctest.Wait()
			if err := m.compare(q); err != nil {
				fatal("%v", err)
			}
		}
	})
}

// behaviour 292
func FuzzQueueAgainstItsModel(f *testing.F) {
	f.Add([]byte{0, 1, 0, 5, 0, 0, 0, 1, 0, 8, 9, 0, 5, 0, 0, 8, 1, 0, 5, 31, 0})
	f.Add([]byte{1, 255, 0, 0, 7, 0, 5, 0, 0, 1, 7, 0, 4, 7, 0, 10, 255, 0, 8, 7, 0, 5, 0, 0})
	f.Add([]byte{2, 1, 6, 2, 2, 6, 0, 3, 0, 2, 2, 7, 10, 80, 0, 5, 0, 0, 12, 200, 0, 11, 3, 0, 13, 0, 0})
	f.Fuzz(func(t *testing.T, program []byte) { runModel(t, program[:min(len(program), 600)], false) })
}

func FuzzQueueWithGroupsAgainstItsModel(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 3, 0, 0, 1, 0, 5, 0, 0, 5, 0, 0, 8, 0, 0, 5, 0, 0})
	f.Add([]byte{2, 0, 200, 0, 3, 80, 2, 1, 40, 5, 0, 0, 14, 24, 0, 8, 0, 0, 15, 0, 0, 13, 0, 0})
	f.Fuzz(func(t *testing.T, program []byte) { runModel(t, program[:min(len(program), 600)], true) })
}

// behaviour 292
func TestRandomProgramsGiveWhatTheModelGives(t *testing.T) {
	for seed := range histories.Seeds(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		program := make([]byte, 900)
		for i := range program {
			program[i] = byte(r.Uint32())
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runModel(t, program, false) })
		t.Run(fmt.Sprint("seed ", seed, " with groups"), func(t *testing.T) { runModel(t, program, true) })
	}
}

// behaviour 292: many producers and workers at once, and people who look, cancel and move. No key is ever with two workers,
// none is lost (whatever its producer saw last, a run saw later), and nothing is left at the end. Keys below 0 may be cancelled.
func TestNoKeyIsLostOrRunTwiceAtOnceUnderLoad(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options[int]
	}{
		{"without a limit", Options[int]{}},
		{"with a limit for retries", Options[int]{RetryRate: 1000}},
		{"with groups", Options[int]{
			RetryRate: 1000,
			Group:     func(k int) string { return fmt.Sprint(k % 5) },
			Weight:    func(string) int { return rand.IntN(5) },
		}},
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
					if k < 0 {
						return nil
					}
					aside := false
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
						if err == nil && !aside {
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
					case 3:
						aside = true
						q.Hold(k, rand.N(10*time.Millisecond))
					}
					return nil
				}
				var produced, worked sync.WaitGroup
				ctx, cancel := context.WithCancel(t.Context())
				for range workers {
					worked.Go(func() {
						for ctx.Err() == nil { // each Do on a context that may end early, to hand over often
							short, done := context.WithTimeout(ctx, rand.N(20*time.Millisecond))
							switch rand.IntN(4) {
							case 0:
								_ = q.Work(short, work)
							case 1:
								_ = q.Drain(short, work)
							default:
								_ = q.Do(short, work)
							}
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
							switch rand.IntN(6) {
							case 0:
								q.AddAfter(k, rand.N(20*time.Millisecond))
							case 1:
								q.AddRateLimited(k)
							case 2, 3:
								q.AddWith(k, AddOptions{Priority: rand.IntN(5) - 2, After: rand.N(time.Millisecond) - time.Millisecond/2})
							default:
								q.Add(k)
							}
							switch rand.IntN(16) {
							case 0:
								q.Move(k, rand.N(20*time.Millisecond))
							case 1:
								q.Release(k)
							case 2:
								q.AddWith(-1-k, AddOptions{Priority: rand.IntN(5) - 2, After: rand.N(20 * time.Millisecond)})
							case 3:
								q.Cancel(-1 - k)
							case 4:
								if i, known := q.Inspect(k); known && i.Pending == NotPending && i.Started.IsZero() {
									t.Errorf("key %d is there for nothing: %+v", k, i)
								}
							case 5:
								seen := map[int]bool{}
								for i := range q.Keys() {
									if seen[i.Key] {
										t.Errorf("key %d is there twice", i.Key)
									}
									seen[i.Key] = true
								}
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
				if q.store.table.n != 0 {
					t.Errorf("%d entries are left", q.store.table.n)
				}
			})
		})
	}
}
