package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/core"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

const (
	namespacePrefix = "bowline-quickstart-"
	namespaceCount  = 4
	// controllerAgent distinguishes the controller's requests, which meet faults, from those of the storm itself.
	controllerAgent = "quickstart-controller"
)

// world is the cluster of the program: a server in the process, or a real cluster.
type world struct {
	config     client.Config
	server     *clienttest.Server // nil on a real cluster
	client     *client.Client     // for the storm and the check; no faults are injected into its requests
	namespaces []string           // its own: it touches nothing else
	conflicts  atomic.Int64       // 409 answers to the controller
}

func newWorld(o options) (*world, error) {
	w, run := new(world), strconv.FormatUint(rand.Uint64(), 36)
	for i := range namespaceCount {
		w.namespaces = append(w.namespaces, fmt.Sprintf("%s%s-%d", namespacePrefix, run, i))
	}
	if o.kubeconfig == "" && os.Getenv("KUBECONFIG") == "" {
		w.server = clienttest.New(clienttest.Options{})
		w.config = w.server.Config()
	} else {
		loaded, err := kubeconfig.Load(kubeconfig.Options{Path: o.kubeconfig, Context: o.context})
		if err != nil {
			return nil, err
		}
		w.config = loaded.Config
	}
	w.config.UserAgent = "quickstart"
	var err error
	w.client, err = client.New(w.config)
	return w, err
}

// controllerClient returns a client of its own for the controller, which counts conflicts.
func (w *world) controllerClient(o options) (*client.Client, error) {
	cfg := w.config
	cfg.UserAgent = controllerAgent
	if o.protobuf {
		cfg.Protobuf = protobuf.New(core.V1())
	}
	cfg.Hooks.Request = func(_ context.Context, r client.RequestInfo) {
		if r.Code == http.StatusConflict && r.Verb == "update" {
			w.conflicts.Add(1)
		}
	}
	return client.New(cfg)
}

// serve runs the server in the process until ctx ends, if there is one.
func (w *world) serve(ctx context.Context) error {
	if w.server == nil {
		<-ctx.Done()
		return nil
	}
	return w.server.Run(ctx)
}

func (w *world) makeNamespaces(ctx context.Context) error {
	namespaces := client.For(w.client, Namespaces)
	for _, name := range w.namespaces {
		if _, err := namespaces.Create(ctx, &Namespace{meta.Identity{Name: name}}); err != nil {
			return err
		}
	}
	return nil
}

// cleanUp removes what was made on a real cluster, and names what is left. It has its own context, because that of the
// program may have ended. After an interrupt it gives up soon, because a person waits for it.
func (w *world) cleanUp(ctx context.Context) error {
	if w.server != nil {
		return nil
	}
	patience := 30 * time.Second
	if ctx.Err() != nil {
		patience = 700 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	namespaces, errs := client.For(w.client, Namespaces), make([]error, len(w.namespaces))
	var all sync.WaitGroup
	for i, name := range w.namespaces {
		all.Go(func() {
			errs[i] = apierrors.Ignore(namespaces.Delete(ctx, meta.Key{Name: name}, client.DeleteOptions{}), apierrors.NotFound)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// faults makes trouble until ctx ends: it drops all watches every 100 ms, compacts the history, answers 10 % of the
// controller's updates with a conflict, and 2 % of its requests with 429.
func (w *world) faults(ctx context.Context) {
	if w.server == nil {
		return
	}
	w.server.Intercept(func(r *http.Request) http.HandlerFunc {
		switch {
		case r.UserAgent() != controllerAgent:
		case r.Method == http.MethodPut && rand.IntN(10) == 0:
			return clienttest.Conflict()
		case rand.IntN(50) == 0:
			return clienttest.TooManyRequests(time.Second)
		}
		return nil
	})
	defer w.server.Intercept(nil)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if n%5 == 0 {
				w.server.Compact()
			}
			w.server.DropWatches()
		}
	}
}

// background runs the server, the controller and the page, if there is one. stop ends them and returns the error of
// the first that failed.
func (w *world) background(ctx context.Context, m *Mirrors, shown *page) (_ context.Context, stop func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan error, 1)
	all, watched := []informer.Runner{informer.RunnerFunc(w.serve), m}, ctx
	if shown != nil {
		all, watched = append(all, shown), shown.Context(ctx)
	}
	go func() {
		err := informer.Run(watched, all...)
		cancel(err) // ends everything that waits for the controller
		done <- err
	}()
	return ctx, func() error {
		cancel(nil)
		return <-done
	}
}
