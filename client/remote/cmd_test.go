package remote_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/histories"
	"github.com/bowline-go/bowline/internal/wsmux"
)

func TestOutput(t *testing.T) {
	r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
	out, err := remote.Command(r.pods, web, "echo", "a", "b  c", "$HOME").Output(t.Context())
	if err != nil || string(out) != "a b  c $HOME\n" {
		t.Errorf("Output: %q, %v", out, err)
	}
}

// behaviour 157
func TestExitCode(t *testing.T) {
	r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
	out, err := remote.Command(r.pods, web, "fail", "secret").Output(t.Context())
	exit := (*remote.ExitError)(nil)
	if !errors.As(err, &exit) || exit.Code != 42 || string(exit.Stderr) != "it is broken" || string(out) != "out" {
		t.Errorf("Output: %q, %#v", out, err)
	}
	if want := "exec in pod default/web: fail: exit code 42"; err == nil || err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
	both, err := remote.Command(r.pods, web, "fail").CombinedOutput(t.Context())
	if len(both) != len("outit is broken") || !errors.As(err, &exit) {
		t.Errorf("CombinedOutput: %q, %v", both, err)
	}
}

// behaviours 155 and 156
func TestStdin(t *testing.T) {
	r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
	data := make([]byte, 3<<20)
	_, _ = rand.Read(data)
	cat := remote.Command(r.pods, web, "cat")
	cat.Stdin = bytes.NewReader(data)
	out, err := cat.Output(t.Context())
	if err != nil || !bytes.Equal(out, data) {
		t.Errorf("cat returned %d bytes of %d, which are the same: %v; %v", len(out), len(data), bytes.Equal(out, data), err)
	}
}

func TestPipes(t *testing.T) {
	r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
	cat := remote.Command(r.pods, web, "cat")
	in, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cat.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 5)
	for _, word := range []string{"first", "other"} {
		if _, err := io.WriteString(in, word); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, part); err != nil || string(part) != word {
			t.Errorf("read %q, %v, want %q", part, err, word)
		}
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("the rest is %q, %v", rest, err)
	}
	if err := cat.Wait(); err != nil {
		t.Error(err)
	}
	if err := cat.Wait(); err == nil {
		t.Error("Wait can be called twice")
	}
	if _, err := in.Write([]byte("late")); err == nil {
		t.Error("a write to the input of a command that has ended returns no error")
	}
}

func TestTerminal(t *testing.T) {
	r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
	sizes := make(chan remote.Size, 3)
	for _, s := range []remote.Size{{80, 24}, {100, 30}, {}} {
		sizes <- s
	}
	var query url.Values
	r.Intercept(func(hr *http.Request) http.HandlerFunc {
		query = hr.URL.Query()
		return nil
	})
	stty := remote.Command(r.pods, web, "stty")
	stty.TTY, stty.Sizes = true, sizes
	if out, err := stty.Output(t.Context()); err != nil || string(out) != "80x24\n100x30\n0x0\n" {
		t.Errorf("Output: %q, %v", out, err)
	}
	if want := (url.Values{"command": {"stty"}, "stdout": {"true"}, "tty": {"true"}}); !reflect.DeepEqual(query, want) {
		t.Errorf("the server was asked for %v, want %v", query, want)
	}
}

func TestAttach(t *testing.T) {
	r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
	a := remote.Attach(r.pods, many)
	a.Container, a.Stdin = "sidecar", strings.NewReader("hello")
	if out, err := a.Output(t.Context()); err != nil || string(out) != "attached to sidecar in default/many\nhello" {
		t.Errorf("Output: %q, %v", out, err)
	}
}

