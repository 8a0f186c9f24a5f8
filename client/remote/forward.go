package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/retry"
)

// ForwardOptions are the options of [Forward]. The zero value is ready to use.
type ForwardOptions struct {
	// MaxConnections bounds the connections at one time; 0 means 4096. Further clients wait to be accepted.
	MaxConnections int
	// OnError is called with every error that does not end Forward:
	//
	//   - an error of the dial or of a connection to a pod, see [Target.Dial];
	//   - a temporary error of the listener, such as too many open files.
	//
	// A client that resets its connection is not an error. Several goroutines may call OnError at once, and each
	// connection waits for its call to return. If OnError is nil, Forward logs the errors: the first at once, and
	// repeated ones at growing intervals of up to a quarter of an hour. To discard the errors, set a function that does
	// nothing.
	OnError func(error)
	// Logger receives errors if OnError is nil. If it is the zero Logger, which logr.Discard() returns too, Forward
	// uses the logger of its context (logr.NewContext), or else slog.Default().
	Logger logr.Logger
}

const (
	defaultConnections = 4096
	// halfClosed bounds the silence of the other end after one end has stopped sending. A pod that takes bytes is not
	// silent.
	halfClosed = 10 * time.Second
	// maxAcceptPause is the longest pause after a temporary error of Accept.
	maxAcceptPause = time.Second
)

// Forward accepts connections from a local listener and connects each to the target. It closes the listener, so each
// Forward needs its own listener; a Target may serve several. Forward returns nil once ctx has ended, or else the
// listener's error. When it returns, it has closed all connections and ended its goroutines.
//
// The caller chooses the address; the listener knows the port:
//
//	listener, err := net.Listen("tcp", "127.0.0.1:0") // "[::1]:0" for IPv6; ":0" lets other hosts in
//	...
//	fmt.Println("forwarding from", listener.Addr())
//	err = remote.Forward(ctx, listener, remote.ToPod(pods, key, "8080"), remote.ForwardOptions{})
//
// A failed connection affects no other one. If the dial or the pod's side fails, Forward resets the local connection,
// if it is a TCP connection, so that the client does not mistake the failure for the end of the data. If the pod's side
// ends cleanly, Forward writes the rest of its data and then closes the local connection cleanly.
//
// The protocol cannot tell a pod that the client has stopped sending. Forward cannot tell a client that closes one
// direction from a client that closes both. In either case the connection continues until the pod has ended it or has
// been silent for 10 s. A silent pod neither sends data nor takes the client's data. Time in which the client does not
// read the pod's data does not count. If the silent pod has not taken all of the client's data, Forward resets the
// local connection. If the pod ends the connection first, a client that continues to send has 10 s to read the rest.
func Forward(ctx context.Context, l net.Listener, to *Target, o ForwardOptions) error {
	defer l.Close() //nolint:errcheck // it may be closed already
	if o.MaxConnections < 0 {
		return usage(fmt.Errorf("remote.ForwardOptions: MaxConnections must be 0 or more, got %d", o.MaxConnections))
	}
	if err := to.usable(); err != nil {
		return err
	}
	o.MaxConnections = cmp.Or(o.MaxConnections, defaultConnections)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &forwarding{to: to, o: o, log: report.New(o.Logger)}
	f.log.Start(ctx)
	defer f.log.Stop()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var all sync.WaitGroup
	err := f.accept(ctx, l, &all)
	if ctx.Err() != nil {
		err = nil
	}
	cancel()
	all.Wait()
	return err
}

var errUntaken = fmt.Errorf("the pod reads none of the client's data and has sent nothing for %v", halfClosed)

// forwarding is the state of a running Forward.
type forwarding struct {
	to  *Target
	o   ForwardOptions
	log *report.Log
}

// The keys of the log topics.
const (
	aboutAccept     = "accept"
	aboutDial       = "dial"
	aboutConnection = "connection"
)

// failed reports an error that Forward does not return.
func (f *forwarding) failed(topic, fails, works string, err error) {
	if f.o.OnError != nil {
		f.o.OnError(err)
		return
	}
	name := "forward to " + f.to.name + ": "
	t := report.Topic{Key: topic, Fails: name + fails}
	if works != "" {
		t.Works = name + works
	}
	f.log.Failed(t, err, nil)
}

