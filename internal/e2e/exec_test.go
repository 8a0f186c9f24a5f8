package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestExec(t *testing.T) {
	r, key := newKubelet(t, "10.1.0.7", func(_ context.Context, p *process) int {
		switch {
		case p.args == nil:
			fmt.Fprintf(p.out, "attached to %s\n", p.container)
			_, _ = io.Copy(p.out, p.in)
		case p.args[0] == "cat":
			_, _ = io.Copy(p.out, p.in)
		case p.args[0] == "fail":
			fmt.Fprint(p.out, "out")
			fmt.Fprint(p.errors, "it is broken")
			return 42
		case p.args[0] == "stty":
			for size := range p.sizes {
				fmt.Fprintf(p.out, "%dx%d\n", size.Width, size.Height)
				if size.Width == 1 {
					break
				}
			}
		case p.args[0] == "write":
			_, _ = io.Copy(p.out, io.LimitReader(zeros{}, 64<<20))
		}
		return 0
	})
	command := func(args ...string) *remote.Cmd {
		c := remote.Command(r, key, args...)
		c.Container = "app"
		return c
	}
	t.Run("exit code", func(t *testing.T) {
		out, err := command("fail").Output(t.Context())
		exit := (*remote.ExitError)(nil)
		if !errors.As(err, &exit) || exit.Code != 42 || string(exit.Stderr) != "it is broken" || string(out) != "out" {
			t.Errorf("Output: %q, %v", out, err)
		}
	})
	t.Run("the end of the input", func(t *testing.T) {
		data := make([]byte, 16<<20)
		_, _ = rand.Read(data)
		cat := command("cat")
		cat.Stdin = bytes.NewReader(data)
		out, err := cat.Output(t.Context())
		if err != nil || !bytes.Equal(out, data) {
			t.Errorf("cat: %d bytes of %d, the same: %v; %v", len(out), len(data), bytes.Equal(out, data), err)
		}
	})
	t.Run("much output", func(t *testing.T) {
		n := counter(0)
		c := command("write")
		c.Stdout = &n
		if err := c.Run(t.Context()); err != nil || n != 64<<20 {
			t.Errorf("Run: %v; %d bytes", err, n)
		}
	})
	t.Run("terminal", func(t *testing.T) {
		sizes := make(chan remote.Size, 2)
		c := command("stty")
		c.TTY, c.Sizes = true, sizes
		sizes <- remote.Size{Width: 80, Height: 24}
		sizes <- remote.Size{Width: 1, Height: 2}
		if out, err := c.Output(t.Context()); err != nil || string(out) != "80x24\n1x2\n" {
			t.Errorf("Output: %q, %v", out, err)
		}
	})
	t.Run("attach", func(t *testing.T) {
		c := remote.Attach(r, key)
		c.Container, c.Stdin = "sidecar", strings.NewReader("hello")
		if out, err := c.Output(t.Context()); err != nil || string(out) != "attached to sidecar\nhello" {
			t.Errorf("Output: %q, %v", out, err)
		}
	})
	t.Run("200 at once", func(t *testing.T) {
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				c := command("cat")
				c.Stdin = strings.NewReader("hello")
				if out, err := c.Output(t.Context()); err != nil || string(out) != "hello" {
					t.Errorf("cat: %q, %v", out, err)
				}
			})
		}
		all.Wait()
	})
	t.Run("refusals", func(t *testing.T) {
		for name, tc := range map[string]struct {
			c    *remote.Cmd
			is   error
			want string
		}{
			"no container": {remote.Command(r, key, "cat"), apierrors.BadRequest, "choose one of: [app sidecar]"},
			"not one":      {func() *remote.Cmd { c := command("cat"); c.Container = "x"; return c }(), apierrors.BadRequest, "container x is not valid"},
			"not running": {
				func() *remote.Cmd { c := command("cat"); c.Container = "sidecar"; return c }(), apierrors.InternalError, `container not found ("sidecar")`,
			},
			"no pod": {remote.Command(r, meta.Key{Namespace: "default", Name: "none"}, "cat"), apierrors.NotFound, `pods "none" not found`},
		} {
			if err := tc.c.Run(t.Context()); !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", name, err, tc.want)
			}
		}
	})
	t.Run("forbidden", func(t *testing.T) {
		c := must(client.New(adminConfig()))(t)
		defer c.Close()
		for verb, missing := range map[string]string{"list": "get", "get": "create"} {
			user := "exec-" + verb
			create(t, client.For(c, clusterRoles), "", `{"metadata": {"name": "`+user+`"},
				"rules": [{"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["`+verb+`"]}]}`)
			create(t, client.For(c, clusterRoleBindings), "", `{"metadata": {"name": "`+user+`"},
				"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "`+user+`"},
				"subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "`+user+`"}]}`)
			u := must(client.New(userConfig(t, user)))(t)
			defer u.Close()
			eventually(t, func() error { // the authorizer learns of it by a watch
				err := remote.Command(client.For(u, pods), key, "cat").Run(t.Context())
				if want := fmt.Sprintf("cannot %s resource \"pods/exec\"", missing); !errors.Is(err, apierrors.Forbidden) || !strings.Contains(err.Error(), want) {
					return fmt.Errorf("with %s: %w, want %s", verb, err, want)
				}
				return nil
			})
		}
	})
	t.Run("the end of the context", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		in, w := io.Pipe()
		defer w.Close()
		c := command("cat")
		c.Stdin = in
		if err := c.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run: %v", err)
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
