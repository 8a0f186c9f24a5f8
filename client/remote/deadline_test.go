package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/internal/memnet"
)

// Close returned nil although bytes that Write had taken were never sent.
func TestCloseSaysThatBytesWereNotSent(t *testing.T) {
	for _, tc := range []struct {
		name   string
		size   int                  // of what is written
		serves func(net.Conn)       // the server, which reads nothing by itself
		before func(c net.Conn)     // Close
		want   func(err error) bool // nil is success
		took   time.Duration
	}{
		{"a server that reads nothing", 400 << 10, func(net.Conn) { time.Sleep(time.Hour) }, nil, isTimeout, 5 * time.Second},
		{"a server that reads late", 400 << 10, func(c net.Conn) {
			time.Sleep(4 * time.Second)
			_, _ = io.CopyN(io.Discard, c, 400<<10)
			_, _ = io.WriteString(c, closing)
		}, nil, nil, 4 * time.Second},
		{"a server that has read all and stays", 1000, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, nil, nil, 5 * time.Second},
		{"the write deadline has passed", 400 << 10, func(net.Conn) { time.Sleep(time.Hour) }, func(c net.Conn) {
			_ = c.SetWriteDeadline(time.Now())
		}, isTimeout, 0},
		{"the server ends in good order", 400 << 10, func(c net.Conn) { _, _ = io.WriteString(c, closing) }, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1))
		}, func(err error) bool { return errors.Is(err, syscall.EPIPE) && errors.As(err, new(*net.OpError)) }, 0},
		{"the server says an error", 400 << 10, func(c net.Conn) {
			_, _ = io.WriteString(c, frame(2, "\x01refused")+closing)
			time.Sleep(time.Second)
		}, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1))
		}, func(err error) bool {
			return errors.As(err, new(*remote.PortError)) && errors.As(err, new(*client.OpError))
		}, 0},
		{"the connection breaks while Close waits", 400 << 10, func(c net.Conn) {
			time.Sleep(time.Second)
			c.(interface{ Reset(afterWritten bool) }).Reset(false)
		}, nil, func(err error) bool { return errors.As(err, new(*client.OpError)) }, time.Second},
		{"the server ends, and everything was sent", 1000, func(c net.Conn) { _, _ = io.WriteString(c, closing) }, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1))
		}, nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newPortRig(t, echo, clienttest.Options{})
				r.Intercept(frames(t, func(c net.Conn) {
					_, _ = io.WriteString(c, opening)
					time.Sleep(time.Millisecond)
					tc.serves(c)
				}))
				c, err := dial(t.Context(), r.pods, web, 80)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Write(make([]byte, tc.size)); err != nil {
					t.Fatal(err)
				}
				if tc.before != nil {
					tc.before(c)
				}
				start := time.Now()
				err = c.Close()
				if tc.want == nil && err != nil || tc.want != nil && !tc.want(err) || time.Since(start).Truncate(time.Second) != tc.took {
					t.Errorf("Close: %v, after %v", err, time.Since(start))
				}
			})
		})
	}
}

// A client has sent all, and the pod takes it slowly. Forward cut it off 10 s after the client's end.
func TestForwardToASlowPodOfAClientThatSendsNoMore(t *testing.T) {
	for name, tc := range map[string]struct {
		size    int
		every   time.Duration // the pod reads 64 KiB
		arrives bool
	}{"it reads on": {700 << 10, 2 * time.Second, true}, "it does not": {400 << 10, time.Hour, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newPortRig(t, echo, clienttest.Options{})
				got := 0
				r.Intercept(frames(t, func(c net.Conn) {
					_, _ = io.WriteString(c, opening)
					for got < tc.size {
						time.Sleep(tc.every)
						n, err := io.ReadFull(c, make([]byte, min(64<<10, tc.size-got)))
						if got += n; err != nil {
							return
						}
					}
					_, _ = io.WriteString(c, frame(2, "\x00thanks")+closing)
				}))
				f := forward(t, remote.ToPod(r.pods, web, "80"), remote.ForwardOptions{})
				c := f.dial(t)
				if _, err := c.Write(make([]byte, tc.size)); err != nil {
					t.Fatal(err)
				}
				_ = c.CloseWrite()
				start := time.Now()
				answer, err := io.ReadAll(c)
				if tc.arrives && (err != nil || string(answer) != "thanks") {
					t.Errorf("after %v the pod has %d bytes, and the client has %q, %v", time.Since(start), got, answer, err)
				}
				if !tc.arrives && time.Since(start) > 11*time.Second {
					t.Errorf("the end took %v", time.Since(start))
				}
				synctest.Wait()
				time.Sleep(time.Minute)
				if errs := f.end(t); (len(errs) == 0) != tc.arrives {
					t.Errorf("the errors are %v", errs)
				} else if !tc.arrives {
					wantText(t, errs[0], "the pod reads none of the client's data")
				}
				time.Sleep(time.Hour)
			})
		})
	}
}

// The pod answers at once, and the client reads slowly: that is not the silence of the pod.
func TestForwardToAClientThatSendsNoMoreAndReadsSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 2 << 20
		r := newPortRig(t, func(c *memnet.Conn) {
			_, _ = io.Copy(io.Discard, io.LimitReader(c, 5))
			_, _ = c.Write(make([]byte, size))
		}, clienttest.Options{})
		f := forward(t, remote.ToPod(r.pods, web, "80"), remote.ForwardOptions{})
		c := f.dial(t)
		_, _ = io.WriteString(c, "hello")
		_ = c.CloseWrite()
		got, part := 0, make([]byte, 256<<10)
		for {
			time.Sleep(time.Minute)
			n, err := io.ReadFull(c, part)
			if got += n; err != nil {
				break
			}
		}
		if got != size {
			t.Errorf("the client has %d bytes of %d", got, size)
		}
		if errs := f.end(t); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

// A pod goes while its log is open. The caller was slow for longer than the log may go on then, which cut the log at once.
func TestTailOfAPodThatGoesWhileTheLoopIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, clienttest.Options{})
		n.create("a", "app")
		n.start("a", "app")
		log := n.logs.Of(key("a"), "app")
		const before, after = 10, 12
		for i := range before {
			log.Add(entry(float64(i), fmt.Sprint(i)))
		}
		go func() {
			time.Sleep(time.Minute)
			if err := n.pods.Delete(t.Context(), key("a"), client.DeleteOptions{}); err != nil {
				t.Error(err)
			}
			time.Sleep(30 * time.Minute)
			for i := range after { // its last words take two minutes
				log.Add(entry(float64(before+i), fmt.Sprint(before+i)))
				time.Sleep(10 * time.Second)
			}
			log.End()
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		o := remote.WithBuffer(tailed, 1)
		var got []string
		for l, err := range remote.Tail(ctx, n.pods, o) {
			if err != nil {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				continue
			}
			if got = append(got, l.Text); len(got) == 1 {
				time.Sleep(31 * time.Minute)
			}
		}
		if len(got) != before+after {
			t.Errorf("got %d lines of %d: %q", len(got), before+after, got)
		}
	})
}
