package wsmux

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Opener sends the request of a handshake with these headers. It returns the connection and the header of the 101
// response.
type Opener func(ctx context.Context, header http.Header) (io.ReadWriteCloser, http.Header, error)

// Open opens a WebSocket with one of the protocols, in order of preference. It returns an error of open unchanged.
func Open(ctx context.Context, open Opener, protocols ...string) (*Conn, error) {
	h := &handshake{ctx: ctx, open: open}
	d := websocket.Dialer{
		NetDialContext: func(context.Context, string, string) (net.Conn, error) { return h, nil },
		Subprotocols:   protocols,
		ReadBufferSize: readBuffer, WriteBufferSize: writeBuffer, WriteBufferPool: &writeBuffers,
	}
	ws, answer, err := d.DialContext(context.Background(), "ws://server/", nil) // h has ctx, and open knows the address
	if h.err != nil {
		return nil, h.err
	}
	if err != nil {
		return nil, fmt.Errorf("the server's handshake breaks the rules of WebSockets: %w", err)
	}
	if err := checkAnswer(answer.Header, protocols); err != nil {
		_ = ws.Close()
		return nil, err
	}
	return newConn(ws), nil
}

// checkAnswer returns an error unless the server has chosen one of the protocols and no extension, because the client
// offers none. Otherwise the client must fail the connection (RFC 6455, section 4.1). gorilla/websocket accepts any
// protocol and compression.
func checkAnswer(answer http.Header, protocols []string) error {
	for _, extension := range answer.Values("Sec-Websocket-Extensions") {
		if extension != "" {
			return fmt.Errorf("the server uses the WebSocket extension %.200q, which was not offered", extension)
		}
	}
	switch chosen := answer.Values("Sec-Websocket-Protocol"); {
	case len(chosen) == 0 || len(chosen) == 1 && chosen[0] == "":
		return fmt.Errorf("the server speaks none of the protocols %q", protocols)
	case len(chosen) > 1 || !slices.Contains(protocols, chosen[0]):
		return fmt.Errorf("the server has chosen the protocol %.200q, and was offered %q", strings.Join(chosen, ", "), protocols)
	}
	return nil
}

// handshake is the connection that gorilla/websocket dials. It parses the request that gorilla writes, and sends it by
// the Opener, that is, with the client's credentials, proxies and rules for redirects. Then it passes bytes to and
// from the upgraded connection.
type handshake struct {
	ctx     context.Context
	open    Opener
	request bytes.Buffer
	err     error // the error of open

	answer bytes.Reader
	stream io.ReadWriteCloser // the upgraded connection; nil until the server has answered

	reading, writing deadline
}

func (h *handshake) Write(p []byte) (int, error) {
	if h.stream != nil {
		defer h.writing.guard(h.stream)()
		return h.stream.Write(p)
	}
	h.request.Write(p)
	if !bytes.HasSuffix(h.request.Bytes(), []byte("\r\n\r\n")) {
		return len(p), nil
	}
	r, err := http.ReadRequest(bufio.NewReader(&h.request))
	if err != nil {
		return 0, err
	}
	stream, header, err := h.open(h.ctx, r.Header)
	if err != nil {
		h.err = err
		return 0, err
	}
	h.stream = stream
	var answer bytes.Buffer
	answer.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	if err := header.Write(&answer); err != nil {
		return 0, err
	}
	answer.WriteString("\r\n")
	h.answer.Reset(answer.Bytes())
	return len(p), nil
}

func (h *handshake) Read(p []byte) (int, error) {
	if h.answer.Len() > 0 {
		return h.answer.Read(p)
	}
	if h.stream == nil {
		return 0, errors.New("wsmux: read before the handshake")
	}
	defer h.reading.guard(h.stream)()
	return h.stream.Read(p)
}

func (h *handshake) Close() error {
	if h.stream == nil {
		return nil
	}
	return h.stream.Close()
}

func (h *handshake) LocalAddr() net.Addr  { return address{} }
func (h *handshake) RemoteAddr() net.Addr { return address{} }

// SetDeadline, SetReadDeadline and SetWriteDeadline bound later calls of Read and Write: at the deadline the
// connection is closed. An upgraded connection of net/http has no deadlines, and a WebSocket is useless after a missed
// deadline anyway.
func (h *handshake) SetDeadline(t time.Time) error {
	h.reading.set(t)
	h.writing.set(t)
	return nil
}

func (h *handshake) SetReadDeadline(t time.Time) error {
	h.reading.set(t)
	return nil
}

func (h *handshake) SetWriteDeadline(t time.Time) error {
	h.writing.set(t)
	return nil
}

// deadline is a time in Unix nanoseconds; 0 means that there is none.
type deadline struct{ at atomic.Int64 }

func (d *deadline) set(t time.Time) {
	if t.IsZero() {
		d.at.Store(0)
		return
	}
	d.at.Store(t.UnixNano())
}

// guard closes c at the deadline, unless the function that it returns has been called.
func (d *deadline) guard(c io.Closer) (done func()) {
	at := d.at.Load()
	if at == 0 {
		return func() {}
	}
	timer := time.AfterFunc(time.Until(time.Unix(0, at)), func() { _ = c.Close() })
	return func() { timer.Stop() }
}

type address struct{}

func (address) Network() string { return "websocket" }
func (address) String() string  { return "server" }

// Accept answers a client's handshake. It chooses the first of the client's protocols that is among protocols. If it
// returns an error, it has already sent the error response.
func Accept(w http.ResponseWriter, r *http.Request, protocols ...string) (*Conn, error) {
	u := websocket.Upgrader{
		ReadBufferSize: readBuffer, WriteBufferSize: writeBuffer, WriteBufferPool: &writeBuffers,
		CheckOrigin: func(*http.Request) bool { return true },
	}
	for _, offered := range websocket.Subprotocols(r) {
		for _, p := range protocols {
			if offered == p && u.Subprotocols == nil {
				u.Subprotocols = []string{p}
			}
		}
	}
	ws, err := u.Upgrade(w, r, nil)
	if err != nil {
		return nil, err
	}
	return newConn(ws), nil
}

// IsHandshake reports whether r asks for a WebSocket.
func IsHandshake(r *http.Request) bool { return websocket.IsWebSocketUpgrade(r) }
