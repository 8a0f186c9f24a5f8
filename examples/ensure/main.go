// Ensure keeps a Deployment and its Service as one ConfigMap says, from two copies of the program at once.
//
//	go run ./examples/ensure                       # with nothing but Go: the API server is in the process
//	go run ./examples/ensure -kubeconfig FILE -namespace web -name shop
//
// Ensure creates what is not there and changes what is otherwise, and says which. It compares only what these small types say, so
// that what the server fills in causes no second write, and what others have set stays. The parts are owned by the ConfigMap:
// they go with it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/client/meta"
)

type (
	// Shop is the ConfigMap that says what there should be.
	Shop struct {
		meta.ObjectMeta `json:"metadata"`
		Data            struct {
			Image    string `json:"image,omitempty"`
			Replicas string `json:"replicas,omitempty"`
		} `json:"data"`
	}
	// Deployment has what this program sets.
	Deployment struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			Replicas int                `json:"replicas"`
			Selector meta.LabelSelector `json:"selector"`
			Template struct {
				meta.ObjectMeta `json:"metadata"`
				Spec            struct {
					Containers []Container `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	// Container is a container.
	Container struct {
		Name  string `json:"name"`
		Image string `json:"image"`
	}
	// Service has what this program sets.
	Service struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			Selector map[string]string `json:"selector"`
			Ports    []Port            `json:"ports"`
		} `json:"spec"`
	}
	// Port is a port of a service.
	Port struct {
		Port int `json:"port"`
	}
)

// Where the server has them.
var (
	Shops       = client.Type[*Shop]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	Deployments = client.Type[*Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	Services    = client.Type[*Service]{Version: "v1", Kind: "Service", Resource: "services"}
)

// ensure makes the parts of a shop what they should be, and returns what had to be done.
func ensure(ctx context.Context, c *client.Client, key meta.Key) (deployed, served client.Outcome, err error) {
	shop, err := client.For(c, Shops).Get(ctx, key)
	if err != nil {
		return deployed, served, err
	}
	replicas, err := strconv.Atoi(shop.Data.Replicas)
	if err != nil {
		return deployed, served, fmt.Errorf("replicas of %s: %w", key, err)
	}
	part := meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{"shop": key.Name}}
	deployment, service := &Deployment{ObjectMeta: part}, &Service{ObjectMeta: part}
	deployment.Spec.Replicas = replicas
	deployment.Spec.Selector.MatchLabels = part.Labels
	deployment.Spec.Template.Labels = part.Labels
	deployment.Spec.Template.Spec.Containers = []Container{{Name: "shop", Image: shop.Data.Image}}
	service.Spec.Selector, service.Spec.Ports = part.Labels, []Port{{80}}
	owner := client.OwnerOf(Shops, shop)
	if err := errors.Join(client.Owned(deployment, owner), client.Owned(service, owner)); err != nil {
		return deployed, served, err
	}
	if _, deployed, err = client.For(c, Deployments).Ensure(ctx, deployment); err == nil {
		_, served, err = client.For(c, Services).Ensure(ctx, service)
	}
	return deployed, served, err
}

// demo runs two copies of the program, and lets others write in between.
func demo(ctx context.Context, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	server := clienttest.New(clienttest.Options{})
	served := make(chan error, 1)
	go func() { served <- server.Run(ctx) }()
	c, err := client.New(server.Config())
	if err == nil {
		err = play(ctx, c, out)
		c.Close()
	}
	stop()
	return errors.Join(err, <-served)
}

func play(ctx context.Context, c *client.Client, out io.Writer) error {
	key := meta.Key{Namespace: "default", Name: "shop"}
	shop := &Shop{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	shop.Data.Image, shop.Data.Replicas = "shop:1", "2"
	if _, err := client.For(c, Shops).Create(ctx, shop); err != nil {
		return err
	}
	var errs [2]error
	var created [2]bool
	var copies sync.WaitGroup
	for i := range errs {
		copies.Go(func() {
			deployed, _, err := ensure(ctx, c, key)
			errs[i], created[i] = err, deployed == client.Created
		})
	}
	copies.Wait()
	fmt.Fprintln(out, "one of two created it:", created[0] != created[1])

	deployments := client.For(c, Deployments)
	scaled, err := deployments.Modify(ctx, key, func(d *Deployment) error {
		d.Labels["seen-by"], d.Spec.Replicas = "somebody", 5
		return nil
	})
	if err := errors.Join(errs[0], errs[1], err); err != nil {
		return err
	}
	fmt.Fprintln(out, "somebody scales it to", scaled.Spec.Replicas)
	for range 2 {
		deployed, served, err := ensure(ctx, c, key)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "deployment:", deployed, "service:", served)
	}
	got, err := deployments.Get(ctx, key)
	if err == nil {
		fmt.Fprintln(out, got.Spec.Replicas, "replicas, owned by", got.OwnerReferences[0].Kind, got.OwnerReferences[0].Name, "with labels", got.Labels)
	}
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	file := flag.String("kubeconfig", "", "use the cluster of this `file` instead of a server in the process")
	name := flag.String("context", "", "the kubeconfig's context; empty is its current one")
	var key meta.Key
	flag.StringVar(&key.Namespace, "namespace", "default", "the ConfigMap's namespace")
	flag.StringVar(&key.Name, "name", "shop", "the ConfigMap's name; its data has image and replicas")
	flag.Parse()
	var err error
	if *file == "" && *name == "" {
		err = demo(ctx, os.Stdout)
	} else if loaded, e := kubeconfig.Load(kubeconfig.Options{Path: *file, Context: *name}); e != nil {
		err = e
	} else if c, e := client.New(loaded.Config); e != nil {
		err = e
	} else {
		var deployed, served client.Outcome
		if deployed, served, err = ensure(ctx, c, key); err == nil {
			fmt.Println("deployment:", deployed, "service:", served)
		}
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "ensure:", err)
		os.Exit(1)
	}
}
