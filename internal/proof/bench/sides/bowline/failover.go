package main

import (
	"context"
	"log/slog"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

var election = sample.Election{
	Settings: "leader.Run with the default durations, which are the same",
	Contend: func(ctx context.Context, server, lease, identity string, lead func(ctx context.Context)) error {
		c, err := client.New(client.Config{Server: server})
		if err != nil {
			return err
		}
		config := leader.Options{
			Namespace: "default", Name: lease, Identity: identity, Logger: logr.FromSlogHandler(slog.DiscardHandler),
		}
		return leader.Run(ctx, c, config, func(ctx context.Context) error {
			lead(ctx)
			return nil
		})
	},
}
