package wsmux_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/internal/wsmux"
)

// canned is a server that sends what it has, and keeps what it gets.
type canned struct {
	*bytes.Reader
	mu  sync.Mutex // guards got
	got []byte
}

func (c *canned) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, p...)
	return len(p), nil
}

func (c *canned) Close() error { return nil }

// open returns a client's side of a connection to the server.
func (c *canned) open(t *testing.T) *wsmux.Conn {
	t.Helper()
	conn, err := wsmux.Open(t.Context(), func(_ context.Context, h http.Header) (io.ReadWriteCloser, http.Header, error) {
		sum := sha1.Sum([]byte(h.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) // RFC 6455, section 4.2.2
		return c, http.Header{
			"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Protocol": {protocol},
			"Sec-Websocket-Accept": {base64.StdEncoding.EncodeToString(sum[:])},
		}, nil
	}, protocol)
	if err != nil {
		t.Fatal(err)
	}
	return conn
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
