package wsmux

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// stuck is a connection whose other side takes nothing and sends nothing.
type stuck struct{ closed chan struct{} }

func (s stuck) Read([]byte) (int, error)  { <-s.closed; return 0, io.EOF }
func (s stuck) Write([]byte) (int, error) { <-s.closed; return 0, io.ErrClosedPipe }
func (s stuck) Close() error              { close(s.closed); return nil }

func TestDeadlines(t *testing.T) {
	for name, use := range map[string]func(*handshake) error{
		"Read":  func(h *handshake) error { _, err := h.Read(make([]byte, 1)); return err },
		"Write": func(h *handshake) error { _, err := h.Write(make([]byte, 1)); return err },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &handshake{stream: stuck{make(chan struct{})}}
				start := time.Now()
				if err := h.SetDeadline(start.Add(time.Minute)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				if err := use(h); err == nil || time.Since(start) != time.Minute {
					t.Errorf("it returned %v after %v", err, time.Since(start))
				}
			})
		})
	}
}