func TestRefusals(t *testing.T) {
	except := func(verb string) clienttest.Options {
		return clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) { return a.Verb != verb || a.Subresource != "exec", "no" }}
	}
	for _, tc := range []struct {
		name    string
		options clienttest.Options
		key     meta.Key
		edit    func(*remote.Cmd)
		without bool // programs
		answer  http.HandlerFunc
		is      error
		want    []string
	}{
		{name: "no pod", key: meta.Key{Namespace: "default", Name: "none"}, is: apierrors.NotFound, want: []string{`pods "none" not found`}},
		{name: "no container named", key: many, is: apierrors.BadRequest, want: []string{"choose one of: [app sidecar]"}},
		{name: "no such container", edit: func(c *remote.Cmd) { c.Container = "x" }, is: apierrors.BadRequest, want: []string{"container x is not valid"}},
		{name: "without get", options: except("get"), is: apierrors.Forbidden, want: []string{`cannot get resource "pods/exec"`}},
		{name: "without create", options: except("create"), is: apierrors.Forbidden, want: []string{"is forbidden: no (", "permission create on pods/exec"}},
		{name: "no program", without: true, is: apierrors.InternalError, want: []string{"executable file not found"}},
		{
			name: "a page", answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Welcome</html>") },
			want: []string{"200", "upgrading to a WebSocket", "Welcome"},
		},
		{name: "a proxy that refuses", answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, want: []string{"502"}},
		{
			name: "a handshake of another key", answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Connection", "Upgrade")
				w.Header().Set("Upgrade", "websocket")
				w.Header().Set("Sec-WebSocket-Accept", "x")
				w.WriteHeader(http.StatusSwitchingProtocols)
			},
			want: []string{"breaks the rules of WebSockets"},
		},
		{name: "TTY with Stderr", edit: func(c *remote.Cmd) { c.TTY, c.Stderr = true, io.Discard }, want: []string{"Stderr must be nil with TTY"}},
		{name: "Sizes without TTY", edit: func(c *remote.Cmd) { c.Sizes = make(chan remote.Size) }, want: []string{"Sizes needs TTY"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &containers.Server{Run: programs}
			if tc.without {
				server.Run = nil
			}
			r := newRig(t, server, tc.options)
			if tc.answer != nil {
				r.Intercept(func(*http.Request) http.HandlerFunc { return tc.answer })
			}
			key := tc.key
			if key == (meta.Key{}) {
				key = web
			}
			c := remote.Command(r.pods, key, "echo")
			if tc.edit != nil {
				tc.edit(c)
			}
			err := c.Run(t.Context())
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) {
				t.Fatalf("Run: %v, want %v", err, tc.is)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %q, and lacks %q", err, want)
				}
			}
			if op := (*client.OpError)(nil); !errors.As(err, &op) || op.Subresource != "exec" {
				t.Errorf("the error is a %T", err)
			}
		})
	}
}

func TestAPodThatHasEnded(t *testing.T) {
	r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
	if _, err := r.pods.Status().Modify(t.Context(), web, func(p *pod) error { p.Status.Phase = "Succeeded"; return nil }); err != nil {
		t.Fatal(err)
	}
	err := remote.Attach(r.pods, web).Run(t.Context())
	if !errors.Is(err, apierrors.BadRequest) || !strings.Contains(err.Error(), "completed pod; current phase is Succeeded") {
		t.Errorf("Run: %v", err)
	}
}

func TestWrongUse(t *testing.T) {
	r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
	used := remote.Command(r.pods, web, "echo")
	if err := used.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	nodes := client.For(r.client, client.Type[*pod]{Version: "v1", Kind: "Node", Resource: "nodes", Scope: meta.Cluster})
	for name, c := range map[string]*remote.Cmd{
		"used before": used, "no program": remote.Command(r.pods, web), "no pods": remote.Command(nodes, web, "echo"),
		"zero handle": remote.Command(client.Resource[*pod]{}, web, "echo"),
	} {
		if err := c.Run(t.Context()); !errors.As(err, new(*client.UsageError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused := remote.Command(r.pods, meta.Key{Namespace: "default", Name: "none"}, "echo")
	if err := refused.Start(t.Context()); err == nil {
		t.Error("a command in no pod starts")
	}
	if err := refused.Wait(); !errors.As(err, new(*client.UsageError)) {
		t.Errorf("Wait after Start has failed: %v", err)
	}
	if err := remote.Command(r.pods, web, "echo").Wait(); !errors.As(err, new(*client.UsageError)) {
		t.Errorf("Wait before Start: %v", err)
	}
}

// A server before Kubernetes 1.30 cannot tell cat that its input has ended.
func TestAnOldServerCannotEndAnInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: programs, OnlyV4: true}, clienttest.Options{})
		if out, err := remote.Command(r.pods, web, "echo", "x").Output(t.Context()); err != nil || string(out) != "x\n" {
			t.Errorf("echo: %q, %v", out, err)
		}
		cat := remote.Command(r.pods, web, "cat")
		cat.Stdin = strings.NewReader("x")
		out, err := cat.Output(t.Context())
		stty := remote.Command(r.pods, web, "stty")
		sizes := make(chan remote.Size)
		stty.Stdin, stty.TTY, stty.Sizes = strings.NewReader(""), true, sizes
		time.AfterFunc(time.Hour, func() { sizes <- remote.Size{} })
		if err := stty.Run(t.Context()); err != nil {
			t.Errorf("a terminal ended with its input: %v", err)
		}
		if err == nil || !strings.Contains(err.Error(), "v4.channel.k8s.io, which cannot signal the end of Stdin") || string(out) != "x" {
			t.Errorf("cat: %q, %v", out, err)
		}
	})
}

