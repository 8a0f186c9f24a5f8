package conn

import (
	"context"
	"io"
	"sync/atomic"
	"time"
)

// MaxHeaderWait bounds how long a server may take to begin an answer, once it has the request. An API server may hold
// a request back for up to a minute, its own bound for requests, while it is short of capacity or its cache catches
// up; the rest is for the network.
const MaxHeaderWait = 75 * time.Second

// stallBytes is how many bytes must arrive, at the least, while Reads wait for a total of Progress.Limit.
const stallBytes = 1 << 10

// Progress is the body of an answer whose server must make progress while a Read waits. The time between two Reads
// does not count. If the server stalls, Progress cancels the request's context, which ends the waiting Read.
//
// Only one goroutine may read at a time; Close may be called concurrently.
type Progress struct {
	Body   io.ReadCloser
	Cancel context.CancelFunc // cancels the request
	Limit  time.Duration      // 0 = no bound
	Idle   bool               // the server may stay silent, as in a watch that has begun

	CancelFirst bool // Close calls Cancel before it closes the body
	// Stalled returns the error for an answer of which too few bytes arrived within Limit; received is their number.
	Stalled func(received int) error

	timer   *time.Timer   // runs while a Read waits; the first Read makes it
	waited  time.Duration // the time that reads have waited since the last stallBytes arrived
	got     int           // the bytes that have arrived in that time
	stalled atomic.Bool
}

// Read implements io.Reader.
func (p *Progress) Read(b []byte) (int, error) {
	if p.Limit == 0 || p.Idle {
		return p.Body.Read(b)
	}
	start := time.Now()
	if p.timer == nil {
		p.timer = time.AfterFunc(p.Limit, p.stall)
	} else {
		p.timer.Reset(p.Limit - p.waited)
	}
	n, err := p.Body.Read(b)
	p.timer.Stop()
	p.waited += time.Since(start)
	p.got += n
	if err != nil && err != io.EOF && p.stalled.Load() {
		return n, p.Stalled(p.got)
	}
	if p.got >= stallBytes {
		p.got, p.waited = 0, 0
	}
	p.waited = min(p.waited, p.Limit)
	return n, err
}

func (p *Progress) stall() {
	p.stalled.Store(true)
	p.Cancel()
}

// Close closes the body and cancels the request's context.
func (p *Progress) Close() error {
	// In two cases Cancel must come first. If net/http decompresses, its Close would wait for a Read that waits for
	// the first bytes. With HTTP/1, Close of Go 1.27 leaves the connection open for a while, to read what is left.
	// Otherwise, with HTTP/2, Cancel comes last, so that HTTP/2 no longer counts the stream when Close returns.
	if p.CancelFirst {
		p.Cancel()
	}
	err := p.Body.Close()
	p.Cancel()
	return err
}
