// Logs prints the logs of all containers of the pods that a selector selects, as they are written. It goes on when a
// container restarts, and includes pods that are created later.
//
//	go run ./examples/logs  # with nothing but Go: the API server is in the process, and its containers too
//	go run ./examples/logs -kubeconfig FILE -selector app=web -tail 10
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
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

// Pod has the fields that the demo writes. Printing logs needs none of them.
type Pod struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Containers []Container `json:"containers"`
	} `json:"spec"`
	Status Status `json:"status,omitzero"`
}

type Container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

type Status struct {
	ContainerStatuses []ContainerStatus `json:"containerStatuses,omitempty"`
}

type ContainerStatus struct {
	Name        string `json:"name"`
	ContainerID string `json:"containerID"`
	State       State  `json:"state"`
}

type State struct {
	Running *struct{} `json:"running,omitempty"`
}

var pods = client.Type[*Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

// run prints lines until n are printed, or for ever if n is 0.
func run(ctx context.Context, c *client.Client, o remote.TailOptions, n int, out io.Writer) error {
	printed := 0
	for line, err := range remote.Tail(ctx, client.For(c, pods), o) {
		if errors.As(err, new(*remote.LogError)) { // the log of one container has failed; the others go on
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s %s/%s: %s\n", line.Time.Format(time.RFC3339Nano), line.Pod.Name, line.Container, line.Text)
		if printed++; printed == n {
			break
		}
	}
	return nil
}

// demo starts two pods, which write to logs, and prints what they write.
func demo(ctx context.Context, c *client.Client, logs *containers.Logs, out io.Writer) error {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for i, name := range []string{"web-0", "web-1"} {
		pod := &Pod{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}}}
		pod.Spec.Containers = []Container{{Name: "app", Image: "none"}}
		log := logs.Of(meta.KeyOf(pod), "app")
		for k := range 3 {
			log.Add(containers.Entry{Time: noon.Add(time.Duration(2*k+i) * time.Second), Text: fmt.Sprint("request ", 2*k+i)})
		}
		r := client.For(c, pods)
		if _, err := r.Create(ctx, pod); err != nil {
			return err
		}
		_, err := r.Status().Modify(ctx, meta.KeyOf(pod), func(p *Pod) error { // as a kubelet does when the container runs
			p.Status.ContainerStatuses = []ContainerStatus{{Name: "app", ContainerID: "demo://" + name, State: State{Running: &struct{}{}}}}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return run(ctx, c, remote.TailOptions{Namespace: "default", LabelSelector: "app=web"}, 6, out)
}

func main() {
	o := remote.TailOptions{}
	flag.StringVar(&o.Namespace, "namespace", "default", "the pods' namespace")
	flag.StringVar(&o.LabelSelector, "selector", "", "the label selector of the pods; empty is all of them")
	flag.IntVar(&o.Tail, "tail", 0, "how many lines of the past to print for each container; 0 is all, -1 is none")
	logs := new(containers.Logs)
	cluster.Example{
		Containers: &containers.Server{Logs: logs.Serve},
		Demo:       func(ctx context.Context, c *client.Client) error { return demo(ctx, c, logs, os.Stdout) },
		Work:       func(ctx context.Context, c *client.Client) error { return run(ctx, c, o, 0, os.Stdout) },
	}.Main()
}
