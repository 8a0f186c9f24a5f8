package memnet

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// Conn is one end of an in-memory connection. Its methods may be called by several goroutines at once.
type Conn struct {
	in, out       *stream // in carries what the peer writes, and out what it reads
	local, remote net.Addr
}

// pipe returns the two ends of a new connection.
func pipe(a, b net.Addr) (*Conn, *Conn) {
	ab, ba := newStream(), newStream()
	return &Conn{in: ba, out: ab, local: a, remote: b}, &Conn{in: ab, out: ba, local: b, remote: a}
}

// Read implements net.Conn. It returns io.EOF once the peer has closed and everything that it wrote was read,
// syscall.ECONNRESET after either end's Reset or Break, net.ErrClosed after Close and os.ErrDeadlineExceeded after the
// deadline.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.wrap("read", err)
}

// Write implements net.Conn. It returns when everything is in the buffer. Otherwise it returns the number of bytes that
// are in the buffer, and an error: syscall.EPIPE when the peer no longer reads or after CloseWrite, syscall.ECONNRESET
// after either end's Reset or Break, net.ErrClosed after Close, os.ErrDeadlineExceeded after the deadline.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return n, c.wrap("write", err)
}

// Close closes both directions. The peer can still read what was written before.
func (c *Conn) Close() error {
	err := c.in.closeReader() // first, so that a waiting Read does not see the peer react to the end of out
	c.out.closeWriter(net.ErrClosed)
	return c.wrap("close", err)
}

// CloseWrite ends the direction to the peer, which reads io.EOF after the bytes that were written before. The other
// direction stays open.
func (c *Conn) CloseWrite() error {
	c.out.closeWriter(syscall.EPIPE)
	return nil
}

// Reset aborts the connection: the bytes in the buffers are lost, and reads and writes of both ends fail with
// syscall.ECONNRESET. This happens when a host dies or a proxy gives up.
func (c *Conn) Reset() {
	c.in.reset()
	c.out.reset()
}

// Break aborts the connection as Reset does, but the peer first reads the bytes that this end has written, as over TCP
// when a reset comes a moment later. The bytes that the peer has written are lost.
func (c *Conn) Break() {
	c.out.breakWriter()
	c.in.reset()
}

// LocalAddr returns this end's address.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the peer's address.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both deadlines. The zero time means no deadline.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline sets the time after which reads fail, including a read that is waiting now. The zero time means no
// deadline.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.wrap("set", c.in.setReadDeadline(t))
}

// SetWriteDeadline sets the time after which writes fail, including a write that is waiting now. The zero time means
// no deadline.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.wrap("set", c.out.setWriteDeadline(t))
}

// wrap returns err as net's own connections do.
func (c *Conn) wrap(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if errors.As(err, new(syscall.Errno)) {
		err = os.NewSyscallError(op, err)
	}
	return &net.OpError{Op: op, Net: network, Source: c.local, Addr: c.remote, Err: err}
}
