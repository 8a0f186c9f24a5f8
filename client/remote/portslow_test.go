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
	"github.com/bowline-go/bowline/internal/memnet"
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

// The client has sent all and is gone. The server dropped what a slow process had not taken after 10 s.
func TestAProcessThatReadsSlowlyGetsWhatAGoneClientHasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		got := make(chan int, 1)
		r := newPortRig(t, func(c *memnet.Conn) {
			n, part := 0, make([]byte, 64<<10)
			for {
				k, err := io.ReadFull(c, part)
				if n += k; err != nil {
					break
				}
				time.Sleep(time.Minute)
			}
			got <- n
		}, clienttest.Options{})
		c := r.dial(t)
		if _, err := c.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if n := <-got; n != size {
			t.Errorf("%d bytes of %d have arrived", n, size)
		}
	})
}
