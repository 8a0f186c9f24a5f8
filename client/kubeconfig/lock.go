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

// lockedError says that a kubeconfig could not be written because its lock is held. The lock is a file that a writer
// creates, and removes afterwards.
type lockedError struct {
	lock string
	err  error // the error of the context, if that ended the wait; nil after 10 s
}

func (e *lockedError) Error() string {
	text := fmt.Sprintf("write a kubeconfig: the lock %s is held; if no program holds it any longer, remove it", printable(e.lock))
	if e.err != nil {
		text += ": " + e.err.Error()
	}
	return text
}

func (e *lockedError) Unwrap() error { return e.err }

const (
	lockWait  = 10 * time.Second      // the maximum wait for a lock
	lockRetry = 20 * time.Millisecond // the interval of attempts
)

// locks returns the names of the files that lock d: one for the file itself, and one for its given name if that is a
// link, because other tools lock the name of the link.
func (d *document) locks() []string {
	itself, named := d.path+".lock", d.named+".lock"
	if itself == named { // a second lock of the same name would never succeed
		return []string{itself}
	}
	return []string{itself, named}
}

// lock creates the files of these names. The names are sorted, so that two writers cannot deadlock. release removes the
// files.
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

// lockOne creates one file that must not exist.
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
			return &lockedError{lock: name}
		}
		return &lockedError{lock: name, err: ctx.Err()}
	}
}
