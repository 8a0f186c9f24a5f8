package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
	"time"

	internalconn "github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/wsmux"
)

// The protocols. v5 can signal the end of the input; v4 and v5 report the end of a command as a Status; v1 has neither.
const (
	v5 = "v5.channel.k8s.io"
	v4 = "v4.channel.k8s.io"
	v1 = "channel.k8s.io"
)

// The channels.
const (
	stdinChannel  = 0
	stdoutChannel = 1
	stderrChannel = 2
	errorChannel  = 3
	resizeChannel = 4
	closeChannel  = 255 // the data is the number of the closed channel
)

const (
	// outputBuffer is how many bytes of each output are buffered for a slow Write.
	outputBuffer = 1 << 20
	// minInput is the initial read size for Stdin, in bytes. After a full read the size is wsmux.MaxData.
	minInput = 1 << 10
	// linger bounds the server's silence between the status of the command's end and the end of its outputs. The status
	// may arrive before the last output.
	linger = 10 * time.Second
	// inputGrace bounds the wait for the server after the end of the input, if the protocol cannot signal that end.
	inputGrace = 10 * time.Second
)

// session is a command that has started.
type session struct {
	c    *Cmd
	conn *wsmux.Conn
	over chan struct{} // closed when the connection has ended

	outputs [2]*wsmux.Spool // of stdoutChannel and stderrChannel; nil drops the output
	closed  [2]bool         // the server has closed the output
	ending  ending
	// cut says that wanted output may be missing. It is not set if the server falls silent, or closes the connection
	// without a close message, between two messages: some servers always do so.
	cut bool

	mu      sync.Mutex // guards the fields below
	failed  error      // the first reason why this end ended the connection
	reading bool       // a Read of Stdin is running, which may block for ever
	ended   bool       // the status has come
}

func newSession(c *Cmd, conn *wsmux.Conn) *session {
	s := &session{c: c, conn: conn, over: make(chan struct{})}
	for i, w := range []io.Writer{c.Stdout, c.Stderr} {
		if w != nil && w != io.Discard {
			s.outputs[i] = wsmux.NewSpool(cmp.Or(c.buffer, outputBuffer))
		}
	}
	return s
}

// run carries the streams until the command has ended, and returns its error.
func (s *session) run(ctx context.Context) error {
	unwatch := context.AfterFunc(ctx, func() { s.fail(internalconn.ContextError(ctx)) })
	to := [2]io.Writer{s.c.Stdout, s.c.Stderr}
	if same(to[0], to[1]) {
		mu := new(sync.Mutex)
		to = [2]io.Writer{&locked{mu, to[0]}, &locked{mu, to[1]}}
	}
	var writers sync.WaitGroup
	for i, name := range []string{"Stdout", "Stderr"} {
		out := s.outputs[i]
		if out == nil {
			continue
		}
		writers.Go(func() {
			if err := out.Drain(to[i]); err != nil {
				s.fail(fmt.Errorf("write to %s: %w", name, err))
			}
			if p := s.c.written[i]; p != nil {
				_ = p.Close()
			}
		})
	}
	var senders sync.WaitGroup
	input := make(chan struct{}) // closed when Stdin is no longer sent
	if s.c.Stdin == nil {
		close(input)
	} else {
		go func() {
			defer close(input)
			s.input()
		}()
	}
	if s.c.Sizes != nil {
		senders.Go(s.sizes)
	}
	err := s.read()
	close(s.over)
	for _, out := range s.outputs {
		if out != nil {
			out.End()
		}
	}
	written := make(chan struct{})
	go func() {
		writers.Wait()
		close(written)
	}()
	select {
	case <-written:
	case <-ctx.Done(): // a Write may block for ever
		s.fail(internalconn.ContextError(ctx)) // the unwritten output is lost; the AfterFunc may not have run yet
	}
	unwatch()
	s.conn.Finish()
	senders.Wait()
	s.mu.Lock()
	failed, reading := s.failed, s.reading
	s.mu.Unlock()
	if !reading {
		<-input
	}
	if failed != nil {
		return failed
	}
	return s.ending.result(s.conn.Protocol(), err, s.cut)
}

