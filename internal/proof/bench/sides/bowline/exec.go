package main

// Commands in containers.

import (
	"context"
	"io"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

var executor = sample.Executor{
	Settings: "remote.Command",
	Start: func(server string) (func(context.Context, []string, io.Reader, io.Writer) error, error) {
		c, err := client.New(client.Config{Server: server})
		if err != nil {
			return nil, err
		}
		r := client.For(c, pods)
		return func(ctx context.Context, argv []string, stdin io.Reader, stdout io.Writer) error {
			cmd := remote.Command(r, meta.Key{Namespace: "default", Name: "web"}, argv...)
			cmd.Stdin, cmd.Stdout = stdin, stdout
			return cmd.Run(ctx)
		}, nil
	},
}
