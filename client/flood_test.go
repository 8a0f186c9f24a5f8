package client_test

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/memnet"
)

// The types of HTTP/2 frames (RFC 9113, section 6).
const (
	dataFrame         = 0
	headersFrame      = 1
	resetFrame        = 3
	settingsFrame     = 4
	pingFrame         = 6
	goAwayFrame       = 7
	windowUpdateFrame = 8
	continuationFrame = 9
)

// frame returns an HTTP/2 frame (RFC 9113, section 4.1).
func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))[1:]
	return append(binary.BigEndian.AppendUint32(append(head, kind, flags), stream), payload...)
}

// acceptHTTP2 accepts a connection and reads from it up to the first request, which has the stream 1.
func acceptHTTP2(l net.Listener, pair tls.Certificate) (net.Conn, error) {
	conn, err := l.Accept()
	if err != nil {
		return nil, err
	}
	secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}})
	if err := awaitRequest(secure); err != nil {
		_ = secure.Close()
		return nil, err
	}
	return secure, nil
}

func awaitRequest(conn net.Conn) error {
	const preface = 24
	if _, err := conn.Write(frame(settingsFrame, 0, 0, nil)); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, make([]byte, preface)); err != nil {
		return err
	}
	for head := make([]byte, 9); head[3] != headersFrame; {
		if _, err := io.ReadFull(conn, head); err != nil {
			return err
		}
		length := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, conn, length); err != nil {
			return err
		}
	}
	return nil
}

// guarantee S17: a server that floods its client with frames gets neither its memory nor its time.
func TestAFloodOfFramesIsSurvived(t *testing.T) {
	const endHeaders = 4
	status200 := []byte{0x88} // :status: 200 (RFC 7541, appendix A)
	for _, test := range []struct {
		name         string
		first, flood []byte
	}{
		{"pings", nil, frame(pingFrame, 0, 0, make([]byte, 8))},
		{"settings", nil, frame(settingsFrame, 0, 0, []byte{0, 4, 0, 1, 0, 0})},
		{"resets of other streams", nil, frame(resetFrame, 0, 3, make([]byte, 4))},
		{"window updates", nil, frame(windowUpdateFrame, 0, 0, []byte{0, 0, 0, 1})},
		{"headers without an end", frame(headersFrame, 0, 1, status200), frame(continuationFrame, 0, 1, bytes.Repeat([]byte{0x90}, 1000))},
		{"data without bytes", frame(headersFrame, endHeaders, 1, status200), frame(dataFrame, 0, 1, nil)},
		{"padding without data", frame(headersFrame, endHeaders, 1, status200), frame(dataFrame, 8, 1, append([]byte{255}, make([]byte, 255)...))},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := memnet.Listen()
				pair := must[tls.Certificate](t)(tls.X509KeyPair(newAuthority(t).issue(t, "flood")))
				done := make(chan struct{})
				go func() {
					defer close(done)
					conn, err := acceptHTTP2(l, pair)
					if err != nil {
						t.Error(err)
						return
					}
					defer func() { _ = conn.Close() }()
					go func() { _, _ = io.Copy(io.Discard, conn) }()
					const each = 200
					flood := bytes.Repeat(test.flood, each)
					for _, err = conn.Write(test.first); err == nil; _, err = conn.Write(flood) {
						time.Sleep(time.Second)
					}
				}()
				cfg := client.Config{
					Server: "https://" + l.Addr().String(), Dial: l.DialContext, Proxy: noProxy, TLS: client.TLS{Insecure: true},
					Retry: client.Retry{Attempts: 1},
				}
				c := dial(t, cfg)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := time.Now()
				_, err := client.For(c, slims).Get(t.Context(), web)
				is[*client.OpError](t, err)
				if took := time.Since(start); took > 80*time.Second {
					t.Errorf("it took %v to give up, with the error %v", took, err)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
					t.Errorf("the heap has grown by %d bytes", grown)
				}
				_ = l.Close()
				c.Close()
				<-done
			})
		})
	}
}
