package wsmux_test

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/internal/wsmux"
)

// taker takes one Write for each value of turns.
type taker struct {
	turns chan bool
	bytes.Buffer
	largest int
	err     error
}

func (w *taker) Write(p []byte) (int, error) {
	<-w.turns
	w.largest = max(w.largest, len(p))
	if w.err != nil {
		return 0, w.err
	}
	return w.Buffer.Write(p)
}

func TestASpoolIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 100
		s := wsmux.NewSpool(limit)
		w := &taker{turns: make(chan bool)}
		drained := make(chan error, 1)
		go func() { drained <- s.Drain(w) }()
		added := 0
		go func() {
			for range 1000 {
				s.Add([]byte("0123456789"))
				added += 10
			}
			s.End()
		}()
		synctest.Wait()
		if added > 2*limit {
			t.Errorf("%d bytes are held", added)
		}
		close(w.turns)
		if err := <-drained; err != nil || w.Len() != 10_000 || w.largest > limit || !bytes.Equal(w.Bytes(), bytes.Repeat([]byte("0123456789"), 1000)) {
			t.Errorf("Drain: %v; %d bytes, up to %d at once", err, w.Len(), w.largest)
		}
	})
}

func TestADroppedSpoolBlocksNoWriter(t *testing.T) {
	for name, fails := range map[string]bool{"dropped": false, "the Writer fails": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := wsmux.NewSpool(10)
				w := &taker{turns: make(chan bool)}
				if fails {
					w.err = errors.New("full")
				}
				drained := make(chan error, 1)
				go func() { drained <- s.Drain(w) }()
				added := make(chan bool)
				go func() {
					s.Add(make([]byte, 100)) // more than there is room for
					close(added)
				}()
				synctest.Wait()
				if !fails {
					s.Drop()
				}
				close(w.turns)
				<-added
				if err := <-drained; !errors.Is(err, w.err) {
					t.Errorf("Drain: %v", err)
				}
				if !fails && w.Len() != 10 { // the Write that was under way
					t.Errorf("%d bytes were written", w.Len())
				}
			})
		})
	}
}
