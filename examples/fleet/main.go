// Fleet shows what many clients do to an API server without priority and fairness, and what a limit of each client
// changes. 20 programs start at once and send 100 requests each, 20 of them at a time, while one other client writes
// every 100 ms, as one that renews a lease. The server is in the process. Like a kube-apiserver with
// --max-requests-inflight, it handles some requests at once, and refuses all others.
//
//	go run ./examples/fleet
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

const (
	programs, requests, workers = 20, 100, 20

	inFlight = 40                    // how many requests the server takes at once
	takes    = 20 * time.Millisecond // each
)

// ConfigMap is what the clients read and write.
type ConfigMap struct {
	meta.Identity `json:"metadata"`
	Data          map[string]string `json:"data,omitempty"`
}

// ConfigMaps is the resource on the server.
var ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// outcome is what the clients have seen.
type outcome struct {
	took    time.Duration // until all programs had sent their requests
	refused int64         // answers 429
	failed  int64         // requests of the programs that were given up
	longest time.Duration // that the other client waited for a write
}

// bound makes a server refuse requests while it handles inFlight others, and counts those that it refuses.
func bound(server *clienttest.Server, refused *atomic.Int64) {
	var now atomic.Int64
	server.Intercept(func(*http.Request) http.HandlerFunc {
		defer now.Add(-1)
		if now.Add(1) > inFlight {
			refused.Add(1)
			return clienttest.TooManyRequests(time.Second)
		}
		time.Sleep(takes)
		return nil
	})
}

// program sends its requests, and returns how many failed.
func program(ctx context.Context, cfg client.Config) (failed int64, err error) {
	c, err := client.New(cfg)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	var bad atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range requests / workers {
				if _, err := client.For(c, ConfigMaps).Get(ctx, meta.Key{Namespace: "default", Name: "settings"}); err != nil {
					bad.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return bad.Load(), nil
}

// other writes until ctx ends, and returns how long it waited for the slowest write.
func other(ctx context.Context, settings client.Resource[*ConfigMap]) (longest time.Duration) {
	for n := 0; ctx.Err() == nil; n++ {
		began := time.Now()
		_, _ = settings.Modify(ctx, meta.Key{Namespace: "default", Name: "settings"}, func(m *ConfigMap) error {
			m.Data = map[string]string{"n": fmt.Sprint(n)}
			return nil
		}) // a write that is given up has waited too
		longest = max(longest, time.Since(began))
		time.Sleep(100 * time.Millisecond)
	}
	return longest
}

// play lets the programs send their requests to a server. limit makes the limiter of each; nil means none.
func play(ctx context.Context, server *clienttest.Server, limit func() *rate.Limiter) (o outcome, err error) {
	c, err := client.New(server.Config())
	if err != nil {
		return o, err
	}
	defer c.Close()
	settings := client.For(c, ConfigMaps)
	if _, err := settings.Create(ctx, &ConfigMap{Identity: meta.Identity{Namespace: "default", Name: "settings"}}); err != nil {
		return o, err
	}
	var refused, failed atomic.Int64
	bound(server, &refused)
	writing, stop := context.WithCancel(ctx)
	defer stop()
	longest := make(chan time.Duration, 1)
	go func() { longest <- other(writing, settings) }()
	began := time.Now()
	var wg sync.WaitGroup
	errs := make([]error, programs)
	for i := range programs {
		cfg := server.Config()
		if limit != nil {
			cfg.Limiter = limit()
		}
		wg.Go(func() {
			n, err := program(ctx, cfg)
			failed.Add(n)
			errs[i] = err
		})
	}
	wg.Wait()
	o.took = time.Since(began)
	stop()
	o.longest, o.refused, o.failed = <-longest, refused.Load(), failed.Load()
	return o, errors.Join(errs...)
}

// perProgram returns a limiter of one program: its part of a quarter of what the server can do.
func perProgram() *rate.Limiter {
	return rate.NewLimiter(inFlight*rate.Every(takes)/4/programs, 1)
}

// compare plays without limits and with them.
func compare(ctx context.Context, out io.Writer) error {
	for _, side := range []struct {
		name  string
		limit func() *rate.Limiter
	}{{"without limits", nil}, {"with limits", perProgram}} {
		server := clienttest.New(clienttest.Options{})
		ctx, stop := context.WithCancel(ctx)
		err := informer.Run(ctx, server, informer.RunnerFunc(func(ctx context.Context) error {
			defer stop() // the server's work is done
			o, err := play(ctx, server, side.limit)
			if err == nil {
				fmt.Fprintf(out, "%-15s %4.1f s, %5d refused, %4d failed, the other client waits %4.2f s\n",
					side.name, o.took.Seconds(), o.refused, o.failed, o.longest.Seconds())
			}
			return err
		}))
		stop()
		if err != nil {
			return err
		}
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := compare(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}
