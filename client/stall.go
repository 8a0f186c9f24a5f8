package client

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

const (
	// maxHeaderWait bounds how long a server may take to begin an answer, once it has the request. An API server may hold a
	// request back for up to a minute, its own bound for requests, while it is short of capacity or its cache catches up; the
	// rest is for the way.
	maxHeaderWait = 75 * time.Second
	// defaultStall is the default of Config.StallTimeout.
	defaultStall = 30 * time.Second
	// stallBytes is what must arrive while a caller waits for as long as Config.StallTimeout.
	stallBytes = 1 << 10
)

// StallError says that a server accepted a request and then made no progress with its answer; see Config.StallTimeout. The
// request may have taken effect.
type StallError struct {
	// Begun says that the answer had begun: its headers were there, and the rest of it stalled.
	Begun bool
	// Waited is how long the caller waited for more.
	Waited time.Duration
	// Received is how many bytes of the body came in that time.
	Received int
}

// Error implements error.
func (e *StallError) Error() string {
	if !e.Begun {
		return fmt.Sprintf("server stalled: no answer within %v", e.Waited)
	}
	return fmt.Sprintf("server stalled: %d B of its answer came in %v", e.Received, e.Waited)
}

// Timeout returns true. By it errors.NetworkOf tells that it is a timeout of the network.
func (e *StallError) Timeout() bool { return true }

// progress is the body of an answer whose server must make progress while somebody waits for it. The time that its reader
// takes for itself does not count. Where the server stalls, the context of the request ends, and with it the read that waits.
//
// One goroutine reads at a time; Close may be called beside it.
type progress struct {
	body   io.ReadCloser
	cancel context.CancelFunc // of the request
	limit  time.Duration      // 0 = no bound
	idle   bool               // the server need send nothing: a watch that has begun

	cancelFirst bool // before the body is closed; see Close

	timer   *time.Timer   // runs while a read waits; made by the first
	waited  time.Duration // in reads, since stallBytes were reached
	got     int           // in that time
	stalled atomic.Bool
}

// Read implements io.Reader.
func (p *progress) Read(b []byte) (int, error) {
	if p.limit == 0 || p.idle {
		return p.body.Read(b)
	}
	start := time.Now()
	if p.timer == nil {
		p.timer = time.AfterFunc(p.limit, p.stall)
	} else {
		p.timer.Reset(p.limit - p.waited)
	}
	n, err := p.body.Read(b)
	p.timer.Stop()
	p.waited += time.Since(start)
	p.got += n
	if err != nil && err != io.EOF && p.stalled.Load() {
		return n, &StallError{Begun: true, Waited: p.limit, Received: p.got}
	}
	if p.got >= stallBytes {
		p.got, p.waited = 0, 0
	}
	p.waited = min(p.waited, p.limit)
	return n, err
}

func (p *progress) stall() {
	p.stalled.Store(true)
	p.cancel()
}

// Close closes the body, and ends what the request holds.
func (p *progress) Close() error {
	// Where net/http decompresses, its Close would wait for a Read that waits for the first bytes. With HTTP/1, Close of
	// Go 1.27 leaves the connection open for a while, to read what is left. With HTTP/2, Close comes first, so that the
	// stream is counted out when it returns.
	if p.cancelFirst {
		p.cancel()
	}
	err := p.body.Close()
	p.cancel()
	return err
}
