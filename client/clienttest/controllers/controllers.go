package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/informer"
)

// Controller is one controller of a cluster. The functions of this package return them, such as [GarbageCollector].
// Except for a [Kubelet], which runs once at a time, a Controller has no state: several calls of [Start] and [Run] can
// use one value.
type Controller interface {
	// name is the name of the controller in errors. No two controllers have the same name.
	name() string
	// run works until ctx ends, and returns nil then. It returns after all that it started has returned. An error
	// earlier ends the Run of all controllers.
	run(ctx context.Context, env *environment) error
}

// userAgent is the default user agent of the client of the controllers. A server derives from it the field manager of
// writes, so managedFields name the same manager as in a cluster.
const userAgent = "kube-controller-manager"

// Start runs controllers until the end of the test, as [Run] does. The test fails if Run returns an error. A test of a
// server that [clienttest.Start] returned calls Start after it, so that the controllers end before the server.
//
// Start does not wait: a controller handles what existed before its caches were complete as well as what happens later.
func Start(tb clienttest.TB, config client.Config, all ...Controller) {
	tb.Helper()
	if err := check(all); err != nil {
		tb.Fatalf("%v", err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, config, all...) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Errorf("run the controllers: %v", err)
		}
	})
}

// Run runs controllers until ctx ends, and then returns nil. They start together, in no order: each begins with what
// exists, so none needs the others to have started. When Run returns, all of their goroutines have ended.
//
// The controllers share one client, and share the caches that several of them need. If config has no UserAgent, it is
// kube-controller-manager, which is then also the field manager of their writes. The server's warnings are not logged,
// unless config.Hooks has a Warning: they are about kinds that the test did not choose.
//
// Errors of single requests, such as those of a server that is away, are retried, and logged by the controller's
// logger: that of ctx (logr.NewContext), or else slog.Default(). Run returns an error if no controller is given, if one
// is nil or given twice, if config is invalid, or if a controller cannot go on.
func Run(ctx context.Context, config client.Config, all ...Controller) error {
	if err := check(all); err != nil {
		return err
	}
	config.UserAgent = cmp.Or(config.UserAgent, userAgent)
	if config.Hooks.Warning == nil {
		config.Hooks.Warning = func(context.Context, client.Warning) {} // about kinds that a test did not choose
	}
	c, err := client.New(config)
	if err != nil {
		return fmt.Errorf("controllers.Run: %w", err)
	}
	defer c.Close()
	env := &environment{client: c, catalog: discovery.New(c, discovery.Options{})}
	group := informer.Group{Services: []informer.Runner{&env.caches}} // which end after the controllers
	for _, one := range all {
		group.Runners = append(group.Runners, informer.RunnerFunc(func(ctx context.Context) error {
			if err := one.run(ctx, env); err != nil {
				return fmt.Errorf("%s: %w", one.name(), err)
			}
			return nil
		}))
	}
	return group.Run(ctx)
}

// check returns an error if the controllers cannot run together.
func check(all []Controller) error {
	if len(all) == 0 {
		return errors.New("controllers: no controller is given; All() has all of them")
	}
	at := map[string]int{}
	for i, one := range all {
		if one == nil {
			return fmt.Errorf("controllers: controller %d must not be nil", i)
		}
		if before, twice := at[one.name()]; twice {
			return fmt.Errorf("controllers: controllers %d and %d are both the %s; one controller runs once", before, i, one.name())
		}
		at[one.name()] = i
	}
	return nil
}
