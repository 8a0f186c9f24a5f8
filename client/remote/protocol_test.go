package remote_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/internal/wsmux"
)

// wantText fails the test unless err has all these texts.
func wantText(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, and lacks %q", err, want)
		}
	}
}

// speaks answers every request by a WebSocket of one protocol, on which handle does what it likes.
func (r *rig) speaks(t *testing.T, protocol string, handle func(c *wsmux.Conn)) {
	r.Intercept(func(*http.Request) http.HandlerFunc {
		return func(w http.ResponseWriter, hr *http.Request) {
			c, err := wsmux.Accept(w, hr, protocol)
			if err != nil {
				t.Error(err)
				return
			}
			handle(c)
			c.Finish()
		}
	})
}

// behaviour 158: the client offers its protocols, the best first, and speaks the one that the server chooses. A WebSocket has no v2 and v3.
func TestProtocols(t *testing.T) {
	for _, tc := range []struct {
		protocol, end, want string
		code                int
	}{
		{"v5.channel.k8s.io", `{"status": "Success"}`, "", 0},
		{"v5.channel.k8s.io", `{"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [{"reason": "ExitCode", "message": "7"}]}}`, "exit code 7", 7},
		{"v4.channel.k8s.io", `{"status": "Success"}`, "", 0},
		{"v4.channel.k8s.io", `{"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [{"reason": "ExitCode", "message": "7"}]}}`, "exit code 7", 7},
		{"v4.channel.k8s.io", `{"status": "Failure", "reason": "InternalError", "code": 500, "message": "no runtime"}`, "no runtime", 0},
		{"channel.k8s.io", "", "", 0},
		{"channel.k8s.io", "command terminated with non-zero exit code", "the server says: command terminated", 0},
	} {
		t.Run(tc.protocol+" "+tc.want, func(t *testing.T) {
			r := newRig(t, &containers.Server{}, clienttest.Options{})
			r.speaks(t, tc.protocol, func(c *wsmux.Conn) {
				_ = c.Send(1, []byte("out"))
				_ = c.Send(3, []byte(tc.end))
			})
			out, err := remote.Command(r.pods, web, "x").Output(t.Context())
			if string(out) != "out" || (err == nil) != (tc.want == "") {
				t.Errorf("Output: %q, %v", out, err)
			}
			if tc.want != "" {
				wantText(t, err, tc.want)
			}
			if exit := (*remote.ExitError)(nil); errors.As(err, &exit) != (tc.code != 0) || exit != nil && exit.Code != tc.code {
				t.Errorf("the exit code is %v, want %d", exit, tc.code)
			}
		})
	}
}

// behaviour 158
func TestTheProtocolsThatAreOffered(t *testing.T) {
	for name, start := range map[string]func(*rig) *remote.Cmd{
		"exec":   func(r *rig) *remote.Cmd { return remote.Command(r.pods, web, "x") },
		"attach": func(r *rig) *remote.Cmd { return remote.Attach(r.pods, web) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &containers.Server{}, clienttest.Options{})
			var offered []string
			requests := 0
			r.Intercept(func(hr *http.Request) http.HandlerFunc {
				requests++
				offered = hr.Header.Values("Sec-WebSocket-Protocol")
				return func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(http.StatusForbidden)
					fmt.Fprint(w, "unable to negotiate protocol: server accepts [v9.channel.k8s.io]")
				}
			})
			err := start(r).Run(t.Context())
			if want := []string{"v5.channel.k8s.io, v4.channel.k8s.io, channel.k8s.io"}; !slices.Equal(offered, want) {
				t.Errorf("offered are %q, want %q", offered, want)
			}
			wantText(t, err, "403", "server accepts [v9.channel.k8s.io]")
			if requests != 1 { // behaviour 162: there is no second protocol to fall back to
				t.Errorf("%d requests", requests)
			}
			r.speaks(t, "v9.channel.k8s.io", func(*wsmux.Conn) {})
			wantText(t, start(r).Run(t.Context()), "speaks none of the protocols", "v5.channel.k8s.io")
		})
	}
}

