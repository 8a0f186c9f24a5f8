// Exec runs a command in a container, with this program's input and outputs, and ends with the command's exit code.
//
//	go run ./examples/exec  # with nothing but Go: the API server is in the process, and its containers too
//	echo hello | go run ./examples/exec -kubeconfig FILE -pod NAME -input -- tr a-z A-Z
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

// Pod has the fields that fill writes.
type Pod struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		Containers []Container `json:"containers"`
	} `json:"spec"`
}

type Container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

var pods = client.Type[*Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

// run runs a command, and returns its exit code.
func run(ctx context.Context, cmd *remote.Cmd, out io.Writer) (code int, err error) {
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	err = cmd.Run(ctx)
	if exit, ok := errors.AsType[*remote.ExitError](err); ok {
		return exit.Code, nil
	}
	return 0, err
}

// demo runs three commands in a container whose programs are those of the function programs.
func demo(ctx context.Context, c *client.Client, out io.Writer) error {
	web := &Pod{Identity: meta.Identity{Namespace: "default", Name: "web"}}
	web.Spec.Containers = []Container{{Name: "app", Image: "none"}}
	r := client.For(c, pods)
	if _, err := r.Create(ctx, web); err != nil {
		return err
	}
	hostname, err := remote.Command(r, meta.KeyOf(web), "hostname").Output(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the host is %q\n", hostname)
	upper := remote.Command(r, meta.KeyOf(web), "tr", "a-z", "A-Z")
	upper.Stdin = strings.NewReader("hello from here\n")
	if _, err := run(ctx, upper, out); err != nil {
		return err
	}
	code, err := run(ctx, remote.Command(r, meta.KeyOf(web), "false"), out)
	fmt.Fprintln(out, "false has the exit code", code)
	return err
}

// programs runs a program of the demo's container.
func programs(_ context.Context, p *containers.Process) int {
	switch p.Args[0] {
	case "hostname":
		fmt.Fprintln(p.Stdout, p.Pod.Name)
	case "tr":
		input, err := io.ReadAll(p.Stdin)
		if err != nil {
			return 1
		}
		fmt.Fprint(p.Stdout, strings.ToUpper(string(input)))
	default:
		return 1
	}
	return 0
}

func main() {
	namespace := flag.String("namespace", "default", "the pod's namespace")
	name := flag.String("pod", "", "the pod's name")
	container := flag.String("container", "", "the container; may be empty if the pod has one")
	input := flag.Bool("input", false, "give the command this program's input")
	code := 0
	cluster.Example{
		Containers: &containers.Server{Run: programs},
		Demo:       func(ctx context.Context, c *client.Client) error { return demo(ctx, c, os.Stdout) },
		Work: func(ctx context.Context, c *client.Client) (err error) {
			cmd := remote.Command(client.For(c, pods), meta.Key{Namespace: *namespace, Name: *name}, flag.Args()...)
			cmd.Container = *container
			if *input {
				cmd.Stdin = os.Stdin
			}
			code, err = run(ctx, cmd, os.Stdout)
			return err
		},
	}.Main()
	os.Exit(code)
}
