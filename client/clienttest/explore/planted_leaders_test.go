package explore

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// plantedLeaders are bugs that show when a second replica takes over.
func plantedLeaders() []planted {
	all := []planted{
		{
			name: "a write of a former leader undoes that of its successor", by: []kind{late},
			run: led(twoPhases), mendedRun: led(twoFencedPhases),
		},
		{
			name: "a goroutine writes after its lease has ended", by: []kind{late},
			run:       outlives(func(run, _ context.Context) context.Context { return run }),
			mendedRun: outlives(func(_, lead context.Context) context.Context { return lead }),
		},
		{
			name: "a goroutine writes after the program has returned", by: []kind{lateRequests},
			run: confirmsLater, mendedRun: led(rightOwner),
		},
		{
			name: "a follower takes for done what the leader only begins", by: []kind{crashBefore}, long: true,
			run: follows(false), mendedRun: follows(true),
		},
		{
			name: "a lease is taken before it has ended", by: []kind{late},
			run: elects(5 * time.Second), mendedRun: elects(16 * time.Second),
		},
		{
			name: "a leader writes after it has handed its lease to another replica",
			run:  handsOver(false), mendedRun: handsOver(true),
		},
	}
	for i := range all {
		all[i].replicas, all[i].history = 2, oneBox
	}
	return all
}

func oneBox(h *History) {
	a := &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
	a.Spec.Text = "one"
	Create(h, boxType(), a)
	h.Rest()
}

func electionOf() leader.Options { return leader.Options{Namespace: "default", Name: "boxes"} }

// led runs a controller in the replica that leads.
func led(do reconcile) func(context.Context, client.Config) error {
	return func(ctx context.Context, cfg client.Config) error {
		c, err := client.New(cfg)
		if err != nil {
			return err
		}
		defer c.Close()
		return leader.Run(ctx, c, electionOf(), func(ctx context.Context) error { return do.run(ctx, cfg) })
	}
}

// phase writes the phase of the work into the child, whose version must be the given one, if that is set.
func phase(ctx context.Context, p *program, box *Box, version, is string) error {
	type change struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion,omitempty"`
		} `json:"metadata"`
		Data map[string]string `json:"data"`
	}
	c := change{Data: map[string]string{"phase": is}}
	c.Metadata.ResourceVersion = version
	_, err := p.maps.Patch(ctx, box.Key(), patch.Merge(c))
	return err
}

// phases does work in two phases. versionOf returns what a write of the child depends on.
func phases(ctx context.Context, p *program, box *Box, versionOf func(*ConfigMap) string) error {
	if box == nil || box.Status.Text == "ready" {
		return nil
	}
	if _, err := p.maps.Create(ctx, ownChild(box)); apierrors.Ignore(err, apierrors.AlreadyExists) != nil {
		return err
	}
	child, err := p.maps.Get(ctx, box.Key())
	if err != nil {
		return err
	}
	if box.Status.Text == "" {
		if err := phase(ctx, p, box, versionOf(child), "preparing"); err != nil {
			return err
		}
		return p.say(ctx, box, func(b *Box) { b.Status.Text = "prepared" })
	}
	if err := phase(ctx, p, box, versionOf(child), "ready"); err != nil {
		return err
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Text = "ready" })
}

func twoPhases(ctx context.Context, p *program, _ meta.Key, box *Box) error {
	return phases(ctx, p, box, func(*ConfigMap) string { return "" })
}

func twoFencedPhases(ctx context.Context, p *program, _ meta.Key, box *Box) error {
	return phases(ctx, p, box, func(m *ConfigMap) string { return m.ResourceVersion })
}

// outlives runs a controller that confirms its work 20 seconds later, with a context that choose makes of that of the
// program and that of the term. The program contends again when it has lost the lease.
func outlives(choose func(run, lead context.Context) context.Context) func(context.Context, client.Config) error {
	return func(run context.Context, cfg client.Config) error {
		c, err := client.New(cfg)
		if err != nil {
			return err
		}
		defer c.Close()
		var later sync.WaitGroup
		defer later.Wait()
		confirm := client.For(c, boxType()).Status()
		do := func(lead context.Context, p *program, key meta.Key, box *Box) error {
			if box != nil && box.Status.Child == "" && p.memory[key] == 0 {
				p.memory[key]++
				ctx := choose(run, lead)
				later.Go(func() { confirmUntilDone(ctx, confirm, key) })
			}
			return rightOwner(lead, p, key, box)
		}
		for run.Err() == nil {
			_ = led(do)(run, cfg)
		}
		return nil
	}
}

// confirmUntilDone confirms the work after 20 seconds, and again until that succeeds, or the Box has gone.
func confirmUntilDone(ctx context.Context, status client.Sub[*Box], key meta.Key) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Second):
		}
		if _, err := status.Patch(ctx, key, confirmation()); apierrors.Ignore(err, apierrors.NotFound) == nil {
			return
		}
	}
}

func confirmation() patch.Patch {
	return patch.Merge(map[string]any{"status": map[string]string{"child": "confirmed"}})
}

