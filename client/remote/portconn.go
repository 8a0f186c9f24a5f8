package remote

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/shown"
	"github.com/bowline-go/bowline/internal/wsmux"
)

// The channels of a forwarded port. The server begins each with the port number, two bytes in little-endian order.
const (
	portDataChannel  = 0
	portErrorChannel = 1
)

const (
	// closeGrace bounds how long Close waits until the written bytes have been sent and the server has ended the
	// connection.
	closeGrace = 5 * time.Second
	// portLinger bounds the silence of a server that leaves the connection open after the text of an error.
	portLinger = 10 * time.Second
	// maxPortError bounds the text of an error, in bytes.
	maxPortError = 64 << 10
)

// addr is the address of a connection to a port of a pod. It implements net.Addr.
type addr struct {
	Pod  meta.Key
	Port int
}

func (addr) Network() string { return "portforward" }

func (a addr) String() string { return a.Pod.String() + ":" + strconv.Itoa(a.Port) }

// PortError is the error of a node that cannot continue a connection: for example, the port refuses connections, or the
// process in the pod has reset the connection.
type PortError struct {
	Port int
	// Message is the node's text, at most 64 KiB.
	Message string
}

// Error implements error.
func (e *PortError) Error() string { return fmt.Sprintf("port %d: %s", e.Port, shown.Text(e.Message)) }

// portConn is a connection to a port of a pod. One goroutine receives into the buffer in, and another sends from the
// buffer out. Both end with the connection, even if Close is never called.
type portConn struct {
	ws   *wsmux.Conn
	addr addr
	gvr  meta.GVR // of pods

	in, out *portBuffer

	closed    atomic.Bool
	sent      chan struct{} // closed when send has returned
	receiving sync.WaitGroup
}

func newPortConn(ws *wsmux.Conn, gvr meta.GVR, to addr) *portConn {
	c := &portConn{ws: ws, addr: to, gvr: gvr, in: newPortBuffer(), out: newPortBuffer(), sent: make(chan struct{})}
	go c.send()
	c.receiving.Go(c.receive)
	return c
}

// receive reads the connection until it ends.
func (c *portConn) receive() {
	said := portText{port: c.addr.Port}
	data := portPrefix{port: c.addr.Port}
	err := c.readAll(&data, &said)
	switch text := said.text; {
	case len(text) > 0: // the text is the cause, even if the connection broke too
		err = &PortError{Port: c.addr.Port, Message: string(text)}
	case err == nil && !data.whole():
		err = errors.New("the server ended the connection before it named the port")
	}
	refuse := err
	if err == nil {
		err, refuse = io.EOF, syscall.EPIPE
	}
	c.in.finish(refuse, err)
	c.out.kill(refuse)
	c.ws.Abort(refuse)
}

// readAll reads all messages. It returns nil after a clean end of the connection.
func (c *portConn) readAll(data *portPrefix, said *portText) error {
	for {
		channel, message, err := c.ws.Next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		switch channel {
		case portDataChannel:
			if err = data.read(message); err == nil {
				err = c.fill(message)
			}
		case portErrorChannel:
			err = said.read(message)
			if len(said.text) > 0 {
				c.ws.LimitSilence(portLinger, io.ErrUnexpectedEOF)
			}
		default:
			err = fmt.Errorf("the server sent data on channel %d, which servers must not use", channel)
		}
		if err != io.EOF { // io.EOF is the end of the message
			return err
		}
	}
}

// fill puts the data of a message into the buffer in. Its error is io.EOF at the end of the message.
func (c *portConn) fill(message io.Reader) error {
	for {
		room, err := c.in.room()
		if err != nil { // Close has been called, and waits until send has sent everything
			_, err = io.Copy(io.Discard, message)
			return cmp.Or(err, io.EOF)
		}
		n, err := message.Read(room)
		c.in.added(room, n)
		if err != nil {
			return err
		}
	}
}

// send sends the written bytes until the connection ends.
func (c *portConn) send() {
	defer close(c.sent)
	for {
		part, err := c.out.next()
		if err != nil {
			return
		}
		part = part[:min(len(part), wsmux.MaxData)]
		if err := c.ws.Send(portDataChannel, part); err != nil {
			c.ws.Abort(err) // receive reports the error
			return
		}
		c.out.taken(len(part))
	}
}

