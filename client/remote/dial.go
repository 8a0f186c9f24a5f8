package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	internalconn "github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/wsmux"
)

// Dial connects to a TCP port of a pod, where a process listens on the pod's loopback address or on all. pods is a handle on core
// v1 pods, of any T. ctx governs the dial only: its end does not affect the connection, as with a net.Dialer.
//
// Dial returns once the pod's node has accepted the request, which is before the node has connected to the port. So if the port
// refuses connections, the first Read or Write says so, with a [*PortError]. Read returns io.EOF once the pod's side has ended in
// good order. Every other error of the server and of the network is a *client.OpError; the errors of this end, such as
// os.ErrDeadlineExceeded and net.ErrClosed, come in a *net.OpError, as those of package net.
//
// A deadline that has passed does not break the connection: the call can be repeated once the deadline is moved. Write returns when
// the bytes have been taken to be sent, of which the connection holds up to 256 KiB, and as many that have arrived. Close waits up to
// 5 s until they have been sent and the server has ended the connection as well, unless the write deadline has passed. If some of
// the bytes that Write has taken were not sent, Close returns an error: os.ErrDeadlineExceeded if the 5 s or the write deadline were
// too short, or else the reason why the connection had ended. Bytes that were sent may still be lost on their way to the pod, as
// with TCP. After Close, the calls of the connection return net.ErrClosed, a second Close too.
//
// The protocol cannot close one direction alone, so the connection has no CloseWrite, and to close it ends both directions. The
// addresses of the connection are of type [Addr]. A node closes a connection that has carried nothing for four hours, if it is a
// kubelet with the default streamingConnectionIdleTimeout.
func Dial[T meta.Object](ctx context.Context, pods client.Resource[T], key meta.Key, port int) (net.Conn, error) {
	d := dialerOf(pods)
	if d.refuse == nil && (port < 1 || port > 65535) {
		d.refuse = fmt.Errorf("remote.Dial: port must be from 1 to 65535, got %d", port)
	}
	c, err := d.dial(ctx, Addr{key, port})
	if err != nil {
		return nil, err // and no portConn that is nil
	}
	return c, nil
}

// portDialer connects to ports of pods.
type portDialer struct {
	gvr     meta.GVR // of pods
	refuse  error    // why it cannot be used
	upgrade func(ctx context.Context, key meta.Key, subresource string, query, header map[string][]string) (
		conn io.ReadWriteCloser, answer map[string][]string, err error)
}

func dialerOf[T meta.Object](pods client.Resource[T]) portDialer {
	return portDialer{gvr: pods.GVR(), refuse: checkHandle(pods, "pods"), upgrade: handle.Of(pods).Upgrade}
}

func (d portDialer) dial(ctx context.Context, to Addr) (*portConn, error) {
	if d.refuse != nil {
		return nil, d.fail(to.Pod, usage(d.refuse))
	}
	// The request lives as long as the connection, and so must its context.
	dialing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	ws, err := wsmux.Open(dialing, func(ctx context.Context, header http.Header) (io.ReadWriteCloser, http.Header, error) {
		conn, answer, err := d.upgrade(ctx, to.Pod, "portforward", url.Values{"ports": {strconv.Itoa(to.Port)}}, header)
		if err != nil {
			return nil, nil, createPermission(err, "portforward")
		}
		return &portStream{conn, cancel}, answer, nil
	}, v4)
	if !stop() && err == nil {
		ws.Finish()
		err = internalconn.ContextError(ctx)
	} else if err != nil && ctx.Err() != nil {
		err = internalconn.ContextError(ctx)
	}
	if err != nil {
		cancel()
		return nil, d.fail(to.Pod, err)
	}
	return newPortConn(ws, d.gvr, to), nil
}

func (d portDialer) fail(key meta.Key, err error) error {
	if op := (*client.OpError)(nil); errors.As(err, &op) {
		return err
	}
	return &client.OpError{Verb: "connect", Resource: d.gvr, Subresource: "portforward", Key: key, Err: err}
}

// portStream is a connection whose Close ends a context.
type portStream struct {
	io.ReadWriteCloser
	cancel context.CancelFunc
}

func (c *portStream) Close() error {
	defer c.cancel()
	return c.ReadWriteCloser.Close()
}