// confirmsLater confirms the work 25 seconds later, whatever happens to the program.
func confirmsLater(ctx context.Context, cfg client.Config) error {
	return led(func(ctx context.Context, p *program, key meta.Key, box *Box) error {
		if box != nil && box.Status.Child == "" && p.memory[key] == 0 {
			p.memory[key]++
			go func() {
				<-time.After(25 * time.Second)
				c, err := client.New(cfg)
				if err != nil {
					return
				}
				defer c.Close()
				other, cancel := context.WithTimeout(logr.NewContext(context.Background(), logr.Discard()), time.Minute)
				defer cancel()
				confirm := client.For(c, boxType()).Status()
				_, _ = confirm.Patch(other, key, confirmation())
			}()
		}
		return rightOwner(ctx, p, key, box)
	})(ctx, cfg)
}

// follows runs a controller in each replica, of which only the leader writes. The followers try again, or do not.
func follows(tryAgain bool) func(context.Context, client.Config) error {
	return func(ctx context.Context, cfg client.Config) error {
		c, err := client.New(cfg)
		if err != nil {
			return err
		}
		defer c.Close()
		var leads atomic.Bool
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			cancel(leader.Run(ctx, c, electionOf(), func(ctx context.Context) error {
				leads.Store(true)
				defer leads.Store(false)
				<-ctx.Done()
				return nil
			}))
		}()
		defer func() { <-ended }()
		defer cancel(nil)
		return reconcile(func(ctx context.Context, p *program, key meta.Key, box *Box) error {
			switch {
			case leads.Load():
				return rightOwner(ctx, p, key, box)
			case tryAgain:
				return errors.New("this replica does not lead")
			}
			return nil
		}).run(ctx, cfg)
	}
}

// electionLease is the lease of a hand-made election.
type electionLease struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		HolderIdentity       string         `json:"holderIdentity"`
		LeaseDurationSeconds int64          `json:"leaseDurationSeconds"`
		RenewTime            meta.MicroTime `json:"renewTime"`
	} `json:"spec"`
}

// contend writes the lease, if it is ours or has not been renewed for a while.
func contend(ctx context.Context, leases client.Resource[*electionLease], identity string, wait time.Duration) error {
	key := meta.Key{Namespace: "default", Name: "boxes"}
	is, err := leases.Get(ctx, key)
	missing := errors.Is(err, apierrors.NotFound)
	switch {
	case missing:
		is = &electionLease{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	case err != nil:
		return err
	case is.Spec.HolderIdentity != identity && time.Since(is.Spec.RenewTime.Time) < wait:
		return errors.New("another replica leads")
	}
	is.Spec.HolderIdentity, is.Spec.LeaseDurationSeconds = identity, 15
	is.Spec.RenewTime = meta.MicroTime{Time: time.Now()}
	if missing {
		_, err = leases.Create(ctx, is)
	} else {
		_, err = leases.Update(ctx, is)
	}
	return err
}

// elects runs a controller that writes while it has a lease of 15 seconds. Others take it after a wait.
func elects(wait time.Duration) func(context.Context, client.Config) error {
	return func(ctx context.Context, cfg client.Config) error {
		c, err := client.New(cfg)
		if err != nil {
			return err
		}
		defer c.Close()
		leases := client.For(c, client.Type[*electionLease]{
			Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases",
		})
		var until atomic.Pointer[time.Time]
		until.Store(new(time.Time))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for ctx.Err() == nil {
				sent := time.Now().Add(10 * time.Second)
				short, cancel := context.WithTimeout(ctx, 5*time.Second)
				if contend(short, leases, cfg.UserAgent, wait) == nil {
					until.Store(&sent)
				}
				cancel()
				select {
				case <-ctx.Done():
				case <-time.After(2 * time.Second):
				}
			}
		}()
		defer func() { <-ended }()
		return reconcile(func(ctx context.Context, p *program, key meta.Key, box *Box) error {
			end := *until.Load()
			if !time.Now().Before(end) {
				return errors.New("this replica does not lead")
			}
			ctx, cancel := context.WithDeadline(ctx, end)
			defer cancel()
			return rightOwner(ctx, p, key, box)
		}).run(ctx, cfg)
	}
}

// handsOver runs a controller in the replica that the lease names. The first leader hands the lease to replica B when a
// Box has its child: before it says so in the status, or after that.
func handsOver(last bool) func(context.Context, client.Config) error {
	return func(ctx context.Context, cfg client.Config) error {
		c, err := client.New(cfg)
		if err != nil {
			return err
		}
		defer c.Close()
		leases := client.For(c, client.Type[*electionLease]{
			Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases",
		})
		return reconcile(func(ctx context.Context, p *program, key meta.Key, box *Box) error {
			if box == nil || box.Status.Child != "" {
				return nil
			}
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second) // the lease lasts for longer
			defer cancel()
			if err := contend(ctx, leases, cfg.UserAgent, 16*time.Second); err != nil {
				return err
			}
			if _, err := p.maps.Create(ctx, ownChild(box)); apierrors.Ignore(err, apierrors.AlreadyExists) != nil {
				return err
			}
			steps := []func() error{
				func() error { return contend(ctx, leases, "replica-B", 0) },
				func() error { return p.say(ctx, box, func(b *Box) { b.Status.Child = "made" }) },
			}
			if last {
				slices.Reverse(steps)
			}
			for _, step := range steps {
				if err := step(); err != nil {
					return err
				}
			}
			return nil
		}).run(ctx, cfg)
	}
}
