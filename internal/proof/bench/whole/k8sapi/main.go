// Command k8sapi lists the pods of the cluster, with the whole type of k8s.io/api.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
)

var pods = client.Type[*corev1.Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

func main() {
	path := flag.String("kubeconfig", "", "the kubeconfig `file`")
	flag.Parse()
	if err := run(context.Background(), *path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string) error {
	loaded, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	if err != nil {
		return err
	}
	c, err := client.New(loaded.Config)
	if err != nil {
		return err
	}
	n := 0
	for p, err := range client.For(c, pods).All(ctx, client.ListOptions{}) {
		if err != nil {
			return err
		}
		fmt.Println(p.Namespace, p.Name, len(p.Spec.Containers))
		n++
	}
	fmt.Println("pods:", n)
	return nil
}
