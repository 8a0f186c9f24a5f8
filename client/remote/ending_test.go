package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/internal/wsmux"
)

const (
	succeeded = `{"status": "Success"}`
	failed    = `{"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [{"reason": "ExitCode", "message": "7"}]}}`
)

// pausing takes a while for each Write.
type pausing struct {
	bytes.Buffer
	pause time.Duration
}

func (p *pausing) Write(b []byte) (int, error) {
	time.Sleep(p.pause)
	return p.Buffer.Write(b)
}

// The status overtakes output, and Stdout or Stderr takes more time than the server may take: all of it arrives.
func TestASlowOutputAfterTheStatus(t *testing.T) {
	const before, after = 1 << 20, 2 << 20
	for _, tc := range []struct {
		name, protocol string
		channel        byte
		status         string
		stays          bool // the server does not end the connection
		sameWriter     bool
	}{
		{"Stdout", "v5.channel.k8s.io", 1, succeeded, false, false},
		{"Stderr", "v5.channel.k8s.io", 2, succeeded, false, false},
		{"v4", "v4.channel.k8s.io", 1, succeeded, false, false},
		{"an exit code", "v5.channel.k8s.io", 1, failed, false, false},
		{"one Writer for both", "v5.channel.k8s.io", 1, succeeded, false, true},
		{"a server that stays", "v5.channel.k8s.io", 1, succeeded, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &containers.Server{}, clienttest.Options{})
				over := make(chan struct{})
				r.speaks(t, tc.protocol, func(c *wsmux.Conn) {
					_ = c.Send(tc.channel, make([]byte, before))
					_ = c.Send(3, []byte(tc.status))
					_ = c.Send(tc.channel, make([]byte, after))
					if tc.stays {
						<-over
					}
				})
				w := &pausing{pause: 12 * time.Second}
				c := remote.Command(r.pods, web, "x")
				if c.Stdout = w; tc.channel == 2 {
					c.Stdout, c.Stderr = nil, w
				}
				if tc.sameWriter {
					c.Stderr = w
				}
				err := c.Run(t.Context())
				if exit := (*remote.ExitError)(nil); errors.As(err, &exit) != (tc.status == failed) || (err == nil) == (tc.status == failed) {
					t.Errorf("Run: %v", err)
				}
				if w.Len() != before+after {
					t.Errorf("%d bytes of %d", w.Len(), before+after)
				}
				close(over)
			})
		})
	}
}

// frames of a server, whose message announces more than comes.
const (
	begun   = "\x82\x7e\x10\x00\x01abc" // 4096 bytes
	partial = "\x02\x04\x01abc"         // the first frame of a message
	reset   = "reset"                   // no frame
)

// Output is missing for certain if the connection ends within a message: that is not success.
func TestOutputThatIsCutOffAfterTheStatus(t *testing.T) {
	for _, tc := range []struct {
		name, status, sent string
		stays, drops       bool
		want               string // empty for success
		took               time.Duration
	}{
		{"a cut within a frame", succeeded, begun, false, false, "the command has succeeded, but its output may be cut off: unexpected EOF", 0},
		{"a cut between frames", succeeded, partial, false, false, "its output may be cut off", 0},
		{"a cut before the channel", succeeded, begun[:4], false, false, "its output may be cut off", 0},
		{"silence within a frame", succeeded, begun, true, false, "its output may be cut off: the server has sent nothing for 10s", 10 * time.Second},
		{"silence between frames", succeeded, partial, true, false, "its output may be cut off: the server has sent nothing for 10s", 10 * time.Second},
		{"silence between messages", succeeded, frame(2, "\x01abc"), true, false, "", 10 * time.Second},
		{"a cut between messages", succeeded, frame(2, "\x01abc"), false, false, "", 0},
		{"an end in good order", succeeded, frame(2, "\x01abc") + closing, false, false, "", 0},
		{"an end in bad order", succeeded, frame(2, "\x01abc") + frame(8, "\x03\xf3oh no"), false, false, `output may be cut off: the other side has ended the connection with code 1011: "oh no"`, 0},
		{"a reset between messages", succeeded, frame(2, "\x01abc") + reset, false, false, "connection reset by peer", 0},
		{"a reset, and nobody takes the output", succeeded, reset, false, true, "", 0},
		{"an exit code", failed, begun, false, false, "exit code 7, and its output may be cut off: unexpected EOF", 0},
		{"nobody takes the output", succeeded, begun, false, true, "", 0},
		{"nobody takes the output, and silence", succeeded, begun, true, true, "", 10 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &containers.Server{}, clienttest.Options{})
				r.Intercept(answers(t, "v5.channel.k8s.io", "", func(c net.Conn) {
					status := "\x03" + tc.status
					_, _ = io.WriteString(c, "\x82\x7e\x00"+string(rune(len(status)))+status)
					sent, resets := strings.CutSuffix(tc.sent, reset)
					_, _ = io.WriteString(c, sent)
					if resets {
						c.(interface{ Reset(afterWritten bool) }).Reset(true)
					}
					if tc.stays {
						_, _ = io.Copy(io.Discard, c)
					}
				}))
				c := remote.Command(r.pods, web, "x")
				if !tc.drops {
					c.Stdout = new(bytes.Buffer)
				}
				start := time.Now()
				err := c.Run(t.Context())
				if tc.want != "" {
					wantText(t, err, tc.want)
				} else if err != nil {
					t.Errorf("Run: %v", err)
				}
				if exit := (*remote.ExitError)(nil); errors.As(err, &exit) != (tc.status == failed) {
					t.Errorf("Run: %v", err)
				}
				if took := time.Since(start); took != tc.took {
					t.Errorf("it took %v, want %v", took, tc.took)
				}
			})
		})
	}
}

