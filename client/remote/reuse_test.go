package remote_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/internal/memnet"
)

// A Cmd can be used once. Every further call says so, whatever the first one was and however it has ended.
func TestACmdIsUsedOnce(t *testing.T) {
	calls := map[string]func(t *testing.T, c *remote.Cmd) error{
		"Run":            func(t *testing.T, c *remote.Cmd) error { return c.Run(t.Context()) },
		"Output":         func(t *testing.T, c *remote.Cmd) error { _, err := c.Output(t.Context()); return err },
		"CombinedOutput": func(t *testing.T, c *remote.Cmd) error { _, err := c.CombinedOutput(t.Context()); return err },
		"Start and Wait": func(t *testing.T, c *remote.Cmd) error {
			if err := c.Start(t.Context()); err != nil {
				return err
			}
			return c.Wait()
		},
		"StdinPipe":  func(_ *testing.T, c *remote.Cmd) error { _, err := c.StdinPipe(); return err },
		"StdoutPipe": func(_ *testing.T, c *remote.Cmd) error { _, err := c.StdoutPipe(); return err },
		"StderrPipe": func(_ *testing.T, c *remote.Cmd) error { _, err := c.StderrPipe(); return err },
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
		for _, first := range []string{"Run", "Output", "CombinedOutput", "Start and Wait"} {
			for how, make := range map[string]func() *remote.Cmd{
				"that has run":    func() *remote.Cmd { return remote.Command(r.pods, web, "echo", "x") },
				"that has failed": func() *remote.Cmd { return remote.Command(r.pods, web, "fail") },
				"that is refused": func() *remote.Cmd {
					return remote.Command(r.pods, meta.Key{Namespace: "default", Name: "none"}, "echo")
				},
				"of another kind": func() *remote.Cmd { return remote.Attach(r.pods, web) },
				"that cannot be made": func() *remote.Cmd {
					return remote.Debug(r.pods, meta.Key{Namespace: "default", Name: "none"}, remote.DebugOptions{Image: "x"})
				},
			} {
				c := make()
				_ = calls[first](t, c)
				for _, second := range slices.Sorted(maps.Keys(calls)) {
					err := calls[second](t, c)
					if !errors.As(err, new(*client.UsageError)) || !errors.As(err, new(*client.OpError)) || !strings.Contains(err.Error(), "started already") {
						t.Errorf("%s after %s of a command %s: %v", second, first, how, err)
					}
				}
			}
		}
	})
}

// A call that could not begin, because it was wrong, may be repeated once that is mended.
func TestACmdMayBeMended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
		c := remote.Command(r.pods, web, "echo", "x")
		sizes := make(chan remote.Size)
		c.Sizes = sizes // without TTY
		if _, err := c.Output(t.Context()); !errors.As(err, new(*client.UsageError)) {
			t.Errorf("Output: %v", err)
		}
		c.Sizes = nil
		if out, err := c.Output(t.Context()); err != nil || string(out) != "x\n" {
			t.Errorf("Output: %q, %v", out, err)
		}
	})
}

// Calls on a command that is not started, or has ended.
func TestACmdBeforeStartAndAfterWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
		c := remote.Command(r.pods, web, "cat")
		if err := c.Wait(); !errors.As(err, new(*client.UsageError)) {
			t.Errorf("Wait before Start: %v", err)
		}
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.StdinPipe(); !errors.As(err, new(*client.UsageError)) {
			t.Errorf("a second StdinPipe: %v", err)
		}
		if _, err := c.StdoutPipe(); !errors.As(err, new(*client.UsageError)) {
			t.Errorf("a second StdoutPipe: %v", err)
		}
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := in.Close(); err != nil {
				t.Errorf("Close of the input: %v", err)
			}
		}
		if _, err := in.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Write after Close: %v", err)
		}
		for range 2 {
			if n, err := out.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("Read at the end: %d, %v", n, err)
			}
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := c.Wait(); !errors.As(err, new(*client.UsageError)) || !strings.Contains(err.Error(), "called twice") {
				t.Errorf("a further Wait: %v", err)
			}
		}
		if _, err := out.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Read after Wait: %v", err)
		}
		if _, err := in.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Write after Wait: %v", err)
		}
		if err := errors.Join(in.Close(), out.Close()); err != nil {
			t.Errorf("Close after Wait: %v", err)
		}
	})
}

// After the end of a command, nothing takes a size, and a channel that is closed ends nothing.
func TestSizesAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
		sizes := make(chan remote.Size)
		c := remote.Command(r.pods, web, "stty")
		c.TTY, c.Sizes = true, sizes
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		sizes <- remote.Size{} // the command ends
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		select {
		case sizes <- remote.Size{Width: 1}:
			t.Error("a size is taken after the end")
		default:
		}
		close(sizes)
	})
}

func TestAConnectionToAPortThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, func(c *memnet.Conn) { _, _ = c.Write([]byte("bye")) }, clienttest.Options{})
		c := r.dial(t)
		if got, err := io.ReadAll(c); err != nil || string(got) != "bye" {
			t.Errorf("ReadAll: %q, %v", got, err)
		}
		for range 2 {
			if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("Read at the end: %d, %v", n, err)
			}
			if _, err := c.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
				t.Errorf("Write at the end: %v", err)
			}
		}
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		for range 2 {
			if err := c.Close(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("a further Close: %v", err)
			}
		}

		r.Intercept(frames(t, func(c net.Conn) { _, _ = io.WriteString(c, opening+frame(2, "\x01refused")+closing) }))
		failed := r.dial(t)
		for range 2 {
			if _, err := failed.Read(make([]byte, 1)); !errors.As(err, new(*remote.PortError)) {
				t.Errorf("Read of a port that refuses: %v", err)
			}
			if _, err := failed.Write([]byte("x")); !errors.As(err, new(*remote.PortError)) {
				t.Errorf("Write to a port that refuses: %v", err)
			}
		}
	})
}

// Two calls of Close at once: one closes, and the other one says so at once.
func TestTwoClosesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, echo, clienttest.Options{})
		c := r.dial(t)
		var all sync.WaitGroup
		errs := make(chan error, 2)
		for range 2 {
			all.Go(func() { errs <- c.Close() })
		}
		all.Wait()
		if a, b := <-errs, <-errs; (a == nil) == (b == nil) || !errors.Is(errors.Join(a, b), net.ErrClosed) {
			t.Errorf("Close: %v and %v", a, b)
		}
	})
}

// A Target serves several Forwards, one after another and at once. A listener serves one.
func TestATargetAndAListenerThatAreUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPortRig(t, echo, clienttest.Options{})
		to := remote.ToPod(r.pods, web, "80")
		var all []*forwarded
		for range 2 {
			all = append(all, forward(t, to, remote.ForwardOptions{}), forward(t, to, remote.ForwardOptions{}))
			for _, f := range all[len(all)-2:] {
				c := f.dial(t)
				if got, err := roundTrip(c, "hello"); err != nil || got != "hello" {
					t.Errorf("%q, %v", got, err)
				}
				_ = c.Close()
			}
			for _, f := range all[len(all)-2:] {
				if errs := f.end(t); len(errs) > 0 {
					t.Error(errs)
				}
			}
		}
		if err := remote.Forward(t.Context(), all[0].listener, to, remote.ForwardOptions{}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Forward of a listener that another one has closed: %v", err)
		}
	})
}

// Each loop over Lines or Tail reads anew.
func TestLogsAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, clienttest.Options{})
		n.create("a", "app")
		n.start("a", "app")
		log := n.logs.Of(key("a"), "app")
		log.Add(entry(1, "one"), entry(2, "two"))
		lines := remote.Lines(t.Context(), n.pods, key("a"), remote.LogOptions{})
		tail := remote.Tail(t.Context(), n.pods, tailed)
		want := []string{"a/app: one", "a/app: two"}
		for i := range 2 {
			var got []string
			for l, err := range lines {
				got = append(got, l.Text)
				if err != nil || len(got) == 1+i { // it is left early first
					break
				}
			}
			if !slices.Equal(got, []string{"one", "two"}[:1+i]) {
				t.Errorf("loop %d over Lines: %q", i, got)
			}
			if got := take(t, 2, tail); !slices.Equal(got, want) {
				t.Errorf("loop %d over Tail: %q", i, got)
			}
		}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if got := take(t, 2, tail); !slices.Equal(got, want) {
					t.Errorf("one of two loops at once: %q", got)
				}
			})
		}
		all.Wait()

		body, err := remote.Logs(t.Context(), n.pods, key("a"), remote.LogOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(body); err != nil || string(got) != "one\ntwo\n" {
			t.Errorf("ReadAll: %q, %v", got, err)
		}
		if n, err := body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("Read at the end: %d, %v", n, err)
		}
		for range 2 {
			if err := body.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		if n, err := body.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("Read after Close: %d, %v", n, err)
		}
	})
}

// A copy a second time finds its own files: it is refused, and changes nothing, or replaces them.
func TestCopiesThatAreRepeated(t *testing.T) {
	for _, b := range boxes()[:4] {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			r, there := b.start(t)
			put(t, there, "src/a", "src/sub/b")
			here := t.TempDir()
			for name, do := range map[string]func(o remote.CopyOptions) error{
				"CopyFrom": func(o remote.CopyOptions) error {
					_, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/src", here, o)
					return err
				},
				"CopyTo": func(o remote.CopyOptions) error {
					_, err := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(there+"/src"), there+"/dst", o)
					return err
				},
				"WriteFile": func(o remote.CopyOptions) error {
					_, err := remote.WriteFile(t.Context(), r.pods, web, there+"/file", strings.NewReader("text"), o)
					return err
				},
			} {
				if err := do(remote.CopyOptions{}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				before, beforeHere := fmt.Sprint(shoot(t, there)), fmt.Sprint(shoot(t, here))
				if err := do(remote.CopyOptions{}); !errors.Is(err, fs.ErrExist) {
					t.Errorf("%s again: %v", name, err)
				}
				if fmt.Sprint(shoot(t, there)) != before || fmt.Sprint(shoot(t, here)) != beforeHere {
					t.Errorf("%s, which was refused, has changed something", name)
				}
				if err := do(remote.CopyOptions{Overwrite: true}); err != nil {
					t.Errorf("%s with Overwrite: %v", name, err)
				}
			}
			has(t, here, "src", "src/a", "src/sub", "src/sub/b")
			has(t, there, "dst", "dst/a", "dst/sub", "dst/sub/b", "file", "src", "src/a", "src/sub", "src/sub/b")
		})
	}
}
