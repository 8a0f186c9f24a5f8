package wsmux_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/internal/wsmux"
)

// canned is a server that sends what it has, and keeps what it gets.
type canned struct {
	*bytes.Reader
	answer http.Header // of the handshake, beside what each answer has
	closed bool
	mu     sync.Mutex // guards got
	got    []byte
}

func (c *canned) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, p...)
	return len(p), nil
}

func (c *canned) Close() error {
	c.closed = true
	return nil
}

// open returns a client's side of a connection to the server.
func (c *canned) open(t *testing.T) *wsmux.Conn {
	t.Helper()
	conn, err := c.try(t, protocol)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func (c *canned) try(t *testing.T, protocols ...string) (*wsmux.Conn, error) {
	return wsmux.Open(t.Context(), func(_ context.Context, h http.Header) (io.ReadWriteCloser, http.Header, error) {
		sum := sha1.Sum([]byte(h.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) // RFC 6455, section 4.2.2
		answer := http.Header{
			"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Protocol": {protocol},
			"Sec-Websocket-Accept": {base64.StdEncoding.EncodeToString(sum[:])},
		}
		maps.Copy(answer, c.answer)
		return c, answer, nil
	}, protocols...)
}

// RFC 6455, section 4.1: the client fails the connection if the server answers with what was not offered.
func TestAnAnswerThatWasNotOfferedIsRefused(t *testing.T) {
	const extensions, protocols = "Sec-Websocket-Extensions", "Sec-Websocket-Protocol"
	for _, tc := range []struct {
		name   string
		answer http.Header
		want   string
	}{
		{"nothing more", nil, ""},
		{"no extension", http.Header{extensions: {""}}, ""},
		{"the second protocol", http.Header{protocols: {"second"}}, ""},
		{"compression", http.Header{extensions: {"permessage-deflate; server_no_context_takeover; client_no_context_takeover"}}, "was not offered"},
		{"an extension that nobody knows", http.Header{extensions: {"x-mine"}}, `"x-mine", which was not offered`},
		{"an extension in another header", http.Header{extensions: {"", "x-mine"}}, `"x-mine", which was not offered`},
		{"an extension that is a list", http.Header{extensions: {", ,"}}, "was not offered"},
		{"no protocol", http.Header{protocols: nil}, "speaks none of the protocols"},
		{"an empty protocol", http.Header{protocols: {""}}, "speaks none of the protocols"},
		{"another protocol", http.Header{protocols: {"base64.channel.k8s.io"}}, `has chosen the protocol "base64.channel.k8s.io", and was offered`},
		{"a protocol in capitals", http.Header{protocols: {"Second"}}, "has chosen the protocol"},
		{"two protocols", http.Header{protocols: {protocol + ", second"}}, "has chosen the protocol"},
		{"a protocol twice", http.Header{protocols: {protocol, protocol}}, "has chosen the protocol"},
		{"a header in small letters", http.Header{"sec-websocket-extensions": {"x-mine"}}, "was not offered"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &canned{Reader: bytes.NewReader(nil), answer: tc.answer}
			conn, err := server.try(t, protocol, "second")
			if conn != nil {
				conn.Finish()
			}
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) || !server.closed {
				t.Errorf("Open: %v, want %q; the connection is closed: %v", err, tc.want, server.closed)
			}
		})
	}
}

// checkFrames fails the test unless the client has sent whole frames that are masked, and no control frame of more than 125 bytes.
func checkFrames(t *testing.T, frames []byte) {
	t.Helper()
	for len(frames) > 0 {
		if len(frames) < 6 {
			t.Fatalf("half a frame: %x", frames)
		}
		size, head := int(frames[1]&0x7f), 2
		switch {
		case frames[1]&0x80 == 0:
			t.Fatalf("a frame is not masked: %x", frames)
		case frames[0]&0x08 != 0 && size > 125:
			t.Fatalf("a control frame of %d bytes", size)
		case size == 126:
			size, head = int(frames[2])<<8|int(frames[3]), 4
		case size == 127:
			t.Fatal("a frame of more than 64 KiB")
		}
		if head += 4 + size; head > len(frames) {
			t.Fatalf("half a frame: %x", frames)
		}
		frames = frames[head:]
	}
}

// guarantee S14
func TestFramesAreMasked(t *testing.T) {
	server := &canned{Reader: bytes.NewReader([]byte{0x89, 2, 'h', 'i'})} // a ping
	conn := server.open(t)
	for _, size := range []int{0, 1, 124, 125, 126, 200, wsmux.MaxData, 3*wsmux.MaxData + 1} {
		if err := conn.Send(1, make([]byte, size)); err != nil {
			t.Error(err)
		}
	}
	_, _, _ = conn.Next()
	conn.Finish()
	checkFrames(t, server.got)
	if len(server.got) < 4*wsmux.MaxData {
		t.Errorf("the server got %d bytes", len(server.got))
	}
}

// FuzzFrames sends any bytes in the place of frames. guarantee S14, behaviour 168
func FuzzFrames(f *testing.F) {
	for _, s := range []string{
		"", "\x82\x02\x01x", "\x02\x02\x01x\x80\x01y", "\x81\x01x", "\x82\x00", "\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x82\x7e\x00\x05\x01abcd",
		"\x89\x00\x82\x01\x01", "\x8a\x00", "\x88\x02\x03\xe8", "\x88\x01\x00", "\x89\x7e\x00\x7e", "\xf2\x01\x01", "\x80\x01x", "\x82\x81abcde", "\x09\x00",
		"\x82\x00\x82\x01\x01",
		"\x82\x01\x03\x02\x01\x02\x89\x01p\x00\x02ab\x80\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, frames []byte) {
		server := &canned{Reader: bytes.NewReader(frames)}
		conn := server.open(t)
		size := 0
		for {
			_, data, err := conn.Next()
			if err != nil {
				break
			}
			part, err := io.ReadAll(data)
			if size += 1 + len(part); err != nil {
				break
			}
		}
		if size > len(frames) {
			t.Errorf("%d bytes came of %d", size, len(frames))
		}
		if _, _, err := conn.Next(); err == nil {
			t.Error("the connection goes on after its end")
		}
		conn.Finish()
		checkFrames(t, server.got)
	})
}
