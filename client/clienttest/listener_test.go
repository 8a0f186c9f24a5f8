package clienttest_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/memnet"
)

// exhausted is a listener that cannot accept.
type exhausted struct{ *memnet.Listener }

func (exhausted) Accept() (net.Conn, error) { return nil, syscall.EMFILE }

// A server whose listener failed left it open, and with it the address taken and whoever dialled it waiting.
func TestAListenerThatFailsIsClosed(t *testing.T) {
	l := exhausted{memnet.Listen()}
	if err := clienttest.New(clienttest.Options{Listener: l}).Run(t.Context()); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("Run returned %v, want the listener's error", err)
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener was left open: %v", err)
	}
}
