package externaldns

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Options configure the controller.
type Options struct {
	// Owner names this controller in the TXT records. It must be set, and differ between clusters that share a zone.
	Owner string
	// Policy is UpsertOnly if it is empty.
	Policy Policy
	// Domains limit the names of records; nil allows all.
	Domains []string
	// Interval is how often the provider is asked for its records without a change in the cluster; 0 means a minute.
	Interval time.Duration
}

// New returns the controller. It is ready while it runs, whatever the server serves.
func New(c *client.Client, provider Provider, o Options) (*informer.Group, error) {
	if o.Owner == "" {
		return nil, errors.New("externaldns.Options: Owner must be set")
	}
	if o.Policy != UpsertOnly && o.Policy != Sync {
		return nil, fmt.Errorf("externaldns.Options: Policy must be %q or %q, got %q", UpsertOnly, Sync, o.Policy)
	}
	if o.Interval == 0 {
		o.Interval = time.Minute
	}
	resource := client.For(c, DNSEndpoints)
	dnsEndpoints := newKind("crd", resource, fromDNSEndpoint)
	r := &reconciler{
		sources: append(newSources(c), dnsEndpoints), registry: &registry{provider, o.Owner}, known: dnsEndpoints, dnsEndpoints: resource,
	}
	r.plan = &plan{owner: o.Owner, policy: o.Policy, domains: o.Domains, complete: r.complete}
	group := &informer.Group{MustBeFresh: []informer.Runner{}}
	changed := make(chan string, 1)
	for _, s := range r.sources {
		s.follow(func() {
			select {
			case changed <- everything:
			default: // a change is noted already
			}
		})
		group.Runners = append(group.Runners, s)
	}
	group.Runners = append(group.Runners, controller.New("records", controller.Options{
		Timeout: time.Minute, MaxBackoff: o.Interval, Permissions: resource.Status().Access("get", "update"),
	}, r.reconcile, controller.Chan(changed), controller.Every(o.Interval, everything)))
	return group, nil
}

// everything is the only key: the plan compares all records.
const everything = "records"

type reconciler struct {
	sources      []source
	plan         *plan
	registry     *registry
	dnsEndpoints client.Resource[*DNSEndpoint]
	known        *kindOf[*DNSEndpoint]
}

// complete reports whether all objects of a source are known. It is true for a kind that no source has, so that the
// records of that kind may be deleted.
func (r *reconciler) complete(kind string) bool {
	i := slices.IndexFunc(r.sources, func(s source) bool { return s.kind() == kind })
	return i < 0 || r.sources[i].complete()
}

func (r *reconciler) wanted() iter.Seq[*Endpoint] {
	return func(yield func(*Endpoint) bool) {
		for _, s := range r.sources {
			for e := range s.wanted() {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// reconcile changes the records of the provider to those that the objects want.
func (r *reconciler) reconcile(ctx context.Context, _ string) (controller.Result, error) {
	seen := slices.Collect(r.known.reader().Sorted()) // read before the plan, so the plan is never older than seen
	current, err := r.registry.records(ctx)
	if err != nil {
		return controller.Result{}, fmt.Errorf("records of the provider: %w", err)
	}
	if c := r.plan.changes(r.wanted(), current); !c.empty() {
		if err := r.registry.apply(ctx, c); err != nil {
			return controller.Result{}, fmt.Errorf("apply changes to the provider: %w", err)
		}
	}
	return controller.Result{}, r.report(ctx, seen)
}

// report says in the status of the objects that the plan has their records. It sends nothing if the status says so
// already.
func (r *reconciler) report(ctx context.Context, seen []*DNSEndpoint) error {
	var errs []error
	for _, d := range seen {
		_, err := r.dnsEndpoints.Status().ModifyWith(ctx, d.Key(), func(live *DNSEndpoint) error {
			live.Status.ObservedGeneration = &d.Generation
			return nil
		}, client.ModifyOptions{Known: d})
		errs = append(errs, apierrors.Ignore(err, apierrors.NotFound))
	}
	return errors.Join(errs...)
}
