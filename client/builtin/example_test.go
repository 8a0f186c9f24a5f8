package builtin_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/apps"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// web is a deployment of one container.
func web(image string) *apps.Deployment {
	labels := map[string]string{"app": "web"}
	return &apps.Deployment{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: apps.DeploymentSpec{
			Selector: meta.LabelSelector{MatchLabels: labels},
			Template: core.PodTemplateSpec{
				ObjectMeta: meta.ObjectMeta{Labels: labels},
				Spec: core.PodSpec{Containers: []core.Container{{
					Name: "web", Image: image,
					Ports:     []core.ContainerPort{{Name: "http", ContainerPort: 8080}},
					Resources: core.ResourceRequirements{Requests: map[string]meta.Quantity{"cpu": meta.MustQuantity("250m")}},
				}}},
			},
		},
	}
}

// A program that wants a deployment writes what it wants with the whole types of the group.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	server := clienttest.New(clienttest.Options{})
	ended := make(chan error)
	go func() { ended <- server.Run(ctx) }()
	defer func() { stop(); <-ended }()
	c, err := client.New(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	deployments := client.For(c, apps.Deployments())
	for _, image := range []string{"web:1", "web:1", "web:2"} {
		d, did, err := deployments.Ensure(ctx, web(image), client.EnsureOptions{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(did.Outcome, d.Spec.Template.Spec.Containers[0].Image, d.Spec.Strategy.Type == apps.DeploymentStrategyTypeRollingUpdate)
	}
	// Output:
	// Created web:1 true
	// Unchanged web:1 true
	// Updated web:2 true
}