// same reports whether two Writers are the same comparable value.
func same(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

// fail ends the session. The first error counts.
func (s *session) fail(err error) {
	s.mu.Lock()
	s.failed = cmp.Or(s.failed, err)
	s.mu.Unlock()
	s.conn.Abort(err)
	for _, out := range s.outputs {
		if out != nil {
			out.Drop() // read may be waiting for room
		}
	}
}

var errLingered = fmt.Errorf("the server has sent nothing for %v", linger)

// read reads messages until the connection ends. It returns nil after a clean end, or once the status and the ends of
// all outputs have arrived.
func (s *session) read() error {
	for !s.complete() {
		channel, data, err := s.conn.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			s.cut = (s.outputs[0] != nil || s.outputs[1] != nil) && (s.conn.Unfinished() || err != errLingered && err != io.ErrUnexpectedEOF)
			return err
		}
		broken, err := s.take(channel, data)
		if broken != nil {
			s.fail(broken)
			return broken
		}
		if err != nil {
			s.cut = s.taken(channel)
			return err
		}
	}
	return nil
}

// complete reports whether the status has arrived and the server has closed the requested outputs.
func (s *session) complete() bool {
	return s.ending.said && s.closed[0] && (s.closed[1] || s.c.TTY)
}

// taken reports whether a channel is an output that the caller wants.
func (s *session) taken(channel byte) bool {
	return (channel == stdoutChannel || channel == stderrChannel) && s.outputs[channel-stdoutChannel] != nil
}

// take handles a message. broken says how the message violates the protocol; err is the error of the connection.
func (s *session) take(channel byte, data io.Reader) (broken, err error) {
	switch channel {
	case stdoutChannel, stderrChannel:
		if s.closed[channel-stdoutChannel] {
			return fmt.Errorf("the server sent data on channel %d after it closed it", channel), nil
		}
		if s.taken(channel) {
			return nil, s.outputs[channel-stdoutChannel].Fill(data)
		}
		_, err = io.Copy(io.Discard, data)
		return nil, err
	case errorChannel:
		text, err := io.ReadAll(io.LimitReader(data, maxEnding+1))
		if err != nil || len(text) == 0 { // an empty message only shows that the server is there
			return nil, err
		}
		if broken := s.ending.add(s.c, s.conn.Protocol(), text); broken != nil {
			return broken, nil
		}
		if s.ending.said {
			s.mu.Lock()
			s.ended = true
			s.conn.LimitSilence(linger, errLingered)
			s.mu.Unlock()
		}
		return nil, nil
	case closeChannel:
		return s.close(data)
	}
	return fmt.Errorf("the server sent data on channel %d, which servers must not use", channel), nil
}

// close records which channel the server has closed.
func (s *session) close(data io.Reader) (broken, err error) {
	which, err := io.ReadAll(io.LimitReader(data, 2))
	switch {
	case err != nil:
		return nil, err
	case len(which) != 1:
		return errors.New("the server closed a channel without naming it"), nil
	case which[0] == stdoutChannel || which[0] == stderrChannel:
		s.closed[which[0]-stdoutChannel] = true
	}
	return nil, nil
}

// input sends Stdin. If a Send fails, read returns the reason.
func (s *session) input() {
	part := make([]byte, minInput)
	for s.reads(true) {
		n, err := s.c.Stdin.Read(part)
		s.reads(false)
		if n > 0 && s.conn.Send(stdinChannel, part[:n]) != nil {
			return
		}
		if n == len(part) && n < wsmux.MaxData {
			part = make([]byte, wsmux.MaxData)
		}
		switch {
		case err == io.EOF:
			s.endInput()
			return
		case err != nil:
			select {
			case <-s.over: // Wait has closed the pipe
			default:
				s.fail(fmt.Errorf("read Stdin: %w", err))
			}
			return
		}
	}
}

// reads records whether Stdin is being read, and reports whether the session continues.
func (s *session) reads(now bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = false
	select {
	case <-s.over:
		return false
	default:
		s.reading = now
		return true
	}
}

// endInput tells the server that the input has ended. If the protocol cannot, it limits the wait for the server.
func (s *session) endInput() {
	if s.conn.Protocol() == v5 {
		_ = s.conn.Send(closeChannel, []byte{stdinChannel})
		return
	}
	if s.c.TTY { // a terminal's input has no end
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.conn.LimitWait(inputGrace, fmt.Errorf("the server speaks %s, %w", s.conn.Protocol(), errInput))
	}
}

// errInput says that the protocol cannot signal the end of the input.
var errInput = errors.New("which cannot signal the end of Stdin, and the command still runs; Kubernetes 1.30 and later can")

// sizes sends the sizes of the window.
func (s *session) sizes() {
	for {
		select {
		case <-s.over:
			return
		case size, ok := <-s.c.Sizes:
			if !ok {
				return
			}
			data, _ := json.Marshal(size) // cannot fail: two numbers
			if s.conn.Send(resizeChannel, data) != nil {
				return
			}
		}
	}
}
