package main

// Commands in containers.

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

var executor = sample.Executor{
	Settings: "remotecommand.NewWebSocketExecutor",
	Start: func(server string) (func(context.Context, []string, io.Reader, io.Writer) error, error) {
		config := &rest.Config{Host: server, QPS: -1}
		clientset, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, argv []string, stdin io.Reader, stdout io.Writer) error {
			request := clientset.CoreV1().RESTClient().Get().Resource("pods").Namespace("default").Name("web").SubResource("exec").
				VersionedParams(&corev1.PodExecOptions{Command: argv, Stdin: stdin != nil, Stdout: true, Stderr: true}, scheme.ParameterCodec)
			e, err := remotecommand.NewWebSocketExecutor(config, "GET", request.URL().String())
			if err != nil {
				return err
			}
			return e.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: stdin, Stdout: stdout, Stderr: io.Discard})
		}, nil
	},
}
