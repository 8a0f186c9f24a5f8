package remote_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
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

// A client has sent all and is gone before the node has connected to the port. The server then gave up connecting.
func TestAPortThatIsReachedAfterTheClientIsGoneGetsWhatItHasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		inside, pod := net.Pipe()
		r := newRig(t, &containers.Server{Dial: func(ctx context.Context, _ meta.Key, port int) (net.Conn, error) {
			if port == 80 {
				time.Sleep(time.Second)
				return inside, ctx.Err()
			}
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		}}, clienttest.Options{})
		c, err := dial(t.Context(), r.pods, web, 80)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if got, err := io.ReadAll(pod); string(got) != "hello" || err != nil {
			t.Errorf("%q has arrived, %v", got, err)
		}

		// For a client that has sent nothing, nobody goes on connecting.
		c, err = dial(t.Context(), r.pods, web, 81)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		<-ended
	})
}
