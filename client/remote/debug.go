package remote

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/shown"
	"github.com/bowline-go/bowline/patch"
)

// DebugOptions describe the container that [Debug] adds. Only Image is required.
type DebugOptions struct {
	// Image is the container's image.
	Image string
	// Name is the container's name, which no other container of the pod may have; empty means "debug-" and a random
	// suffix.
	Name string
	// Target is the container whose processes the new one sees; empty means none. The runtime must support it.
	Target string
	// Command replaces the image's entry point, and Args its arguments; nil keeps those of the image.
	Command, Args []string
	// Env adds variables to the container's environment.
	Env map[string]string
}

// Debug returns a Cmd whose Start adds an ephemeral container to a running pod, waits until the container runs, and
// attaches to it. Start sets Container to the container's name. The container has an input if Stdin is set, and a
// terminal if TTY is set.
//
//	sh := remote.Debug(pods, key, remote.DebugOptions{Image: "busybox"})
//	sh.Stdin, sh.Stdout, sh.TTY = os.Stdin, os.Stdout, true
//	err := sh.Run(ctx)
//
// An ephemeral container cannot be removed from its pod and cannot be restarted. Its input ends with the connection, so
// a shell in it ends too. Output from before Start attached is only in the container's log. A runtime does not send the
// exit code to an attached client; the pod's status has it.
//
// Start returns a [*client.WaitError] if the container cannot start, such as when its image cannot be pulled; if it has
// ended; or if the pod has ended, is being deleted or is gone. While the pod waits for a node or for its other
// containers, Start waits too, until ctx ends.
//
// Debug needs the permission patch on pods/ephemeralcontainers, list and watch on pods, and those of [Attach].
func Debug[T meta.Object](pods client.Resource[T], key meta.Key, o DebugOptions) *Cmd {
	c := Attach(pods, key)
	if c.refuse == nil {
		c.refuse = o.validate()
	}
	c.before = func(ctx context.Context) error { return addContainer(ctx, pods, c, o) }
	return c
}

func (o DebugOptions) validate() error {
	if o.Image == "" {
		return errors.New("remote.DebugOptions: Image must be set")
	}
	for field, name := range map[string]string{"Name": o.Name, "Target": o.Target} {
		if name == "" {
			continue
		}
		if err := meta.ValidSegment("container", name); err != nil {
			return fmt.Errorf("remote.DebugOptions: %s: %w", field, err)
		}
	}
	for name := range o.Env {
		if name == "" || strings.Contains(name, "=") {
			return fmt.Errorf("remote.DebugOptions: Env must have names without %q as keys, got %q", "=", name)
		}
	}
	return nil
}

// ephemeralContainer has the fields of a container that Debug writes.
type ephemeralContainer struct {
	Name                string     `json:"name"`
	Image               string     `json:"image"`
	TargetContainerName string     `json:"targetContainerName,omitempty"`
	Command             []string   `json:"command,omitempty"`
	Args                []string   `json:"args,omitempty"`
	Env                 []variable `json:"env,omitempty"`
	Stdin               bool       `json:"stdin,omitempty"`
	StdinOnce           bool       `json:"stdinOnce,omitempty"`
	TTY                 bool       `json:"tty,omitempty"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// addContainer adds the container, and returns once it runs.
func addContainer[T meta.Object](ctx context.Context, pods client.Resource[T], c *Cmd, o DebugOptions) error {
	added := ephemeralContainer{
		Name: o.Name, Image: o.Image, TargetContainerName: o.Target, Command: o.Command, Args: o.Args,
		Stdin: c.Stdin != nil, StdinOnce: c.Stdin != nil, TTY: c.TTY,
	}
	added.Name = cmp.Or(added.Name, "debug-"+strings.ToLower(rand.Text()[:8]))
	for _, name := range slices.Sorted(maps.Keys(o.Env)) {
		added.Env = append(added.Env, variable{name, o.Env[name]})
	}
	// A strategic merge patch merges the list by name, so there are no conflicts with other writers, and sending the
	// patch twice is harmless.
	pod, err := client.SubOf[*meta.Partial](pods, "ephemeralcontainers").Patch(ctx, c.key, patch.Strategic(map[string]any{
		"spec": map[string]any{"ephemeralContainers": []any{added}},
	}))
	if err != nil {
		return err
	}
	c.Container = added.Name
	running := client.Condition{Name: fmt.Sprintf("running container %q", added.Name), Met: func(obj *meta.Raw) (bool, string, error) {
		if obj == nil || obj.UID != pod.UID {
			return false, "", errors.New("the pod is gone")
		}
		return started(obj, added.Name)
	}}
	_, err = client.WaitFor(ctx, pods, meta.KeyOf(pod), running)
	return err
}

// cannotStart are the waiting reasons that make Debug give up. ErrImagePull is not one of them: the kubelet retries the
// pull before it reports ImagePullBackOff.
var cannotStart = []string{
	"ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError", "ErrInvalidImageName", "SignatureValidationFailed",
	"CreateContainerConfigError", "CreateContainerError", "RunContainerError",
}

// started reports whether an ephemeral container runs, and describes its state. The error says why it will not run.
func started(obj *meta.Raw, name string) (met bool, state string, err error) {
	var pod struct {
		Spec struct {
			EphemeralContainers []struct{ Name string }
		}
		Status struct {
			Phase                      string
			EphemeralContainerStatuses []struct {
				Name  string
				State debugState
			}
		}
	}
	if err := readRaw(obj, &pod); err != nil {
		return false, "", err
	}
	there := slices.Contains(pod.Spec.EphemeralContainers, struct{ Name string }{name})
	phase := shown.Text(pod.Status.Phase)
	var now debugState
	for _, c := range pod.Status.EphemeralContainerStatuses {
		if c.Name == name {
			now = c.State
		}
	}
	state = "the pod has phase " + phase + ", and the container " + now.String()
	switch {
	case !there:
		return false, state, errors.New("the pod does not have the container, although the server has accepted it; was it a dry run?")
	case now.Terminated != nil:
		return false, state, fmt.Errorf("the container %s", now)
	case now.Waiting != nil && slices.Contains(cannotStart, now.Waiting.Reason):
		return false, state, fmt.Errorf("the container cannot start: it %s", now)
	case phase == "Succeeded" || phase == "Failed":
		return false, state, fmt.Errorf("the pod has ended, with phase %s", phase)
	case now.Running != nil:
		return true, state, nil
	case obj.DeletionTimestamp != nil:
		return false, state, errors.New("the pod is being deleted")
	}
	return false, state, nil
}

// debugState is the state of a container. At most one field is set.
type debugState struct {
	Waiting    *struct{ Reason, Message string }
	Running    *struct{}
	Terminated *struct {
		ExitCode        int
		Reason, Message string
	}
}

func (s debugState) String() string {
	text := func(reason, message string) string {
		if message == "" {
			return shown.Text(reason)
		}
		return shown.Text(reason + ": " + message)
	}
	switch {
	case s.Running != nil:
		return "runs"
	case s.Terminated != nil:
		return fmt.Sprintf("has ended with exit code %d: %s", s.Terminated.ExitCode, text(s.Terminated.Reason, s.Terminated.Message))
	case s.Waiting != nil && s.Waiting.Reason != "":
		return "waits: " + text(s.Waiting.Reason, s.Waiting.Message)
	}
	return "has no state yet"
}
