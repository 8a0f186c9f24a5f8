package explore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/controllers"
	"github.com/bowline-go/bowline/client/meta"
)

// Plan describes what to explore. Server, Program and History are used once for each run.
type Plan struct {
	// Server has the options of the API server. A run must not leave anything behind in functions and handlers that the
	// options name, because the next run calls them too. Listener, TLS, HTTP2 and Token must be zero.
	Server clienttest.Options

	// Replicas is how many replicas of the program run; 0 means one.
	Replicas int

	// Program is one replica. It serves until ctx ends, and returns when none of its goroutines runs any more. If it
	// returns earlier, the explorer starts it again after ten seconds, as a kubelet would. Package variables outlive a
	// crash.
	Program func(ctx context.Context, cfg client.Config) error

	// History is what people and other programs do. It must do the same in each run.
	History func(h *History)

	// Controllers, if set, returns controllers of the cluster that run beside the program, such as controllers.All. It
	// is called for each run. The garbage collector runs even if Controllers is nil, provided that an object in the run
	// without disturbances has an owner, or a finalizer for the deletion of its dependents.
	Controllers func() []controllers.Controller

	// Always, if set, is called after each write request of the program. AtRest, if set, is called when the program has
	// come to rest. An error of either is a finding. Neither is called after a person's edit that stays.
	Always, AtRest func(s State) error

	// Ignore are resources whose objects may differ between two runs, besides leases and events.
	Ignore []meta.GVR

	// IgnoreFields are fields that may differ between two runs, each as the plural name of a resource and a path, such
	// as "pages.status.checkedAt" or "pages.metadata.annotations.example.com/hash". In a list the path applies to each
	// element.
	IgnoreFields []string

	// Budget is how long the search takes, in real time; 0 means 30 seconds, or 3 with -short.
	Budget time.Duration

	collects  bool       // the garbage collector has work
	served    []meta.GVR // the resources that the controllers of the cluster discover; nil means all
	documents *documents // the answers to the discovery requests of the controllers of the cluster
}

// check returns an error if the plan is invalid.
func (p *Plan) check() error {
	switch {
	case p.Program == nil:
		return fmt.Errorf("explore: Plan.Program must be set: it runs one replica")
	case p.History == nil:
		return fmt.Errorf("explore: Plan.History must be set: it says what happens in the cluster")
	case p.Replicas < 0:
		return fmt.Errorf("explore: Plan.Replicas must be 0, for one replica, or more, got %d", p.Replicas)
	case p.Server.Listener != nil, p.Server.TLS, p.Server.HTTP2, p.Server.Token != "":
		return fmt.Errorf("explore: Plan.Server must be in memory: Listener, TLS, HTTP2 and Token must be zero")
	case p.Budget < 0:
		return fmt.Errorf("explore: Plan.Budget must be 0, for the default, or more, got %v", p.Budget)
	}
	for i, field := range p.IgnoreFields {
		if resource, path, _ := strings.Cut(field, "."); resource == "" || path == "" {
			return fmt.Errorf("explore: Plan.IgnoreFields[%d] must be a resource and a path, such as pages.status.checkedAt, got %q", i, field)
		}
	}
	return nil
}
