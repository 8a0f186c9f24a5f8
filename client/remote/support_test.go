package remote_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
)

type pod struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            spec   `json:"spec"`
	Status          status `json:"status,omitzero"`
}

type spec struct {
	Containers []container `json:"containers"`
}

type container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

type status struct {
	Phase string `json:"phase,omitempty"`
}

var pods = client.Type[*pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

// web is a pod with one container, and many is one with several.
var (
	web  = meta.Key{Namespace: "default", Name: "web"}
	many = meta.Key{Namespace: "default", Name: "many"}
)

// rig is a server with two pods, and a handle on them.
type rig struct {
	*clienttest.Server
	client *client.Client
	pods   client.Resource[*pod]
}

func newRig(t testing.TB, c *containers.Server, o clienttest.Options) *rig {
	t.Helper()
	o.Containers = c
	r := &rig{Server: clienttest.Start(t, o)}
	var err error
	if r.client, err = client.New(r.Config()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.client.Close)
	r.pods = client.For(r.client, pods)
	for key, names := range map[meta.Key][]string{web: {"app"}, many: {"app", "sidecar"}} {
		p := &pod{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		for _, name := range names {
			p.Spec.Containers = append(p.Spec.Containers, container{Name: name, Image: "none"})
		}
		if _, err := r.pods.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// programs are what the containers of the tests have.
func programs(ctx context.Context, p *containers.Process) int {
	if p.Args == nil {
		fmt.Fprintf(p.Stdout, "attached to %s in %s\n", p.Container, p.Pod)
		_, _ = io.Copy(p.Stdout, p.Stdin)
		return 0
	}
	switch p.Args[0] {
	case "echo":
		fmt.Fprintln(p.Stdout, strings.Join(p.Args[1:], " "))
	case "cat":
		if _, err := io.Copy(p.Stdout, p.Stdin); err != nil {
			return 1
		}
	case "fail":
		fmt.Fprint(p.Stdout, "out")
		fmt.Fprint(p.Stderr, "it is broken")
		return 42
	case "sleep":
		<-ctx.Done()
		return 137
	case "stty":
		for size := range p.Sizes {
			fmt.Fprintf(p.Stdout, "%dx%d\n", size.Width, size.Height)
			if size.Width == 0 {
				break
			}
		}
	}
	return 0
}
