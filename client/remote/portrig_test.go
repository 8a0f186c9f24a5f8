package remote_test

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/internal/memnet"
)

// portRig is a server on whose pods something listens, which does what serve says with each connection.
type portRig struct {
	*rig
	listener *memnet.Listener
	serving  sync.WaitGroup
}

func newPortRig(t testing.TB, serve func(c *memnet.Conn), o clienttest.Options) *portRig {
	t.Helper()
	p := &portRig{listener: memnet.Listen()}
	t.Cleanup(func() { p.serving.Wait() }) // after the server has ended
	p.rig = newRig(t, &containers.Server{Dial: func(ctx context.Context, _ meta.Key, _ int) (net.Conn, error) {
		return p.listener.DialContext(ctx, "tcp", p.listener.Addr().String())
	}}, o)
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			c, err := p.listener.Accept()
			if err != nil {
				return
			}
			p.serving.Go(func() {
				defer c.Close()
				serve(c.(*memnet.Conn))
			})
		}
	})
	t.Cleanup(func() {
		_ = p.listener.Close()
		accepting.Wait()
	})
	return p
}

// dial connects to port 80 of the pod web, and closes the connection at the end of the test.
func (p *portRig) dial(t testing.TB) net.Conn {
	t.Helper()
	c, err := dial(t.Context(), p.pods, web, 80)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func echo(c *memnet.Conn) { _, _ = io.Copy(c, c) }

// frames answers a handshake for a port, and lets send write whatever bytes follow.
func frames(t testing.TB, send func(c net.Conn)) func(*http.Request) http.HandlerFunc {
	return answers(t, "v4.channel.k8s.io", "", send)
}

// answers answers a handshake with a protocol and further headers, and lets send write whatever bytes follow.
func answers(t testing.TB, protocol, headers string, send func(c net.Conn)) func(*http.Request) http.HandlerFunc {
	return func(*http.Request) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			key := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) // RFC 6455, section 1.3
			c, buffer, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = buffer.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" + headers +
				"Sec-WebSocket-Protocol: " + protocol + "\r\nSec-WebSocket-Accept: " + base64.StdEncoding.EncodeToString(key[:]) + "\r\n\r\n")
			_ = buffer.Flush()
			send(c)
		}
	}
}

// frame is one unfragmented frame of a server, of at most 125 bytes. 2 is a binary message, and 1 a text.
func frame(opcode byte, payload string) string {
	return string([]byte{0x80 | opcode, byte(len(payload))}) + payload
}

// opening is how a server begins with port 80, and closing how it ends in good order.
var (
	opening = frame(2, "\x00\x50\x00") + frame(2, "\x01\x50\x00")
	closing = frame(8, "\x03\xe8")
)

// dial connects to a port of a pod.
func dial[T meta.Object](ctx context.Context, pods client.Resource[T], key meta.Key, port int) (net.Conn, error) {
	return remote.ToPod(pods, key, strconv.Itoa(port)).Dial(ctx)
}