// accept accepts connections until the listener fails or ctx ends.
func (f *forwarding) accept(ctx context.Context, l net.Listener, all *sync.WaitGroup) error {
	slots := make(chan struct{}, f.o.MaxConnections)
	pause := time.Duration(0)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		local, err := l.Accept()
		if err == nil {
			if pause > 0 {
				pause = 0
				f.log.Works(aboutAccept)
			}
			all.Go(func() {
				defer func() { <-slots }()
				f.serve(ctx, local)
			})
			continue
		}
		<-slots
		if temporary := (interface{ Temporary() bool })(nil); ctx.Err() != nil || !errors.As(err, &temporary) || !temporary.Temporary() {
			return err
		}
		f.failed(aboutAccept, "accept fails", "accept works again", err)
		pause = min(max(5*time.Millisecond, 2*pause), maxAcceptPause)
		_ = retry.Sleep(ctx, pause)
	}
}

// serve forwards one connection.
func (f *forwarding) serve(ctx context.Context, local net.Conn) {
	pod, err := f.to.dial(ctx)
	if err != nil {
		reset(local)
		if ctx.Err() == nil {
			f.failed(aboutDial, "dial fails", "dial works again", err)
		}
		return
	}
	f.log.Works(aboutDial)
	aborted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(aborted)
		reset(local)
		pod.abort()
	})
	p := &pair{local: local, pod: pod}
	up := make(chan struct{})
	go func() {
		defer close(up)
		p.up()
	}()
	err = p.down()
	gone := p.gone.Load()
	if err == os.ErrDeadlineExceeded {
		if err = nil; !gone && pod.out.drain(math.MaxInt) > 0 {
			err = pod.fail("write", errUntaken)
		}
	}
	switch {
	case err == nil || gone:
		p.pod.out.finish(net.ErrClosed, net.ErrClosed) // up may be waiting for room
		_ = local.Close()
	case err == io.EOF:
		err = nil
		if half, ok := local.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			// The client may not have read everything. Closing while it sends would reset the connection, and the
			// client would lose the rest.
			_ = local.SetReadDeadline(time.Now().Add(halfClosed))
			<-up
		}
		_ = local.Close()
	default:
		reset(local)
		pod.abort()
	}
	<-up
	_ = pod.Close()
	switch {
	case !stop():
		<-aborted
	case err != nil && !gone:
		f.failed(aboutConnection, "a connection breaks", "", err)
	}
}

// pair is a connection that is being forwarded.
type pair struct {
	local net.Conn
	pod   *portConn
	half  atomic.Bool // the client has stopped sending
	gone  atomic.Bool // the client has reset the connection
}

// up copies the client's data to the pod. It returns once the client has stopped sending, or its connection is closed.
func (p *pair) up() {
	for {
		room, err := p.pod.out.room()
		if err != nil { // the pod's side has ended, and down reports how
			_, _ = io.Copy(io.Discard, p.local)
			return
		}
		n, err := p.local.Read(room)
		p.pod.out.added(room, n)
		switch {
		case err == nil:
		case err == io.EOF:
			p.half.Store(true)
			for held := math.MaxInt; held > 0; {
				held = p.pod.out.drain(held)
				p.pod.in.setTaking(time.Now().Add(halfClosed))
			}
			return
		default:
			p.gone.Store(true)
			p.pod.in.setTaking(time.Now())
			return
		}
	}
}

// down copies the pod's data to the client. It returns io.EOF after a clean end, nil if the client no longer reads, and
// os.ErrDeadlineExceeded if the client has reset its connection, or has stopped sending and the pod is silent.
func (p *pair) down() error {
	for {
		part, err := p.pod.in.next()
		switch {
		case err == os.ErrDeadlineExceeded:
			return err // the deadline is set once the client has stopped sending or has reset its connection
		case err != nil:
			return p.pod.fail("read", err)
		}
		n, err := p.local.Write(part)
		p.pod.in.taken(n)
		if err != nil {
			return nil
		}
		if p.half.Load() {
			p.pod.in.setTaking(time.Now().Add(halfClosed))
		}
	}
}

// reset closes a connection. It resets a TCP connection, so that the other end sees a failure.
func reset(c net.Conn) {
	if tcp, ok := c.(interface{ SetLinger(sec int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
