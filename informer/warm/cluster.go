package warm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/retry"
)

// identify finds out which cluster the collection is of. It waits for the server, and calls report with each error.
func (f *file) identify(ctx context.Context, report func(error)) error {
	backoff := retry.New(retry.Policy{Base: 800 * time.Millisecond, Max: 30 * time.Second, Reset: time.Minute})
	for {
		err := f.identifyOnce(ctx)
		if err == nil || ctx.Err() != nil || refuses(err) {
			return err
		}
		report(err)
		floor, _ := apierrors.RetryAfter(err)
		if err := retry.Sleep(ctx, backoff.Next(floor)); err != nil {
			return err
		}
	}
}

// refuses reports whether an error lasts until a person does something.
func refuses(err error) bool {
	switch apierrors.ReasonOf(err) {
	case apierrors.Forbidden, apierrors.NotFound, apierrors.MethodNotAllowed, apierrors.BadRequest, apierrors.Invalid:
		return true
	default:
		return false
	}
}

// identifyOnce is identify with one attempt.
func (f *file) identifyOnce(ctx context.Context) error {
	cluster, trust := f.files.o.Cluster, ""
	if c := f.c.Client; c != nil {
		is, err := c.Trust(ctx)
		if err != nil {
			return fmt.Errorf("identify the cluster: %w", err)
		}
		trust = authorities(is)
		if cluster == "" {
			namespaces := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster})
			ns, err := client.Metadata(namespaces).Get(ctx, meta.Key{Name: "kube-system"})
			switch {
			case err != nil && refuses(err):
				return fmt.Errorf("identify the cluster: %w; allow that, or set warm.Options.Cluster", err)
			case err != nil:
				return fmt.Errorf("identify the cluster: %w", err)
			case ns.UID == "":
				return fmt.Errorf("identify the cluster: namespace kube-system has no uid: set warm.Options.Cluster")
			}
			cluster = ns.UID
		}
	}
	f.found(identity{cluster, trust})
	return nil
}

// authorities removes the name of the server from the text of client.Client.Trust if the authorities are named: their
// digest says more than a name that changes with the URL.
func authorities(trust string) string {
	if at := strings.LastIndex(trust, " by authorities "); at >= 0 {
		return trust[at+1:]
	}
	return trust
}
