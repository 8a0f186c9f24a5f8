package remote

import (
	"testing"
	"testing/synctest"
	"time"
)

// When the first line of all is handed on. Lines are written at seconds after noon, and arrive ten seconds after the beginning.
func TestWhenALineIsDue(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(second int) queued { return queued{when: noon.Add(time.Duration(second) * time.Second)} }
	const window = 3 * time.Second
	for _, tc := range []struct {
		name   string
		others func(m *merger) // what they do before
		full   bool            // the line's queue
		want   time.Duration   // that it waits
	}{
		{"no other log", func(*merger) {}, false, 0},
		{"a log that is not open", func(m *merger) { m.add() }, false, 0},
		{"a silent log", func(m *merger) { m.setLive(m.add(), true) }, false, window},
		{"a log with a later line", func(m *merger) {
			q := m.add()
			m.setLive(q, true)
			_ = m.push(t.Context(), q, at(30))
		}, false, 0},
		{"a log that had a later line", func(m *merger) {
			q := m.add()
			m.setLive(q, true)
			_ = m.push(t.Context(), q, at(20))
			m.next(time.Now())
		}, false, 0},
		{"a log that had a line of the same time", func(m *merger) {
			q := m.add()
			m.setLive(q, true)
			_ = m.push(t.Context(), q, at(10))
			m.next(time.Now())
		}, false, 0},
		{"a log that had an earlier line", func(m *merger) {
			q := m.add()
			m.setLive(q, true)
			_ = m.push(t.Context(), q, at(1))
			m.next(time.Now())
		}, false, window},
		{"a full queue beside a log that has been silent for long", func(m *merger) { m.setLive(m.add(), true) }, true, 0},
		{"a full queue beside a log that has just become silent", func(m *merger) {
			m.setLive(m.add(), true)
			time.Sleep(9 * time.Second)
			m.setLive(m.add(), true)
		}, true, 2 * time.Second},
		{"a full queue beside a log that becomes silent now", func(m *merger) {
			time.Sleep(10 * time.Second)
			m.setLive(m.add(), true)
		}, true, window},
		{"a full queue beside a log that opens while the line waits", func(m *merger) {
			go func() {
				time.Sleep(12 * time.Second)
				m.setLive(m.add(), true)
			}()
			time.Sleep(10 * time.Second)
			m.setLive(m.add(), true)
		}, true, window},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMerger(window, lineCost)
				start := time.Now()
				tc.others(m)
				time.Sleep(10*time.Second - time.Since(start))
				q := m.add()
				m.setLive(q, true)
				if err := m.push(t.Context(), q, at(10)); err != nil {
					t.Fatal(err)
				}
				pushed := make(chan error, 1)
				if tc.full {
					go func() { pushed <- m.push(t.Context(), q, at(11)) }()
					synctest.Wait()
				}
				waited := time.Now()
				for {
					it, ok, wait := m.next(time.Now())
					if ok && it.when.Equal(at(10).when) {
						break
					}
					if !ok && wait <= 0 {
						t.Fatal("the line is never due")
					}
					time.Sleep(wait)
				}
				if got := time.Since(waited); got != tc.want {
					t.Errorf("the line has waited for %v, want %v", got, tc.want)
				}
				if tc.full {
					if err := <-pushed; err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}