// blocked is a Reader and a Writer of which each call takes until it is let go.
type blocked struct{ letGo chan struct{} }

func (b blocked) Read([]byte) (int, error)    { <-b.letGo; return 0, io.EOF }
func (b blocked) Write(p []byte) (int, error) { <-b.letGo; return len(p), nil }

// behaviour 161
func TestTheEndOfTheContext(t *testing.T) {
	for name, edit := range map[string]func(*remote.Cmd, blocked){
		"sleeps":         func(*remote.Cmd, blocked) {},
		"blocked Reader": func(c *remote.Cmd, b blocked) { c.Stdin = b },
		"blocked Writer": func(c *remote.Cmd, b blocked) { c.Stdin, c.Stdout = strings.NewReader("x"), b },
		"full buffer":    func(c *remote.Cmd, b blocked) { remote.SetBuffer(c, 10); c.Stdout = b },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &containers.Server{Run: func(ctx context.Context, p *containers.Process) int {
					_, _ = io.WriteString(p.Stdout, "more than the buffer of one case has room for")
					<-ctx.Done() // the client has gone
					return 0
				}}, clienttest.Options{})
				b := blocked{make(chan struct{})}
				c := remote.Command(r.pods, web, "sleep")
				edit(c, b)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				start := time.Now()
				if err := c.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Run: %v", err)
				}
				if took := time.Since(start); took > time.Hour+time.Second {
					t.Errorf("Run took %v", took)
				}
				close(b.letGo)
			})
		})
	}
}

// slow takes nothing until it is let go.
type slow struct {
	letGo chan struct{}
	n     int
}

func (s *slow) Write(p []byte) (int, error) { <-s.letGo; s.n += len(p); return len(p), nil }

func TestASlowOutputHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 512 << 10
		r := newRig(t, &containers.Server{Run: func(_ context.Context, p *containers.Process) int {
			_, _ = p.Stdout.Write(make([]byte, size))
			_, _ = io.WriteString(p.Stderr, "done")
			return 3
		}}, clienttest.Options{})
		c := remote.Command(r.pods, web, "x")
		out := &slow{letGo: make(chan struct{})}
		errs := make(chan string, 1)
		c.Stdout, c.Stderr = out, writer(func(p []byte) { errs <- string(p) })
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := <-errs; got != "done" { // before Stdout has taken anything
			t.Errorf("Stderr: %q", got)
		}
		time.Sleep(10 * time.Minute) // nothing is taken for a broken connection
		close(out.letGo)
		if exit := (*remote.ExitError)(nil); !errors.As(c.Wait(), &exit) || exit.Code != 3 || out.n != size {
			t.Errorf("Wait: %v; %d bytes", exit, out.n)
		}
	})
}

type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

