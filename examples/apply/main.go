// Apply keeps a deployment as its configuration says, and leaves the fields of other managers alone.
//
//	go run ./examples/apply                       # with nothing but Go: the API server is in the process
//	go run ./examples/apply -kubeconfig FILE -namespace web   # it makes a deployment there, and deletes it
//
// The struct is this program's own, with the fields that it reads. Paths name the fields that the program sets: the
// server remembers that the program owns these, and refuses to change fields that belong to somebody else, here an
// autoscaler.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/examples/internal/cluster"
	"github.com/bowline-go/bowline/patch"
)

// Deployment has the fields that this program reads. Its JSON also has zeros, which does no harm, because paths name
// the fields to apply.
type Deployment struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Replicas int      `json:"replicas"`
		Selector Labels   `json:"selector"`
		Template Template `json:"template"`
	} `json:"spec"`
}

type Labels struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

type Template struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Containers []Container `json:"containers"`
	} `json:"spec"`
}

type Container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// Deployments is the resource on the server.
var Deployments = client.Type[*Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}

// run applies a configuration, meets another writer of the same object, and gives way.
func run(ctx context.Context, c *client.Client, namespace string, out io.Writer) (err error) {
	key := meta.Key{Namespace: namespace, Name: "bowline-example-web"}
	mine := client.For(c, Deployments).With(client.WriteOptions{FieldManager: "apply-example"})

	var want Deployment
	labels := map[string]string{"app": key.Name}
	want.Spec.Replicas, want.Spec.Selector.MatchLabels = 2, labels
	want.Spec.Template.Metadata.Labels = labels
	want.Spec.Template.Spec.Containers = []Container{{Name: "web", Image: "web:1"}}

	// The same call creates the object and changes it.
	pods := []string{"/spec/selector", "/spec/template"}
	all := append([]string{"/spec/replicas"}, pods...)
	made, err := mine.Apply(ctx, key, patch.Apply(want, all...), client.ApplyOptions{})
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, mine.Delete(context.WithoutCancel(ctx), key, client.DeleteOptions{UID: made.UID}))
	}()

	// Somebody else knows better how many replicas there should be.
	autoscaler := client.For(c, Deployments).With(client.WriteOptions{FieldManager: "autoscaler"})
	if _, err := autoscaler.Patch(ctx, key, patch.Merge(map[string]any{"spec": map[string]any{"replicas": 5}})); err != nil {
		return err
	}
	want.Spec.Template.Spec.Containers[0].Image = "web:2"
	_, err = mine.Apply(ctx, key, patch.Apply(want, all...), client.ApplyOptions{})
	for _, conflict := range apierrors.FieldConflicts(err) {
		fmt.Fprintf(out, "%s is owned by %s\n", conflict.Field, conflict.Manager)
	}
	if !errors.Is(err, apierrors.Conflict) {
		return fmt.Errorf("apply .spec.replicas, which the autoscaler owns: want a Conflict, got: %w", err)
	}

	// A configuration without the replicas has no conflict. ApplyOptions.Force would take the replicas back.
	got, err := mine.Apply(ctx, key, patch.Apply(want, pods...), client.ApplyOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d replicas of %s\n", got.Spec.Replicas, got.Spec.Template.Spec.Containers[0].Image)

	// A configuration that is known to be applied costs no request. A controller takes Known from its cache
	// (informer.Options.KeepManagedFields).
	again, err := mine.Apply(ctx, key, patch.Apply(want, pods...), client.ApplyOptions{Known: got})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "unchanged:", again.ResourceVersion == got.ResourceVersion)
	return nil
}

func main() {
	namespace := flag.String("namespace", "default", "where the deployment is")
	cluster.Example{Work: func(ctx context.Context, c *client.Client) error {
		return run(ctx, c, *namespace, os.Stdout)
	}}.Main()
}
