package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
)

// becomes waits for an ephemeral container that has no status, and sets its state, as the pod's kubelet does.
func becomes(ctx context.Context, r client.Resource[object], key meta.Key, state string) error {
	waiting := func(obj map[string]any) (name string, statuses []any) {
		statuses, _, _ = meta.Nested[[]any](obj, "status", "ephemeralContainerStatuses")
		all, _, _ := meta.Nested[[]map[string]any](obj, "spec", "ephemeralContainers")
		for _, c := range all {
			if !slices.ContainsFunc(statuses, func(s any) bool { return s.(map[string]any)["name"] == c["name"] }) {
				name = c["name"].(string)
			}
		}
		return name, statuses
	}
	_, err := client.WaitFor(ctx, r, key, client.Condition{Name: "with a new container", Met: func(obj *meta.Raw) (bool, string, error) {
		all, _, err := meta.Nested[map[string]any](obj)
		if err != nil {
			return false, "", err
		}
		name, _ := waiting(all)
		return name != "", "", nil
	}})
	if err != nil {
		return err
	}
	_, err = r.Status().Modify(ctx, key, func(pod object) error {
		name, statuses := waiting(pod.Object)
		statuses = append(slices.Clone(statuses), map[string]any{
			"name": name, "image": "none", "imageID": "none", "ready": false, "restartCount": 0, "state": map[string]any{state: map[string]any{}},
		})
		return meta.SetNested(pod.Object, statuses, "status", "ephemeralContainerStatuses")
	})
	return err
}

// A user who has the permissions that the documentation names, and no other.
func TestDebug(t *testing.T) {
	r, key := newKubelet(t, "10.1.0.9", programs)
	c := open(t, adminConfig())
	permit(t, c, "debugger", `[{"apiGroups": [""], "resources": ["pods/ephemeralcontainers"], "verbs": ["patch"]},
		{"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]},
		{"apiGroups": [""], "resources": ["pods/attach"], "verbs": ["get", "create"]}]`)
	mine := client.For(open(t, userConfig(t, "debugger")), pods)
	eventually(t, func() error { // the authorizer learns of it by a watch
		_, err := mine.List(t.Context(), client.ListOptions{Namespace: key.Namespace})
		return err
	})
	for range 2 { // the second one is added to the first
		ctx, cancel := context.WithCancelCause(t.Context())
		set := make(chan error, 1)
		go func() {
			err := becomes(ctx, r, key, "running")
			if err != nil {
				cancel(err)
			}
			set <- err
		}()
		d := remote.Debug(mine, key, remote.DebugOptions{
			Image: "busybox", Target: "app", Command: []string{"sh"}, Args: []string{"-c", "cat"}, Env: map[string]string{"A": "1"},
		})
		d.Stdin = strings.NewReader("hello")
		out, err := d.Output(ctx)
		if want := fmt.Sprintf("attached to %s\nhello", d.Container); err != nil || string(out) != want {
			t.Errorf("Output: %q, %v, want %q", out, err, want)
		}
		if err := <-set; err != nil {
			t.Error(err)
		}
		cancel(nil)
	}
	pod := must(r.Get(t.Context(), key))(t)
	equal(t, "the number of containers", len(nested[[]any](t, pod, "spec", "ephemeralContainers")), 2)

	for name, tc := range map[string]struct {
		o    remote.DebugOptions
		is   error
		want string
	}{
		"no such target": {remote.DebugOptions{Image: "busybox", Target: "none"}, apierrors.Invalid, "targetContainerName"},
		"a name in use":  {remote.DebugOptions{Image: "busybox", Name: "app"}, apierrors.Invalid, `Duplicate value: "app"`},
		"a bad name":     {remote.DebugOptions{Image: "busybox", Name: "A_B"}, apierrors.Invalid, "name"},
	} {
		if err := remote.Debug(mine, key, tc.o).Run(t.Context()); !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
