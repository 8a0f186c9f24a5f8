// Wait waits for a pod to be ready, and says what it saw last if that takes too long.
//
//	go run ./examples/wait                       # with nothing but Go: the API server is in the process
//	go run ./examples/wait -kubeconfig FILE -namespace web -pod a -timeout 2m
//
// WaitFor is one list and one watch of the one object. It outlives broken connections and restarts of the server, and
// misses no state in between; a pod that ends (Failed, Succeeded) is an error at once, and not when the time is over.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

// Pod has the fields that this program reads.
type Pod struct {
	meta.Identity `json:"metadata"`
	Status        struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// Pods is the resource on the server.
var Pods = client.Type[*Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

// wait waits until the pod is ready, and prints the outcome.
func wait(ctx context.Context, c *client.Client, key meta.Key, timeout time.Duration, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// The condition sees the object as it is on the wire: Pod need not have status.conditions.
	pod, err := client.WaitFor(ctx, client.For(c, Pods), key, client.UntilPodReady())
	if late, ok := errors.AsType[*client.WaitError](err); ok && errors.Is(err, context.DeadlineExceeded) {
		fmt.Fprintln(out, "not ready in time:", late.State)
		return err
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is ready, and its phase is %s\n", pod.Key(), pod.Status.Phase)
	return nil
}

// demo waits for a pod that does not exist, and then for one that another goroutine creates.
func demo(ctx context.Context, c *client.Client, out io.Writer) error {
	key := meta.Key{Namespace: "default", Name: "web"}
	if err := wait(ctx, c, key, 300*time.Millisecond, out); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	brought := make(chan error, 1)
	go func() { brought <- bring(ctx, c, key) }()
	return errors.Join(wait(ctx, c, key, time.Minute, out), <-brought)
}

// bring creates the pod and makes it ready, as a user, a scheduler and a kubelet do.
func bring(ctx context.Context, c *client.Client, key meta.Key) error {
	pods := client.For(c, client.Type[*meta.Unstructured](Pods))
	if _, err := pods.Create(ctx, &meta.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": key.Namespace, "name": key.Name},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "app", "image": "web:1"}}},
	}}); err != nil {
		return err
	}
	for _, ready := range []string{"False", "True"} {
		if _, err := pods.Status().Modify(ctx, key, func(pod *meta.Unstructured) error {
			return meta.SetNested(pod.Object, map[string]any{
				"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": ready}},
			}, "status")
		}); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	var key meta.Key
	flag.StringVar(&key.Namespace, "namespace", "default", "the pod's namespace")
	flag.StringVar(&key.Name, "pod", "web", "the pod's name")
	timeout := flag.Duration("timeout", time.Minute, "how long to wait")
	cluster.Example{
		Work: func(ctx context.Context, c *client.Client) error { return wait(ctx, c, key, *timeout, os.Stdout) },
		Demo: func(ctx context.Context, c *client.Client) error { return demo(ctx, c, os.Stdout) },
	}.Main()
}