// Read implements net.Conn.
func (c *portConn) Read(p []byte) (int, error) {
	n, err := c.in.take(p)
	return n, c.fail("read", err)
}

// Write implements net.Conn. It returns when all of p is in the send buffer.
func (c *portConn) Write(p []byte) (int, error) {
	n, err := c.out.add(p)
	return n, c.fail("write", err)
}

// Close implements net.Conn. It fails if written bytes were not sent; see [Target.Dial].
func (c *portConn) Close() error { return c.close(closeGrace) }

// abort closes the connection and discards the bytes that have not been sent.
func (c *portConn) abort() { _ = c.close(0) }

func (c *portConn) close(grace time.Duration) error {
	if !c.closed.CompareAndSwap(false, true) {
		return c.fail("close", net.ErrClosed)
	}
	c.in.kill(net.ErrClosed)
	if c.out.late() {
		grace = 0 // the write deadline has passed, so do not wait
	}
	c.out.finish(net.ErrClosed, net.ErrClosed)
	timer := time.AfterFunc(grace, func() { c.ws.Abort(os.ErrDeadlineExceeded) })
	defer timer.Stop()
	<-c.sent
	// A message that the server sends after this end has closed the TCP connection would reset the connection, and
	// bytes on their way to the pod would be lost. So wait until the server closes it.
	c.ws.End(grace)
	c.receiving.Wait()
	c.ws.Finish()
	return c.fail("close", c.out.unused())
}

// LocalAddr returns the address of the pod, because this end has no port.
func (c *portConn) LocalAddr() net.Addr { return c.addr }

// RemoteAddr returns the pod and the port.
func (c *portConn) RemoteAddr() net.Addr { return c.addr }

// SetDeadline implements net.Conn.
func (c *portConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (c *portConn) SetReadDeadline(t time.Time) error {
	if c.closed.Load() {
		return c.fail("set", net.ErrClosed)
	}
	c.in.setTaking(t)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *portConn) SetWriteDeadline(t time.Time) error {
	if c.closed.Load() {
		return c.fail("set", net.ErrClosed)
	}
	c.out.setAdding(t)
	return nil
}

// fail wraps an error: a *net.OpError for the errors of this end, and a *client.OpError for those of the other end and
// the network.
func (c *portConn) fail(op string, err error) error {
	switch err {
	case nil, io.EOF:
		return err
	case net.ErrClosed, os.ErrDeadlineExceeded, syscall.EPIPE:
		return &net.OpError{Op: op, Net: c.addr.Network(), Addr: c.addr, Err: err}
	}
	return &client.OpError{Verb: "connect", Resource: c.gvr, Subresource: "portforward", Key: c.addr.Pod, Err: err}
}

// portPrefix reads the port number at the beginning of a channel.
type portPrefix struct {
	port int
	have []byte
}

func (p *portPrefix) whole() bool { return len(p.have) == 2 }

// read reads the rest of the port number, if it is not complete. Its error is io.EOF if the message ends before the
// number is complete.
func (p *portPrefix) read(message io.Reader) error {
	if p.whole() {
		return nil
	}
	part := make([]byte, 1)
	for !p.whole() {
		n, err := message.Read(part)
		if p.have = append(p.have, part[:n]...); err != nil && !p.whole() {
			return err // the rest may come in the next message
		}
	}
	if port := int(binary.LittleEndian.Uint16(p.have)); port != p.port {
		return fmt.Errorf("the server says that the connection is for port %d, want port %d", port, p.port)
	}
	return nil
}

// portText is the text on the error channel.
type portText struct {
	port   int
	prefix portPrefix
	text   []byte
}

// read reads a message to its end, and then returns io.EOF.
func (t *portText) read(message io.Reader) error {
	t.prefix.port = t.port
	if err := t.prefix.read(message); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(message, int64(maxPortError+1-len(t.text))))
	if err != nil {
		return err
	}
	if t.text = append(t.text, text...); len(t.text) > maxPortError {
		t.text = t.text[:maxPortError]
		return fmt.Errorf("the text of the error is longer than %d bytes", maxPortError)
	}
	return io.EOF
}

var _ net.Conn = (*portConn)(nil)