// A server that says which outputs have ended need not end the connection.
func TestAServerThatClosesItsOutputs(t *testing.T) {
	for _, tc := range []struct {
		name  string
		tty   bool
		sends func(c *wsmux.Conn)
		took  time.Duration
		want  string // empty for success
	}{
		{"after the status", false, func(c *wsmux.Conn) {
			_ = c.Send(3, []byte(succeeded))
			time.Sleep(time.Second)
			_ = c.Send(1, []byte("x"))
			_ = c.Send(255, []byte{1})
			_ = c.Send(255, []byte{2})
		}, time.Second, ""},
		{"before the status", false, func(c *wsmux.Conn) {
			_ = c.Send(1, []byte("x"))
			_ = c.Send(255, []byte{2})
			_ = c.Send(255, []byte{1})
			time.Sleep(30 * time.Second)
			_ = c.Send(3, []byte(succeeded))
		}, 30 * time.Second, ""},
		{"of a terminal", true, func(c *wsmux.Conn) {
			_ = c.Send(1, []byte("x"))
			_ = c.Send(255, []byte{1})
			_ = c.Send(3, []byte(succeeded))
		}, 0, ""},
		{"but for one", false, func(c *wsmux.Conn) {
			_ = c.Send(1, []byte("x"))
			_ = c.Send(255, []byte{1})
			_ = c.Send(3, []byte(succeeded))
		}, 10 * time.Second, ""},
		{"and others", false, func(c *wsmux.Conn) {
			_ = c.Send(1, []byte("x"))
			for _, channel := range []byte{0, 1, 1, 2, 3, 4, 200} {
				_ = c.Send(255, []byte{channel})
			}
			_ = c.Send(3, []byte(succeeded))
		}, 0, ""},
		{"and goes on", false, func(c *wsmux.Conn) {
			_ = c.Send(255, []byte{1})
			_ = c.Send(1, []byte("x"))
		}, 0, "channel 1 after it closed it"},
		{"without saying which", false, func(c *wsmux.Conn) { _ = c.Send(255, nil) }, 0, "closed a channel without naming it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := make(chan struct{})
				r := newRig(t, &containers.Server{}, clienttest.Options{})
				r.speaks(t, "v5.channel.k8s.io", func(c *wsmux.Conn) {
					tc.sends(c)
					<-over
				})
				start := time.Now()
				c := remote.Command(r.pods, web, "x")
				c.TTY = tc.tty
				out, err := c.Output(t.Context())
				took := time.Since(start)
				if tc.want != "" {
					wantText(t, err, tc.want)
				} else if err != nil || string(out) != "x" || took != tc.took {
					t.Errorf("Output: %q, %v, after %v, want %v", out, err, took, tc.took)
				}
				close(over)
			})
		})
	}
}