func TestAWriteThatFailsEndsTheCommand(t *testing.T) {
	r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
	full := errors.New("the disk is full")
	c := remote.Command(r.pods, web, "fail")
	c.Stdout = failing{full}
	if err := c.Run(t.Context()); !errors.Is(err, full) || !strings.Contains(err.Error(), "write to Stdout") {
		t.Errorf("Run: %v", err)
	}
	c = remote.Command(r.pods, web, "sleep")
	c.Stdin = failing{full}
	if err := c.Run(t.Context()); !errors.Is(err, full) || !strings.Contains(err.Error(), "read Stdin") {
		t.Errorf("Run: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
func (f failing) Read([]byte) (int, error)  { return 0, f.err }

// behaviour 161: 1,000 sessions leave no goroutine and no connection.
func TestManySessionsLeaveNothingBehind(t *testing.T) {
	for name, start := range map[string]func(*rig) (c *remote.Cmd, out string){
		"exec": func(r *rig) (*remote.Cmd, string) { return remote.Command(r.pods, web, "cat"), "hello" },
		"attach": func(r *rig) (*remote.Cmd, string) {
			return remote.Attach(r.pods, web), "attached to app in default/web\nhello"
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the test ends only if all goroutines have
				r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{TLS: true, HTTP2: name == "exec"})
				synctest.Wait()
				before := r.Connections()
				var all sync.WaitGroup
				for range histories.Count(2) {
					for range 50 {
						all.Go(func() {
							c, want := start(r)
							c.Stdin = strings.NewReader("hello")
							if out, err := c.Output(t.Context()); err != nil || string(out) != want {
								t.Errorf("Output: %q, %v", out, err)
							}
						})
					}
					all.Wait()
				}
				synctest.Wait()
				if after := r.Connections(); after > before {
					t.Errorf("%d connections are left, %d were there before", after, before)
				}
			})
		})
	}
}

func TestAnIdleCommandGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: func(ctx context.Context, p *containers.Process) int {
			select {
			case <-time.After(5 * time.Hour):
				return 5
			case <-ctx.Done():
				return 1
			}
		}}, clienttest.Options{TLS: true})
		c := remote.Command(r.pods, web, "sleep", "5h")
		c.Stdout = io.Discard
		if exit := (*remote.ExitError)(nil); !errors.As(c.Run(t.Context()), &exit) || exit.Code != 5 {
			t.Errorf("Run: %v", exit)
		}
	})
}

// The server is cut off: it answers no ping.
func TestAServerThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
		c := remote.Command(r.pods, web, "sleep")
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		r.Freeze()
		err := c.Wait()
		if err == nil || !strings.Contains(err.Error(), "has not answered a ping for") {
			t.Errorf("Wait: %v", err)
		}
		if took := time.Since(start); took > 70*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestAConnectionThatIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: func(ctx context.Context, p *containers.Process) int {
			_, _ = io.WriteString(p.Stdout, "half")
			p.Cut()
			if _, err := io.WriteString(p.Stdout, "rest"); err == nil {
				t.Error("the process can write")
			}
			<-ctx.Done()
			return 0
		}}, clienttest.Options{})
		out, err := remote.Command(r.pods, web, "x").Output(t.Context())
		if string(out) != "half" {
			t.Errorf("the output is %q", out)
		}
		wantText(t, err, "broke before the server said how the command ended")
	})
}

// The server accepts the connection and never answers the handshake.
func TestAHandshakeThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
		r.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.Hang() })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := remote.Command(r.pods, web, "echo")
		c.Stdin = blocked{}
		if err := c.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run: %v", err)
		}
	})
}

