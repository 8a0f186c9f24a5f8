package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
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
	"github.com/bowline-go/bowline/patch"
)

// added waits until web has an ephemeral container, and returns it.
func (r *rig) added(t *testing.T) map[string]any {
	t.Helper()
	var c map[string]any
	_, err := client.WaitFor(t.Context(), r.pods, web, client.Condition{Name: "with a new container", Met: func(obj *meta.Raw) (bool, string, error) {
		all, _, err := meta.Nested[[]map[string]any](obj, "spec", "ephemeralContainers")
		if len(all) == 1 {
			c = all[0]
		}
		return len(all) == 1, "", err
	}})
	if err != nil {
		t.Error(err)
	}
	delete(c, "resources") // which the server adds
	return c
}

// setStatus merges a status into that of web, as its kubelet does.
func (r *rig) setStatus(t *testing.T, status string) {
	t.Helper()
	_, err := r.pods.Status().Patch(t.Context(), web, patch.Merge(map[string]any{"status": json.RawMessage(status)}))
	if err != nil {
		t.Error(err)
	}
}

// state returns the status of a pod with a container in a state.
func state(name any, state string) string {
	return `{"phase": "Running", "ephemeralContainerStatuses": [{"name": "` + name.(string) + `", "state": ` + state + `}]}`
}

func TestDebug(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
		in := strings.NewReader("hello")
		c := remote.Debug(r.pods, web, remote.DebugOptions{
			Image: "busybox", Target: "app", Command: []string{"sh"}, Args: []string{"-c", "cat"}, Env: map[string]string{"B": "2", "A": "1"},
		})
		c.Stdin = in
		var kubelet sync.WaitGroup
		kubelet.Go(func() {
			name := r.added(t)["name"]
			for _, s := range []string{`{"waiting": {"reason": "ContainerCreating"}}`, `{"waiting": {"reason": "ErrImagePull"}}`, `{"running": {}}`} {
				time.Sleep(time.Second)
				if in.Len() != len("hello") {
					t.Error("it has attached to a container that does not run")
				}
				r.setStatus(t, state(name, s))
			}
		})
		out, err := c.Output(t.Context())
		kubelet.Wait() // the command may end before the answer to its last report comes
		if want := "attached to " + c.Container + " in default/web\nhello"; err != nil || string(out) != want {
			t.Errorf("Output: %q, %v, want %q", out, err, want)
		}
		if !strings.HasPrefix(c.Container, "debug-") {
			t.Errorf("the container is %q", c.Container)
		}
		want := map[string]any{
			"name": c.Container, "image": "busybox", "targetContainerName": "app", "command": []any{"sh"}, "args": []any{"-c", "cat"},
			"env":   []any{map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "B", "value": "2"}},
			"stdin": true, "stdinOnce": true, "imagePullPolicy": "Always", "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
		}
		if got := r.added(t); !reflect.DeepEqual(got, want) {
			t.Errorf("the container is %v, want %v", got, want)
		}
	})
}

func TestDebugWithATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: func(_ context.Context, p *containers.Process) int {
			size := <-p.Sizes
			return int(size.Width)
		}}, clienttest.Options{})
		sizes := make(chan remote.Size, 1)
		sizes <- remote.Size{Width: 80, Height: 24}
		c := remote.Debug(r.pods, web, remote.DebugOptions{Image: "busybox", Name: "sh"})
		c.TTY, c.Sizes = true, sizes
		var kubelet sync.WaitGroup
		kubelet.Go(func() { r.setStatus(t, state(r.added(t)["name"], `{"running": {}}`)) })
		err := c.Run(t.Context())
		kubelet.Wait() // the command may end before the answer to its report comes
		if exit := (*remote.ExitError)(nil); !errors.As(err, &exit) || exit.Code != 80 {
			t.Errorf("Run: %v", err)
		}
		want := map[string]any{
			"name": "sh", "image": "busybox", "tty": true, "imagePullPolicy": "Always", "terminationMessagePath": "/dev/termination-log",
			"terminationMessagePolicy": "File",
		}
		if got := r.added(t); !reflect.DeepEqual(got, want) {
			t.Errorf("the container is %v, want %v", got, want)
		}
	})
}

