package network

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/internal/memnet"
)

// A frozen connection ends its reads by a deadline when it is closed. Where net/http took its own deadline away just then,
// as it does before it waits for the next request, that one was gone too, and the read waited for ever, and Run with it.
func TestAFrozenConnectionThatIsClosedStaysClosed(t *testing.T) {
	for name, forget := range map[string]func(net.Conn) error{
		"SetReadDeadline": func(c net.Conn) error { return c.SetReadDeadline(time.Time{}) },
		"SetDeadline":     func(c net.Conn) error { return c.SetDeadline(time.Time{}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := NewDoor(memnet.Listen(), 1)
				if _, err := d.Dial(t.Context(), "tcp", d.Listener.Addr().String()); err != nil {
					t.Fatal(err)
				}
				raw, err := d.Listener.Accept()
				if err != nil {
					t.Fatal(err)
				}
				c := d.enter(raw)
				c.Freeze()
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				if err := forget(c); !errors.Is(err, net.ErrClosed) {
					t.Errorf("the deadline of a closed connection was changed: %v", err)
				}
				if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
					t.Errorf("read: %v", err)
				}
				d.Release()
			})
		})
	}
}