// behaviour 156: messages of any size arrive as they were sent, whatever the sizes are in which they are read.
func TestAnySizes(t *testing.T) {
	data := make([]byte, 1<<20)
	_, _ = rand.Read(data)
	for _, size := range []int{1, 1 << 10, 4 << 10, 4<<10 + 1, 32 << 10, 32<<10 + 1, 128 << 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			data := data[:min(len(data), 2_000*size)]
			r := newRig(t, &containers.Server{Run: func(_ context.Context, p *containers.Process) int {
				for part := range slices.Chunk(data, size) {
					if _, err := p.Stdout.Write(part); err != nil {
						return 1
					}
				}
				return 0
			}}, clienttest.Options{})
			for _, read := range []int{1 << 10, 32 << 10, 128 << 10} {
				c := remote.Command(r.pods, web, "x")
				remote.SetBuffer(c, read)
				out, err := c.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				var got []byte
				for part := make([]byte, read); err == nil; {
					var n int
					n, err = out.Read(part)
					got = append(got, part[:n]...)
				}
				if err := c.Wait(); err != nil || !bytes.Equal(got, data) {
					t.Errorf("with a buffer of %d: %d bytes of %d; %v", read, len(got), len(data), err)
				}
			}
		})
	}
}

// behaviour 156
func TestReadersOfAnyKind(t *testing.T) {
	r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
	data := make([]byte, 100_000)
	_, _ = rand.Read(data)
	for name, kind := range map[string]func(io.Reader) io.Reader{
		"one byte at a time": iotest.OneByteReader, "by halves": iotest.HalfReader, "with the end": iotest.DataErrReader,
	} {
		cat := remote.Command(r.pods, web, "cat")
		cat.Stdin = kind(bytes.NewReader(data))
		if out, err := cat.Output(t.Context()); err != nil || !bytes.Equal(out, data) {
			t.Errorf("%s: %d bytes of %d; %v", name, len(out), len(data), err)
		}
	}
}

// behaviour 156: both outputs at once, and an input beside them
func TestAllStreamsAtOnce(t *testing.T) {
	const size = 1 << 20
	r := newRig(t, &containers.Server{Run: func(_ context.Context, p *containers.Process) int {
		var all sync.WaitGroup
		all.Go(func() { _, _ = io.Copy(p.Stdout, p.Stdin) })
		all.Go(func() {
			for range size / 1000 {
				_, _ = p.Stderr.Write(bytes.Repeat([]byte("e"), 1000))
			}
		})
		all.Wait()
		return 0
	}}, clienttest.Options{})
	data := make([]byte, size)
	_, _ = rand.Read(data)
	c := remote.Command(r.pods, web, "x")
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(data), &out, &errs
	if err := c.Run(t.Context()); err != nil || !bytes.Equal(out.Bytes(), data) || errs.Len() != size/1000*1000 {
		t.Errorf("Run: %v; %d and %d bytes", err, out.Len(), errs.Len())
	}
}

// behaviour 156: an input and the sizes of a window
func TestInputBesideSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 500
		r := newRig(t, &containers.Server{Run: func(_ context.Context, p *containers.Process) int {
			var all sync.WaitGroup
			sum := 0
			all.Go(func() {
				for range n {
					sum += int((<-p.Sizes).Width)
				}
			})
			all.Go(func() { _, _ = io.Copy(p.Stdout, p.Stdin) })
			all.Wait()
			fmt.Fprint(p.Stdout, sum)
			return 0
		}}, clienttest.Options{})
		sizes := make(chan remote.Size)
		go func() {
			for i := range n {
				sizes <- remote.Size{Width: uint16(i), Height: 1}
			}
		}()
		data := strings.Repeat("0123456789", 100_000)
		c := remote.Command(r.pods, web, "x")
		c.TTY, c.Sizes, c.Stdin = true, sizes, strings.NewReader(data)
		if out, err := c.Output(t.Context()); err != nil || string(out) != data+fmt.Sprint(n*(n-1)/2) {
			t.Errorf("Output: %d bytes, %v", len(out), err)
		}
	})
}
