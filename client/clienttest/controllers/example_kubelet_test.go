package controllers_test

import (
	"context"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/controllers"
	"github.com/bowline-go/bowline/client/meta"
)

// A pod runs until the test says that its container has ended.
func ExampleKubelet() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	server := clienttest.New(clienttest.Options{})
	served := make(chan error, 1)
	go func() { served <- server.Run(ctx) }()
	kubelet := controllers.NewKubelet(controllers.KubeletOptions{})
	ran := make(chan error, 1)
	go func() { ran <- controllers.Run(ctx, server.Config(), kubelet) }()

	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	pods := client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "Pod", Resource: "pods"})
	one := &meta.Unstructured{}
	err = one.UnmarshalJSON([]byte(`{"metadata": {"namespace": "default", "name": "one"},
		"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "task"}]}}`))
	if err == nil {
		_, err = pods.Create(ctx, one)
	}
	if err == nil {
		err = kubelet.Finish(ctx, meta.KeyOf(one), "main", 3)
	}
	if err == nil {
		one, err = pods.Get(ctx, meta.KeyOf(one))
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	phase, _, _ := meta.Nested[string](one, "status", "phase")
	fmt.Println(phase)
	stop()
	fmt.Println(<-ran, <-served)
	// Output:
	// Failed
	// <nil> <nil>
}
