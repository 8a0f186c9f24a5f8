package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
)

// A kubelet of before 1.36 speaks SPDY, which the API server translates.
func TestExec(t *testing.T) {
	r, key := newKubelet(t, "10.1.0.7", programs)
	execs(t, r, key)
}

// A kubelet of 1.36 and later takes WebSockets (KEP 4006), and the API server passes them on.
func TestExecReachesAKubeletWithWebSockets(t *testing.T) {
	runtime := httptest.NewServer(&kubelet{run: programs})
	defer runtime.Close()
	k := &kubelet{run: programs, runtime: runtime}
	r, key := startKubelet(t, "10.1.0.8", k)
	execs(t, r, key)
	if k.translated.Load() == 0 {
		t.Error("the kubelet got no WebSocket")
	}
}

// programs are what the containers have.
func programs(_ context.Context, p *process) int {
	if p.args == nil {
		fmt.Fprintf(p.out, "attached to %s\n", p.container)
		_, _ = io.Copy(p.out, p.in)
		return 0
	}
	switch p.args[0] {
	case "cat":
		_, _ = io.Copy(p.out, p.in)
	case "fail":
		fmt.Fprint(p.out, "out")
		fmt.Fprint(p.errors, "it is broken")
		return 42
	case "stty":
		for size := range p.sizes {
			fmt.Fprintf(p.out, "%dx%d\n", size.Width, size.Height)
			if size.Width == 1 {
				break
			}
		}
	case "both": // reads and writes as much, and says what it has read
		read := make(chan []byte, 1)
		go func() {
			sum := sha256.New()
			_, _ = io.Copy(sum, p.in)
			read <- sum.Sum(nil)
		}()
		size, _ := strconv.Atoi(p.args[1])
		_, _ = io.Copy(p.out, io.LimitReader(&counting{seed: 1}, int64(size)))
		fmt.Fprintf(p.errors, "%x", <-read)
	}
	return 0
}

func execs(t *testing.T, r client.Resource[object], key meta.Key) {
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
	t.Run("1 GB each way at once", func(t *testing.T) {
		const size = 1 << 30
		sum := func(seed uint64) string {
			sum := sha256.New()
			_, _ = io.Copy(sum, io.LimitReader(&counting{seed: seed}, size))
			return fmt.Sprintf("%x", sum.Sum(nil))
		}
		c := command("both", strconv.Itoa(size))
		out := sha256.New()
		var read bytes.Buffer
		c.Stdin, c.Stdout, c.Stderr = io.LimitReader(&counting{seed: 2}, size), out, &read
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprintf("%x", out.Sum(nil)), sum(1); got != want {
			t.Errorf("the output is %s, want %s", got, want)
		}
		if got, want := read.String(), sum(2); got != want {
			t.Errorf("the input was %s, want %s", got, want)
		}
	})
	t.Run("terminal", func(t *testing.T) {
		const n = 100
		sizes := make(chan remote.Size)
		c := command("stty")
		c.TTY, c.Sizes = true, sizes
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for i := range n { // a kubelet keeps the latest of several that have not been read
			size := remote.Size{Width: uint16(n - i), Height: uint16(i)}
			sizes <- size
			if want := fmt.Sprintf("%dx%d", size.Width, size.Height); !lines.Scan() || lines.Text() != want {
				t.Fatalf("the terminal is %q, want %q", lines.Text(), want)
			}
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
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
		for verb, want := range map[string]string{"list": `cannot get resource "pods/exec"`, "get": "permission create on pods/exec"} {
			user := "exec-" + verb + "-" + key.Name
			permit(t, c, user, `[{"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["`+verb+`"]}]`)
			u := open(t, userConfig(t, user))
			eventually(t, func() error { // the authorizer learns of it by a watch
				err := remote.Command(client.For(u, pods), key, "cat").Run(t.Context())
				if !errors.Is(err, apierrors.Forbidden) || !strings.Contains(err.Error(), want) {
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

// permit lets a user do what the rules say.
func permit(t *testing.T, c *client.Client, user, rules string) {
	t.Helper()
	create(t, client.For(c, clusterRoles), "", `{"metadata": {"name": "`+user+`"}, "rules": `+rules+`}`)
	create(t, client.For(c, clusterRoleBindings), "", `{"metadata": {"name": "`+user+`"},
		"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "`+user+`"},
		"subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "`+user+`"}]}`)
}

// counting is 8 bytes of a number, and 8 of the next one, and so on.
type counting struct {
	seed uint64
	rest []byte
}

func (c *counting) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(c.rest) == 0 {
			c.rest = make([]byte, 0, 8<<10)
			for range cap(c.rest) / 8 {
				c.rest = binary.LittleEndian.AppendUint64(c.rest, c.seed)
				c.seed++
			}
		}
		m := copy(p[n:], c.rest)
		n, c.rest = n+m, c.rest[m:]
	}
	return n, nil
}
