// Ensure keeps a Deployment as a ConfigMap says, from two copies of the program at once.
//
//	go run ./examples/ensure                       # with nothing but Go: the API server is in the process
//	go run ./examples/ensure -kubeconfig FILE -namespace web   # it makes a config map there, and deletes it
//
// Ensure creates an object that is not there and changes one that differs. Its outcome is Created, Updated or
// Unchanged, or NotKept with the fields in which the server's object still differs. Ensure compares only the fields of
// these small types. So a default that the server sets causes no second write, and fields that others have set stay.
// The ConfigMap owns the Deployment: when the ConfigMap is deleted, so is the Deployment.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

// Shop is the ConfigMap with the wanted state.
type Shop struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data"`
}

// Deployment has the fields that this program sets.
type Deployment struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Replicas int                `json:"replicas"`
		Selector meta.LabelSelector `json:"selector"`
		Template Template           `json:"template"`
	} `json:"spec"`
}

type Template struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Containers []Container `json:"containers"`
	} `json:"spec"`
}

type Container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// The resources on the server.
var (
	Shops       = client.Type[*Shop]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	Deployments = client.Type[*Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
)

// ensure creates or changes the deployment of a shop on the server, and returns the deployment and the outcome. A
// controller's reconcile has this form.
func ensure(ctx context.Context, c *client.Client, key meta.Key) (*Deployment, client.Ensured, error) {
	shop, err := client.For(c, Shops).Get(ctx, key)
	if err != nil {
		return nil, client.Ensured{}, err
	}
	labels := map[string]string{"shop": key.Name}
	want := &Deployment{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: labels}}
	want.Spec.Replicas = 2
	want.Spec.Selector.MatchLabels, want.Spec.Template.Labels = labels, labels
	want.Spec.Template.Spec.Containers = []Container{{Name: "shop", Image: shop.Data["image"]}}
	if err := client.SetController(want, client.OwnerOf(Shops, shop)); err != nil {
		return nil, client.Ensured{}, err
	}
	return client.For(c, Deployments).Ensure(ctx, want, client.EnsureOptions{})
}

// work makes a shop, has two copies of the program keep it, and lets somebody else write in between.
func work(ctx context.Context, c *client.Client, namespace string, out io.Writer) (err error) {
	shop := &Shop{Data: map[string]string{"image": "shop:1"}}
	shop.Namespace, shop.Name = namespace, "bowline-example-shop"
	if shop, err = client.For(c, Shops).Create(ctx, shop); err != nil {
		return err
	}
	key := meta.KeyOf(shop)
	defer func() { // the server's garbage collector deletes the deployment
		err = errors.Join(err, client.For(c, Shops).Delete(context.WithoutCancel(ctx), key, client.DeleteOptions{UID: shop.UID}))
	}()
	var did [2]client.Ensured
	var errs [2]error
	var copies sync.WaitGroup
	for i := range did {
		copies.Go(func() { _, did[i], errs[i] = ensure(ctx, c, key) })
	}
	copies.Wait()
	fmt.Fprintln(out, "one of two created it:", did[0].New != did[1].New)
	scaled, err := client.For(c, Deployments).Modify(ctx, key, func(d *Deployment) error {
		d.Labels["seen-by"], d.Spec.Replicas = "somebody", 5
		return nil
	})
	if err := errors.Join(errs[0], errs[1], err); err != nil {
		return err
	}
	fmt.Fprintln(out, "somebody scales it to", scaled.Spec.Replicas)
	for range 2 {
		d, did, err := ensure(ctx, c, key)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %d replicas with labels %v, owned by %s\n", did, d.Spec.Replicas, d.Labels, d.OwnerReferences[0].Kind)
	}
	return nil
}

func main() {
	namespace := flag.String("namespace", "default", "where the config map is made")
	cluster.Example{Work: func(ctx context.Context, c *client.Client) error {
		return work(ctx, c, *namespace, os.Stdout)
	}}.Main()
}
