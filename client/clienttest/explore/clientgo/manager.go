package clientgo

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// ManagerOptions returns o, changed for a manager that is explored and runs with ctx. The manager listens on no port:
// the addresses of metrics, health probes and profiles are "0", which switches them off. A controller may have the name
// of an earlier one, because each restart makes the controllers again in the same process. NewCache is wrapped: if ctx
// ends before the cache has synced, a manager's Start would spin for ever, so the wrapper then reports that the cache
// has synced. All other options stay as they are; a zero o is usable.
//
// ManagerOptions returns an error if o has a WebhookServer, which cannot listen in a bubble; if GracefulShutdownTimeout
// is negative, because a manager that hangs would hang the test; and if LeaderElection is set without
// LeaderElectionNamespace, because no service account file tells the manager its namespace.
func ManagerOptions(ctx context.Context, o manager.Options) (manager.Options, error) {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("manager.Options: "+format, args...))
	}
	if o.WebhookServer != nil {
		bad("WebhookServer must be nil: it listens on the machine's network")
	}
	if o.GracefulShutdownTimeout != nil && *o.GracefulShutdownTimeout < 0 {
		bad("GracefulShutdownTimeout must not be negative, got %v", *o.GracefulShutdownTimeout)
	}
	if o.LeaderElection && o.LeaderElectionNamespace == "" && o.LeaderElectionResourceLockInterface == nil {
		bad("LeaderElection needs a LeaderElectionNamespace, because the program runs in no pod")
	}
	const off = "0"
	o.Metrics.BindAddress, o.HealthProbeBindAddress, o.PprofBindAddress = off, off, off
	o.Controller.SkipNameValidation = new(true)
	o.NewCache = endsWith(ctx, o.NewCache)
	return o, errors.Join(errs...)
}

// endsWith returns a function that makes caches whose WaitForCacheSync returns when ctx ends.
func endsWith(ctx context.Context, newCache cache.NewCacheFunc) cache.NewCacheFunc {
	if newCache == nil {
		newCache = cache.New
	}
	return func(cfg *rest.Config, o cache.Options) (cache.Cache, error) {
		made, err := newCache(cfg, o)
		if err != nil {
			return nil, err
		}
		return endingCache{made, ctx}, nil
	}
}

// endingCache is a cache whose WaitForCacheSync returns when its program ends.
type endingCache struct {
	cache.Cache
	program context.Context
}

// WaitForCacheSync returns true as soon as the cache has synced or the program has ended.
func (c endingCache) WaitForCacheSync(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.program, cancel)()
	return c.Cache.WaitForCacheSync(ctx) || c.program.Err() != nil
}