// A server that breaks the protocol after the handshake.
func TestAServerThatBreaksTheProtocol(t *testing.T) {
	for _, tc := range []struct {
		name   string
		handle func(c *wsmux.Conn)
		want   string
	}{
		{"an unknown channel", func(c *wsmux.Conn) { _ = c.Send(9, []byte("x")) }, "channel 9"},
		{"no status", func(c *wsmux.Conn) { _ = c.Send(1, []byte("x")) }, "without saying how the command ended"},
		{"a text for a status", func(c *wsmux.Conn) { _ = c.Send(3, []byte("it broke")) }, `the server sent "it broke" instead of the command's final Status`},
		{"a status of another shape", func(c *wsmux.Conn) { _ = c.Send(3, []byte(`["it broke"]`)) }, "read the command's final Status"},
		{"two statuses", func(c *wsmux.Conn) {
			for range 2 {
				_ = c.Send(3, []byte(`{"status":"Success"}`))
			}
		}, "after the command's final Status"},
		{"an exit code that is none", func(c *wsmux.Conn) {
			_ = c.Send(3, []byte(`{"status":"Failure","reason":"NonZeroExitCode","message":"what","details":{"causes":[{"reason":"ExitCode","message":"x"}]}}`))
		}, "what"},
		{"an endless status", func(c *wsmux.Conn) {
			for c.Send(3, bytes.Repeat([]byte("["), wsmux.MaxData)) == nil {
			}
		}, "has more than 1048576 bytes"},
		{"a cut", func(c *wsmux.Conn) { c.Abort(io.EOF) }, "broke before the server said how the command ended"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, &containers.Server{}, clienttest.Options{})
			r.Intercept(func(*http.Request) http.HandlerFunc {
				return func(w http.ResponseWriter, hr *http.Request) {
					c, err := wsmux.Accept(w, hr, "v5.channel.k8s.io")
					if err != nil {
						t.Error(err)
						return
					}
					tc.handle(c)
					c.Finish()
				}
			})
			err := remote.Command(r.pods, web, "x").Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Run: %v, want %q", err, tc.want)
			}
		})
	}
}

// An API server copies the streams side by side, and may leave the connection open.
func TestAStatusThatComesEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{}, clienttest.Options{})
		r.Intercept(func(*http.Request) http.HandlerFunc {
			return func(w http.ResponseWriter, hr *http.Request) {
				c, err := wsmux.Accept(w, hr, "v5.channel.k8s.io")
				if err != nil {
					t.Error(err)
					return
				}
				_ = c.Send(3, nil) // says that it is there
				_ = c.Send(3, []byte(`{"status":`))
				_ = c.Send(3, []byte(`"Success"}`))
				for range 3 {
					time.Sleep(8 * time.Second)
					_ = c.Send(1, []byte("x"))
				}
				time.Sleep(time.Hour)
				c.Finish()
			}
		})
		start := time.Now()
		out, err := remote.Command(r.pods, web, "x").Output(t.Context())
		if took := time.Since(start); err != nil || string(out) != "xxx" || took != 34*time.Second {
			t.Errorf("Output: %q, %v, after %v", out, err, took)
		}
		time.Sleep(2 * time.Hour) // the server ends
	})
}

// Net/http sends a GET again if a connection breaks that it has used before. The server may have run the command.
func TestACommandIsNeverSentTwice(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var sent []string // headers of requests
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			for in := bufio.NewReader(c); ; {
				r, err := http.ReadRequest(in)
				if err != nil {
					break
				}
				sent = append(sent, fmt.Sprint(r.TransferEncoding, r.ContentLength))
				if len(sent) > 1 {
					break // without a word
				}
				_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
			}
			_ = c.Close()
		}
	}()
	c, err := client.New(client.Config{Server: "http://" + listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 2 {
		if err := remote.Command(client.For(c, pods), web, "rm").Run(t.Context()); err == nil {
			t.Error("the command has run")
		}
	}
	_ = listener.Close()
	<-served
	if want := []string{"[] 0", "[] 0"}; !slices.Equal(sent, want) {
		t.Errorf("the server got %q, want %q", sent, want)
	}
}

// 401 means that nothing was done, so a command is sent again with the next credential.
func TestACommandOfAClientWhoseTokenHasExpired(t *testing.T) {
	r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
	r.Intercept(func(hr *http.Request) http.HandlerFunc {
		if hr.Header.Get("Authorization") == "Bearer token-1" {
			return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
		}
		return nil
	})
	fetched := 0
	cfg := r.Config()
	cfg.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
		fetched++
		return client.Credential{Token: client.Secret(fmt.Sprintf("token-%d", fetched))}, nil
	})
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	out, err := remote.Command(client.For(c, pods), web, "echo", "x").Output(t.Context())
	if err != nil || string(out) != "x\n" || fetched != 2 {
		t.Errorf("Output: %q, %v; %d credentials", out, err, fetched)
	}
}
