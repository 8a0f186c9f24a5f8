package conn

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// readPatience is how long a request waits for a read before it uses the previous contents.
	readPatience = time.Second
	// readTimeout is how long a request waits for a read if there are no previous contents. Its context may end sooner.
	readTimeout = 30 * time.Second
)

// kept holds the contents of some files in memory, and reads them again when they are old. A request starts the read,
// which runs on a separate goroutine and holds no lock. So a file system that does not answer, such as a network mount
// whose server is gone, does not hold a request past its context, nor a request that can use the previous contents.
//
// A read cannot be cancelled. So its goroutine outlives the request: it ends when the system answers, and stores the
// result itself. Only requests wait for it, each with its own limit; Transport.Close does not. There is at most one
// such goroutine, because no other read begins before it has ended.
type kept[T any] struct {
	load  func(read) (T, error)             // reads the files, each by a call of read
	same  func(a, b T) bool                 // nil if changes is not used
	age   time.Duration                     // how long the contents are used before the files are read again
	eager bool                              // after a failure, the next request reads again, without waiting for age
	open  func(name string) ([]byte, error) // readFile, except in tests

	changes atomic.Int64 // how often a read has brought different contents

	mu      sync.Mutex  // guards the rest; not held while a file is read
	now     T           // the contents that were read last, if have is set
	have    bool        // there are contents
	at      time.Time   // when the files were last read; zero if the next request must read them
	err     error       // why that read failed; nil if it succeeded
	told    time.Time   // when a failure was last reported
	expired int         // how often expire was called
	reading *reading[T] // nil if no read is under way
}

// read reads a file whose name is in a field of client.Config.
type read func(field, name string) ([]byte, error)

// reading is one call of load.
type reading[T any] struct {
	began   time.Time
	expired int                    // kept.expired when it began
	file    atomic.Pointer[string] // the file that is being read, with its field
	done    chan struct{}          // closed when the result is stored
	err     error                  // set before done is closed
}

// get returns the contents of the files, and reads them first if they are old. If the read fails, get returns the
// previous contents, and stale is the reason if it should be reported now. err is set only if there are no previous
// contents.
func (k *kept[T]) get(ctx context.Context) (value T, stale, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	needs := k.expired
	for !k.have || !fresh(k.at, time.Now(), k.age) {
		r := k.begin()
		patience := readTimeout
		if k.have {
			patience = time.Until(r.began.Add(readPatience)) // counted for all requests from the start of the read
		}
		k.mu.Unlock()
		err := r.wait(ctx, patience)
		k.mu.Lock()
		switch {
		case err == nil && r.err == nil && r.expired < needs: // the read began before the call of expire
			continue
		case err == nil:
			err = r.err
		}
		switch {
		case !k.have:
			return value, nil, err
		case ctx.Err() != nil: // the end of ctx says nothing about the files
			return k.now, nil, nil
		}
		return k.now, k.stale(err), nil
	}
	return k.now, k.stale(k.err), nil
}

// stale returns err if no failure has been reported for a while, and otherwise nil. mu is held.
func (k *kept[T]) stale(err error) error {
	now := time.Now()
	if err == nil || fresh(k.told, now, k.age) {
		return nil
	}
	k.told = now
	return err
}

// expire makes the next get read the files. The result of a read that has begun before does not count.
func (k *kept[T]) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expired++
	k.at = time.Time{}
}

// last returns the contents that were read last, without reading; the zero value if nothing has been read.
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
	case <-r.done: // the read ended at the same time
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

// SlowReadError says which file was not read in time. Nothing was sent.
type SlowReadError struct {
	File   string // the file, with the field that names it
	Waited time.Duration
	Err    error // the context's error; nil if it has not ended
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
