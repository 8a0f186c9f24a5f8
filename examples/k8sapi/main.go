package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/informer"
)

func main() {
	path := flag.String("kubeconfig", "", "read the pods of the cluster that this `file` names")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := run(ctx, *path, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "k8sapi:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string, out io.Writer) error {
	if path != "" {
		loaded, err := kubeconfig.Load(kubeconfig.Options{Path: path})
		if err != nil {
			return err
		}
		return show(ctx, loaded.Config, out)
	}
	ctx, cancel := context.WithCancel(ctx)
	server := clienttest.New(clienttest.Options{})
	return informer.Run(ctx, server, informer.RunnerFunc(func(ctx context.Context) error {
		defer cancel() // the server's work is done
		if err := seed(ctx, server.Config()); err != nil {
			return err
		}
		return show(ctx, server.Config(), out)
	}))
}

// seed creates pods and moves them to their nodes.
func seed(ctx context.Context, config client.Config) error {
	c, err := client.New(config)
	if err != nil {
		return err
	}
	pods := client.For(c, pods)
	for i, name := range []string{"web-0", "web-1", "web-2"} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}},
			Spec: corev1.PodSpec{
				NodeName:   []string{"node-a", "node-b"}[i%2],
				Containers: []corev1.Container{{Name: "web", Image: "nginx"}},
			},
		}
		created, err := pods.Create(ctx, pod)
		if err != nil {
			return err
		}
		created.Status.Phase = corev1.PodRunning
		if _, err := pods.Status().Update(ctx, created); err != nil {
			return err
		}
	}
	return nil
}

// show prints the pods of each node out of an informer's cache.
func show(ctx context.Context, config client.Config, out io.Writer) error {
	c, err := client.New(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	inf := informer.New(client.For(c, pods), informer.Options{})
	byNode := cache.NewIndex(inf.Reader(), func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
	return informer.Run(ctx, inf, informer.RunnerFunc(func(ctx context.Context) error {
		defer cancel() // one look is enough here; a controller goes on
		if err := inf.WaitSynced(ctx); err != nil {
			return err
		}
		for _, node := range slices.Sorted(byNode.Keys()) {
			var names []string
			for pod := range byNode.Get(node) {
				names = append(names, fmt.Sprintf("%s/%s (%s)", pod.Namespace, pod.Name, pod.Status.Phase))
			}
			slices.Sort(names)
			fmt.Fprintln(out, node, names)
		}
		return nil
	}))
}
