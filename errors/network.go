package errors

import (
	"context"
	stderrors "errors"
	"io"
	"net"
	"runtime"
	"strings"
	"syscall"
)

// Network is how a request failed without an answer.
type Network string

const (
	// NetworkFine is the zero value. The network is not known to have failed: there is no error, the server answered,
	// or the error has another cause.
	NetworkFine Network = ""
	// NetworkLookup: the server's name could not be resolved.
	NetworkLookup Network = "lookup"
	// NetworkRefused: nothing listens at the server's address.
	NetworkRefused Network = "refused"
	// NetworkUnreachable: the connection could not be made for another reason, such as no route, no free port or no
	// file descriptor.
	NetworkUnreachable Network = "unreachable"
	// NetworkReset: the connection, or the HTTP/2 stream, was reset.
	NetworkReset Network = "reset"
	// NetworkClosed: the connection ended during the request, or while it was being made: EOF, GOAWAY, a closed
	// connection.
	NetworkClosed Network = "closed"
	// NetworkTimeout: a time limit of the network or of the HTTP client passed.
	NetworkTimeout Network = "timeout"
	// NetworkContext: the caller's context was cancelled or reached its deadline.
	NetworkContext Network = "context"
)

// NetworkOf returns how the network failed in err. It looks through every wrapping and joining; for joined errors it
// returns the first failure found. For an answer of the server it returns NetworkFine, whatever its text says.
func NetworkOf(err error) Network {
	switch e := err.(type) {
	case nil, *StatusError, Reason:
		return NetworkFine
	case *net.DNSError:
		return NetworkLookup
	case *net.OpError:
		n := NetworkOf(e.Err)
		if n == NetworkFine && isDial(e) {
			return NetworkUnreachable
		}
		return n
	case syscall.Errno:
		return networkOfErrno(e)
	}
	switch err {
	case context.Canceled, context.DeadlineExceeded:
		return NetworkContext
	case io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed:
		return NetworkClosed
	}
	if children := unwrap(err); len(children) > 0 {
		for _, child := range children {
			if n := NetworkOf(child); n != NetworkFine {
				return n
			}
		}
		return NetworkFine
	}
	if stderrors.Is(err, context.Canceled) { // package net has its own type for it
		return NetworkContext
	}
	if t, ok := err.(interface{ Timeout() bool }); ok && t.Timeout() {
		return NetworkTimeout
	}
	return networkOfText(err.Error())
}

// isDial reports whether the failed operation was part of making a connection, directly or through a proxy.
func isDial(e *net.OpError) bool {
	return e.Op == "dial" || e.Op == "proxyconnect" || e.Op == "socks connect"
}

func networkOfErrno(e syscall.Errno) Network {
	const windowsReset, windowsTimeout, windowsRefused = 10054, 10060, 10061
	if runtime.GOOS == "windows" {
		switch e {
		case windowsReset:
			return NetworkReset
		case windowsTimeout:
			return NetworkTimeout
		case windowsRefused:
			return NetworkRefused
		}
	}
	switch e {
	case syscall.ECONNREFUSED:
		return NetworkRefused
	case syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE:
		return NetworkReset
	case syscall.ETIMEDOUT:
		return NetworkTimeout
	}
	return NetworkFine
}

// networkOfText recognizes the errors of net/http and its HTTP/2 whose types are not exported.
func networkOfText(text string) Network {
	for _, known := range []struct {
		part string
		is   Network
	}{
		{"net/http: request canceled", NetworkContext},
		{"connection reset by peer", NetworkReset},
		{"stream error: stream ID ", NetworkReset},
		{"http2: server sent GOAWAY", NetworkClosed},
		{"http2: client conn is closed", NetworkClosed},
		{"http2: client conn not usable", NetworkClosed},
		{"http2: client conn could not be established", NetworkClosed},
		{"http2: client connection lost", NetworkClosed},
		{"http2: client connection force closed", NetworkClosed},
		{"http: can't write HTTP request on broken connection", NetworkClosed},
		{"http: server closed idle connection", NetworkClosed},
		{"use of closed network connection", NetworkClosed},
	} {
		if strings.Contains(text, known.part) {
			return known.is
		}
	}
	return NetworkFine
}
