package build

import (
	"context"
	"fmt"
	"time"
)

// lock takes the lock of a directory, and waits while another process has it. The operating system releases it when
// this process ends, however it ends, so no process waits for one that was killed.
func (b *builder) lock(ctx context.Context, path string) (release func(), err error) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for waits := false; ; waits = true {
		f, err := tryLock(path)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if f != nil {
			return func() { _ = f.Close() }, nil // this releases the lock, and nothing was written
		}
		if !waits {
			b.report("another process builds for %s; waiting for it", b.minor)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another process that builds in %s: %w", path, context.Cause(ctx))
		}
	}
}

// report writes a line of progress.
func (b *builder) report(format string, args ...any) {
	if b.progress != nil {
		_, _ = fmt.Fprintf(b.progress, "servers of Kubernetes: "+format+"\n", args...) // an error does not matter
	}
}