// The command cannot be told the end of its input, but has ended: its status waits behind output that Stdout has no room for.
func TestASlowOutputAfterTheEndOfAnInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 3 << 20
		r := newRig(t, &containers.Server{Run: func(_ context.Context, p *containers.Process) int {
			_, _ = p.Stdout.Write(make([]byte, size))
			return 0
		}, OnlyV4: true}, clienttest.Options{})
		w := &pausing{pause: 12 * time.Second}
		c := remote.Command(r.pods, web, "x")
		c.Stdin, c.Stdout = strings.NewReader("input"), w
		if err := c.Run(t.Context()); err != nil || w.Len() != size {
			t.Errorf("Run: %v, and %d bytes of %d", err, w.Len(), size)
		}
	})
}

// The command ends within the 10 s, and the rest of its output takes longer.
func TestAStatusAfterTheEndOfAnInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{}, clienttest.Options{})
		r.speaks(t, "v4.channel.k8s.io", func(c *wsmux.Conn) {
			time.Sleep(9 * time.Second)
			_ = c.Send(3, []byte(succeeded))
			time.Sleep(9 * time.Second)
			_ = c.Send(1, []byte("late"))
		})
		c := remote.Command(r.pods, web, "x")
		c.Stdin = strings.NewReader("input")
		if out, err := c.Output(t.Context()); err != nil || string(out) != "late" {
			t.Errorf("Output: %q, %v", out, err)
		}
	})
}

// late is a context whose functions (context.AfterFunc) have not begun when others see its end.
type late struct {
	context.Context
	done chan struct{}
}

func (l late) Done() <-chan struct{} { return l.done }

func (late) AfterFunc(func()) (stop func() bool) { return func() bool { return true } }

// The command has ended, and its output is not written yet when ctx ends: it is lost, and that is not success.
func TestTheEndOfTheContextBeforeTheOutputIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
		b := blocked{make(chan struct{})}
		c := remote.Command(r.pods, web, "echo", "x")
		c.Stdout = b
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		if err := c.Start(late{ctx, done}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the server has ended the connection
		cancel()
		close(done)
		if err := c.Wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait: %v", err)
		}
		close(b.letGo)
	})
}

// An exit code is an int32: a Windows container ends with -1073741819 after an access violation. Any other text is no exit code.
func TestTheRangeOfExitCodes(t *testing.T) {
	for text, want := range map[string]int{
		"1": 1, "255": 255, "256": 256, "-1": -1, "-1073741819": -1073741819, "2147483647": math.MaxInt32, "-2147483648": math.MinInt32,
		"0": 0, "-0": 0, "": 0, "x": 0, "1.0": 0, " 1": 0, "0x1": 0, "2147483648": 0, "-2147483649": 0, "3221225477": 0, "99999999999999999999": 0,
	} {
		r := newRig(t, &containers.Server{}, clienttest.Options{})
		r.speaks(t, "v5.channel.k8s.io", func(c *wsmux.Conn) {
			_ = c.Send(3, []byte(`{"status": "Failure", "reason": "NonZeroExitCode", "message": "it failed", "details": {"causes": [{"reason": "ExitCode", "message": "`+text+`"}]}}`))
		})
		err := remote.Command(r.pods, web, "x").Run(t.Context())
		exit := (*remote.ExitError)(nil)
		if errors.As(err, &exit) != (want != 0) || exit != nil && exit.Code != want || err == nil {
			t.Errorf("%q: %v, %+v, want %d", text, err, exit, want)
		}
		if want == 0 {
			wantText(t, err, "it failed")
		}
	}
}

// A server that does not say the exit code.
func TestAnExitCodeThatIsNotKnown(t *testing.T) {
	for name, details := range map[string]string{
		"no details": "", "no cause": `, "details": {"causes": []}`, "another cause": `, "details": {"causes": [{"reason": "Signal", "message": "9"}]}`,
	} {
		r := newRig(t, &containers.Server{}, clienttest.Options{})
		r.speaks(t, "v5.channel.k8s.io", func(c *wsmux.Conn) {
			_ = c.Send(3, []byte(`{"status": "Failure", "reason": "NonZeroExitCode", "message": "it failed"`+details+`}`))
		})
		err := remote.Command(r.pods, web, "x").Run(t.Context())
		if errors.As(err, new(*remote.ExitError)) {
			t.Errorf("%s: %v", name, err)
		}
		wantText(t, err, "it failed")
	}
}
