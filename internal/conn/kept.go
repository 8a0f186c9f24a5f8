package conn

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// How long a read may take before what was read last is used meanwhile.
	readPatience = time.Second
	// How long a request waits for a read where nothing was read before. Its context may end sooner.
	readTimeout = 30 * time.Second
)

// kept is what some files hold, kept in memory and read again when it is old. It is read on behalf of a request, on a
// goroutine of its own and under no lock: a file system that does not answer, such as a network mount whose server is
// gone, must not hold a request past its context, nor hold requests that have what was read last.
//
// The system cannot be told to give up a read. So the goroutine belongs to its file and not to a request: it ends when
// the system answers, and stores the result itself. Nobody waits for it but requests, as long as they want to;
// Transport.Close does not. There is one of them at most, because no other read begins before it has ended.
type kept[T any] struct {
	load  func(read) (T, error)             // names each file before it reads it
	same  func(a, b T) bool                 // nil where nobody asks for changes
	age   time.Duration                     // how long what was read is used before the files are looked at again
	eager bool                              // after a failure the next request looks again, and not only the first after age
	open  func(name string) ([]byte, error) // readFile, but in tests

	changes atomic.Int64 // how often a read has brought something else

	mu      sync.Mutex  // guards the rest; not held while a file is read
	now     T           // what was read last, if have is set
	have    bool        // something was read
	at      time.Time   // when the files were last looked at; zero where they are to be
	err     error       // why they could not be, if they could not
	told    time.Time   // when it was last said that now is old
	expired int         // how often expire was called
	reading *reading[T] // nil where none is under way
}

// read reads a file that stands in a field of client.Config.
type read func(field, name string) ([]byte, error)

// reading is one call of load.
type reading[T any] struct {
	began   time.Time
	expired int                    // kept.expired when it began
	file    atomic.Pointer[string] // the file that is being read, with its field
	done    chan struct{}          // closed when the result is stored
	err     error                  // set before done is closed
}

// get returns what the files hold. Where that is old, it is read first. stale is why it could not be, where somebody
// should be told that the old is used. It is an error only if there is nothing old.
func (k *kept[T]) get(ctx context.Context) (value T, stale, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	needs := k.expired
	for !k.have || !fresh(k.at, time.Now(), k.age) {
		r := k.begin()
		patience := readTimeout
		if k.have {
			patience = time.Until(r.began.Add(readPatience)) // of all requests together
		}
		k.mu.Unlock()
		err := r.wait(ctx, patience)
		k.mu.Lock()
		switch {
		case err == nil && r.err == nil && r.expired < needs: // it began too early to be an answer
			continue
		case err == nil:
			err = r.err
		}
		switch {
		case !k.have:
			return value, nil, err
		case ctx.Err() != nil: // which says nothing of the files
			return k.now, nil, nil
		}
		return k.now, k.stale(err), nil
	}
	return k.now, k.stale(k.err), nil
}

// stale returns err if it has not been said for a while that what was read last is used for its sake. mu is held.
func (k *kept[T]) stale(err error) error {
	now := time.Now()
	if err == nil || fresh(k.told, now, k.age) {
		return nil
	}
	k.told = now
	return err
}

// expire makes the next get read the files, and not take the answer of a read that has begun before.
func (k *kept[T]) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expired++
	k.at = time.Time{}
}

// last returns what was read last, without reading; it is zero before anything was.
func (k *kept[T]) last() T {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

// begin returns the read under way. If there is none, it begins one. mu is held.
func (k *kept[T]) begin() *reading[T] {
	if k.reading != nil {
		return k.reading
	}
	r := &reading[T]{began: time.Now(), expired: k.expired, done: make(chan struct{})}
	k.reading = r
	open := k.open
	if open == nil {
		open = readFile
	}
	go func() {
		value, err := k.load(func(field, name string) ([]byte, error) {
			file := field + ": " + name
			r.file.Store(&file)
			b, err := open(name)
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", field, err)
			}
			return b, nil
		})
		k.end(r, value, err)
	}()
	return r
}

// end stores the result of a read.
func (k *kept[T]) end(r *reading[T], value T, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reading, k.err, r.err = nil, err, err
	switch {
	case err == nil:
		if k.have && k.same != nil && !k.same(k.now, value) {
			k.changes.Add(1)
		}
		k.now, k.have, k.at, k.told = value, true, time.Now(), time.Time{}
	case !k.eager:
		k.at = time.Now()
	}
	if r.expired < k.expired {
		k.at = time.Time{}
	}
	close(r.done)
}

// wait waits for the read to end, no longer than ctx and patience.
func (r *reading[T]) wait(ctx context.Context, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
	case <-timer.C:
	}
	select {
	case <-r.done: // both at once
		return nil
	default:
	}
	slow := &SlowReadError{File: "a file of client.Config", Waited: time.Since(r.began).Round(time.Millisecond)}
	if f := r.file.Load(); f != nil {
		slow.File = *f
	}
	if ctx.Err() != nil {
		slow.Err = ContextError(ctx)
	}
	return slow
}

// SlowReadError says which file was waited for in vain. Nothing was sent.
type SlowReadError struct {
	File   string // with its field
	Waited time.Duration
	Err    error // of the context; nil if it has not ended
}

// Error names the file and its field.
func (e *SlowReadError) Error() string {
	text := fmt.Sprintf("read %s: the system has not answered for %v", e.File, e.Waited)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the error of the context, if that has ended.
func (e *SlowReadError) Unwrap() error { return e.Err }
