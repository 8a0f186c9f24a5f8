package remote_test

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/remote"
)

// Compression that the client has not offered makes a megabyte on the wire a gigabyte of output. RFC 6455, section 4.1.
func TestAnExtensionThatWasNotOffered(t *testing.T) {
	const compression = "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n"
	r := newRig(t, &containers.Server{}, clienttest.Options{})
	r.Intercept(answers(t, "v5.channel.k8s.io", compression, func(c net.Conn) {
		var small bytes.Buffer
		w, err := flate.NewWriter(&small, flate.BestCompression)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = w.Write(append([]byte{1}, make([]byte, 8<<20)...))
		_ = w.Flush()
		body := bytes.TrimSuffix(small.Bytes(), []byte{0, 0, 0xff, 0xff})
		_, _ = c.Write(append(binary.BigEndian.AppendUint16([]byte{0xc2, 126}, uint16(len(body))), body...))
		_, _ = io.Copy(io.Discard, c)
	}))
	var out bytes.Buffer
	c := remote.Command(r.pods, web, "x")
	c.Stdout = &out
	if err := c.Run(t.Context()); out.Len() > 0 {
		t.Errorf("Run: %v, after %d bytes of Stdout", err, out.Len())
	} else {
		wantText(t, err, "permessage-deflate", "was not offered")
	}
}

// The protocol decides how the end of an input and of a command are told.
func TestAProtocolThatWasNotOffered(t *testing.T) {
	r := newRig(t, &containers.Server{}, clienttest.Options{})
	for name, tc := range map[string]struct {
		protocol string
		start    func(ctx context.Context) error
	}{
		"exec":    {"base64.channel.k8s.io", remote.Command(r.pods, web, "x").Run},
		"attach":  {"v6.channel.k8s.io", remote.Attach(r.pods, web).Run},
		"forward": {"v5.channel.k8s.io", func(ctx context.Context) error { _, err := dial(ctx, r.pods, web, 80); return err }},
	} {
		r.Intercept(answers(t, tc.protocol, "", func(c net.Conn) { _, _ = io.WriteString(c, opening+frame(2, "\x03"+`{"status":"Success"}`)+closing) }))
		t.Run(name, func(t *testing.T) {
			wantText(t, tc.start(t.Context()), `has chosen the protocol "`+tc.protocol+`", and was offered`)
		})
	}
}
