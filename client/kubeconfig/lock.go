package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// LockedError says that a kubeconfig could not be written because of its lock: a file that somebody who writes it makes, and
// removes afterwards. One that is left of a program which was ended has to be removed by hand.
type LockedError struct {
	Lock string // the lock's file
	Err  error  // why it was not waited for any longer: the error of the context; nil after 10 s
}

// Error implements error.
func (e *LockedError) Error() string {
	text := fmt.Sprintf("write a kubeconfig: the lock %s is held; if no program holds it any longer, remove it", printable(e.Lock))
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *LockedError) Unwrap() error { return e.Err }

const (
	lockWait  = 10 * time.Second      // how long a lock is waited for
	lockRetry = 20 * time.Millisecond // how often it is looked at
)

// locks returns the names of the files that lock d: one for the file itself, and one for the name of it that was given, if
// that is a link, which is where other tools look.
func (d *document) locks() []string {
	itself, named := d.path+".lock", d.named+".lock"
	if itself == named { // which would be waited for forever
		return []string{itself}
	}
	return []string{itself, named}
}

// lock makes the files of these names, which are sorted, so that two who want the same do not wait for each other. release
// removes them again.
func lock(ctx context.Context, names []string) (release func() error, err error) {
	var held []string
	release = func() error {
		var errs []error
		for _, name := range held {
			if err := os.Remove(name); err != nil {
				errs = append(errs, fmt.Errorf("write a kubeconfig: remove the lock %s: %w", printable(name), withoutPath(err)))
			}
		}
		return errors.Join(errs...)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockWait, errWaited)
	defer cancel()
	for _, name := range names {
		if err := lockOne(ctx, name); err != nil {
			return nil, errors.Join(err, release())
		}
		held = append(held, name)
	}
	return release, nil
}

var errWaited = errors.New("waited long enough")

// lockOne makes one file that must not exist.
func lockOne(ctx context.Context, name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write a kubeconfig: make its folder %s: %w", printable(filepath.Dir(name)), withoutPath(err))
	}
	for {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("write a kubeconfig: make the lock %s: %w", printable(name), withoutPath(err))
		}
		retry := time.NewTimer(lockRetry)
		select {
		case <-retry.C:
			continue
		case <-ctx.Done():
			retry.Stop()
		}
		if context.Cause(ctx) == errWaited {
			return &LockedError{Lock: name}
		}
		return &LockedError{Lock: name, Err: ctx.Err()}
	}
}
