package pipeline

import "io"

// ahead reads on its own goroutine, which the first read starts and stop ends. One read is under way at a time. The
// zero ahead is ready for use, and belongs to one goroutine.
type ahead struct {
	asks chan ask
	done chan struct{} // receives once for each ask, and is closed when the goroutine ends
	n    int           // the result of the read; the goroutine owns it until done receives
	err  error
}

type ask struct {
	r io.Reader
	p []byte
}

// read reads from r into p. It waits with wait. An error of wait means that the result is no longer wanted. The read
// may then still be under way, so call stop before p is used again.
func (a *ahead) read(r io.Reader, p []byte, wait func(<-chan struct{}) error) (int, error) {
	if a.asks == nil {
		a.asks, a.done = make(chan ask, 1), make(chan struct{}, 1)
		go func() {
			defer close(a.done)
			for q := range a.asks {
				a.n, a.err = q.r.Read(q.p)
				a.done <- struct{}{}
			}
		}()
	}
	a.asks <- ask{r, p}
	if err := wait(a.done); err != nil {
		return 0, err
	}
	return a.n, a.err
}

// stop ends the goroutine and waits for it, also for a read that is under way.
func (a *ahead) stop() {
	if a.asks == nil {
		return
	}
	close(a.asks)
	for range a.done { // until it is closed
	}
	a.asks = nil
}
