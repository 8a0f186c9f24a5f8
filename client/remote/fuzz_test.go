package remote

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// FuzzChannels is a server that sends messages on any channels: of each, messages has the channel, the length and the data.
func FuzzChannels(f *testing.F) {
	const success = `{"status":"Success"}`
	for _, s := range []string{
		"", "\x01\x03out\x02\x03err\x03\x14" + success, "\x03\x14" + success + "\x01\x03out", "\x03\x00\x01\x01x", "\x03\x05{\"sta", "\xff\x01\x01\x03\x14" + success,
		"\x04\x01x", "\x00\x01x", "\x09\x01x", "\x03\x14" + success + "\x03\x14" + success, "\x01\x00",
	} {
		f.Add([]byte(s), true, true)
		f.Add([]byte(s), false, false)
	}
	f.Fuzz(func(t *testing.T, messages []byte, ends, terminal bool) {
		var frames, want []byte
		for rest := messages; len(rest) > 1; {
			n := min(int(rest[1]), 124, len(rest)-2)
			frames = append(append(frames, 0x82, byte(1+n), rest[0]), rest[2:2+n]...)
			if rest[0] == stdoutChannel {
				want = append(want, rest[2:2+n]...)
			}
			rest = rest[2+n:]
		}
		if ends {
			frames = append(frames, 0x88, 2, 0x03, 0xe8) // code 1000
		}
		c := &Cmd{what: "exec", argv: []string{"x"}, TTY: terminal, buffer: 64}
		c.open = func(_ context.Context, _ url.Values, h http.Header) (io.ReadWriteCloser, http.Header, error) {
			sum := sha1.Sum([]byte(h.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) // RFC 6455, section 4.2.2
			return &sends{bytes.NewReader(frames)}, http.Header{
				"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Protocol": {v5},
				"Sec-Websocket-Accept": {base64.StdEncoding.EncodeToString(sum[:])},
			}, nil
		}
		out, err := c.Output(t.Context())
		if !bytes.HasPrefix(want, out) {
			t.Errorf("the output is %q, want a start of %q", out, want)
		}
		if err == nil && !bytes.Contains(messages, []byte("Success")) {
			t.Errorf("%q is taken for success", messages)
		}
		if err == nil && !bytes.Equal(out, want) {
			t.Errorf("the output of a success is %q, want %q", out, want)
		}
	})
}

// sends is a server that sends what it has.
type sends struct{ *bytes.Reader }

func (sends) Write(p []byte) (int, error) { return len(p), nil }
func (sends) Close() error                { return nil }

// FuzzEnding gives the status of a command's end in two parts, as a server may send anything.
func FuzzEnding(f *testing.F) {
	for _, s := range []string{
		`{"status":"Success"}`, `{"status":"Failure","message":"m","reason":"InternalError","code":500}`, "", "null", "[]", "it broke", `{"status":`,
		`{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}`,
		`{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"0"}]}}`,
	} {
		f.Add([]byte(s), 5, true)
	}
	f.Fuzz(func(t *testing.T, text []byte, cut int, modern bool) {
		protocol := v1
		if modern {
			protocol = v5
		}
		c := &Cmd{what: "exec", key: meta.Key{Namespace: "n", Name: "p"}}
		cut = min(max(cut, 0), len(text))
		var e ending
		err := e.add(c, protocol, text[:cut])
		if err == nil && cut < len(text) {
			err = e.add(c, protocol, text[cut:])
		}
		if err != nil {
			return
		}
		whole, cutOff := e.result(protocol, nil, false), e.result(protocol, io.ErrUnexpectedEOF, false)
		if modern && !e.said && whole == nil || cutOff == nil && !e.said {
			t.Errorf("%q is taken for success", text)
		}
		if exit := (*ExitError)(nil); errors.As(whole, &exit) && exit.Code == 0 {
			t.Errorf("%q is an ExitError of 0", text)
		}
	})
}