func TestDebugOfAContainerThatDoesNotStart(t *testing.T) {
	for _, tc := range []struct {
		name   string
		happen func(*testing.T, *rig, any)
		want   []string
	}{
		{"no image", func(t *testing.T, r *rig, name any) {
			r.setStatus(t, state(name, `{"waiting": {"reason": "ImagePullBackOff", "message": "no \u001b[31msuch image"}}`))
		}, []string{"cannot start", "ImagePullBackOff: no such image"}},
		{"it has ended", func(t *testing.T, r *rig, name any) {
			r.setStatus(t, state(name, `{"terminated": {"reason": "Completed", "exitCode": 3}}`))
		}, []string{"has ended with exit code 3: Completed"}},
		{"the pod has ended", func(t *testing.T, r *rig, _ any) { r.setStatus(t, `{"phase": "Failed"}`) }, []string{"the pod has ended, with phase Failed"}},
		{"the pod is gone", func(t *testing.T, r *rig, _ any) {
			if err := r.pods.Delete(t.Context(), web, client.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}, []string{"the pod is"}},
		{
			"another container runs", func(t *testing.T, r *rig, _ any) { r.setStatus(t, state("other", `{"running": {}}`)) },
			[]string{context.DeadlineExceeded.Error(), "the container has no state yet"},
		},
		{"nothing happens", func(*testing.T, *rig, any) {}, []string{context.DeadlineExceeded.Error(), "the container has no state yet"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
				r.setStatus(t, `{"phase": "Running"}`)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				c := remote.Debug(r.pods, web, remote.DebugOptions{Image: "busybox"})
				out, err := c.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				happened := make(chan struct{})
				go func() {
					defer close(happened)
					tc.happen(t, r, r.added(t)["name"])
				}()
				err = c.Start(ctx)
				<-happened
				if wait := (*client.WaitError)(nil); !errors.As(err, &wait) || wait.Key != web {
					t.Fatalf("Start: %v", err)
				}
				for _, want := range append(tc.want, `wait for pods "default/web" to be running container "debug-`) {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("the error is %q, and lacks %q", err, want)
					}
				}
				if _, err := out.Read(make([]byte, 1)); err == nil {
					t.Error("the pipe is open")
				}
			})
		})
	}
}

func TestDebugThatIsRefused(t *testing.T) {
	forbid := func(verb, subresource string) clienttest.Options {
		return clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) { return a.Verb != verb || a.Subresource != subresource, "no" }}
	}
	for _, tc := range []struct {
		name    string
		options clienttest.Options
		debug   remote.DebugOptions
		edit    func(*remote.Cmd, *rig) *remote.Cmd
		is      error
		want    string
	}{
		{name: "no image", want: "remote.DebugOptions: Image must be set"},
		{name: "a bad name", debug: remote.DebugOptions{Image: "i", Name: "a/b"}, want: "remote.DebugOptions: Name"},
		{name: "a bad target", debug: remote.DebugOptions{Image: "i", Target: ".."}, want: "remote.DebugOptions: Target"},
		{name: "a bad variable", debug: remote.DebugOptions{Image: "i", Env: map[string]string{"A=B": ""}}, want: `got "A=B"`},
		{
			name: "a container", debug: remote.DebugOptions{Image: "i"}, want: "Container must be empty",
			edit: func(c *remote.Cmd, _ *rig) *remote.Cmd { c.Container = "app"; return c },
		},
		{
			name: "no pod", is: apierrors.NotFound, want: `patch pods/ephemeralcontainers "default/none"`,
			edit: func(_ *remote.Cmd, r *rig) *remote.Cmd {
				return remote.Debug(r.pods, meta.Key{Namespace: "default", Name: "none"}, remote.DebugOptions{Image: "i"})
			},
		},
		{
			name: "without patch", options: forbid("patch", "ephemeralcontainers"), debug: remote.DebugOptions{Image: "i"}, is: apierrors.Forbidden,
			want: `cannot patch resource "pods/ephemeralcontainers"`,
		},
		{name: "without list", options: forbid("list", ""), debug: remote.DebugOptions{Image: "i"}, is: apierrors.Forbidden, want: `cannot list resource "pods"`},
		{
			name: "a dry run", debug: remote.DebugOptions{Image: "i"}, want: "was it a dry run?",
			edit: func(_ *remote.Cmd, r *rig) *remote.Cmd {
				return remote.Debug(r.pods.With(client.WriteOptions{DryRun: true}), web, remote.DebugOptions{Image: "i"})
			},
		},
		{
			name: "the zero handle", want: "zero Resource",
			edit: func(_ *remote.Cmd, _ *rig) *remote.Cmd {
				return remote.Debug(client.Resource[*pod]{}, web, remote.DebugOptions{Image: "i"})
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, &containers.Server{Run: programs}, tc.options)
			c := remote.Debug(r.pods, web, tc.debug)
			if tc.edit != nil {
				c = tc.edit(c, r)
			}
			c.Stdout = io.Discard
			err := c.Run(t.Context())
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Run: %v, want %q", err, tc.want)
			}
		})
	}
}

// Two programs debug one pod at once: neither loses its container.
func TestTwoProgramsDebugOnePod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
		r.setStatus(t, `{"phase": "Running", "ephemeralContainerStatuses": [{"name": "a", "state": {"running": {}}}, {"name": "b", "state": {"running": {}}}]}`)
		errs := make(chan error, 2)
		for _, name := range []string{"a", "b"} {
			go func() {
				out, err := remote.Debug(r.pods, web, remote.DebugOptions{Image: "i", Name: name}).Output(t.Context())
				if want := "attached to " + name + " in default/web\n"; string(out) != want {
					t.Errorf("the output is %q, want %q", out, want)
				}
				errs <- err
			}()
		}
		for range 2 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
}
