package remote_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/remote"
)

// The text of an error overtakes data, and the reader takes more time than the server may be silent: all of it arrives.
func TestASlowReaderAfterTheErrorOfAPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const messages, size = 20, 65000
		r := newPortRig(t, echo, clienttest.Options{})
		r.Intercept(frames(t, func(c net.Conn) {
			_, _ = io.WriteString(c, opening+frame(2, "\x01it broke"))
			for range messages {
				_, _ = io.WriteString(c, "\x82\x7e"+string([]byte{(size + 1) >> 8, (size + 1) & 0xff})+"\x00")
				_, _ = c.Write(make([]byte, size))
			}
			_, _ = io.Copy(io.Discard, c)
		}))
		c := r.dial(t)
		got, part := 0, make([]byte, 64<<10)
		var err error
		for err == nil {
			time.Sleep(12 * time.Second)
			var n int
			n, err = c.Read(part)
			got += n
		}
		if port := (*remote.PortError)(nil); !errors.As(err, &port) || got != messages*size {
			t.Errorf("Read: %v, after %d bytes of %d", err, got, messages*size)
		}
	})
}
