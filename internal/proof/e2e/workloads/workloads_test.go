package workloads

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/controllers"
	"github.com/bowline-go/bowline/internal/controlplane"
)

// scenario is a story of one namespace.
type scenario struct {
	name  string
	steps []step
}

// usualRest is how long the controllers take to come to rest when no step says more.
const usualRest = 4 * time.Second

// patience is how long a real cluster may take beyond that.
const patience = 30 * time.Second

// steady is how long a real cluster must keep the state that is expected.
const steady = 600 * time.Millisecond

func TestControllersDoTheSame(t *testing.T) {
	plane, err := controlplane.Start(t.Context(), controlplane.Options{ControllerManager: true, Controllers: []string{
		"deployment-controller", "replicaset-controller", "job-controller", "endpointslice-controller",
		"serviceaccount-controller", "ttl-after-finished-controller", "garbage-collector-controller", "resourcequota-controller",
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	config := client.Config{Server: plane.Server, TLS: client.TLS{CAData: client.Secret(plane.CA)}, BearerToken: client.Secret(plane.Token)}
	kubelet := controllers.NewKubelet(controllers.KubeletOptions{Life: life})
	controllers.Start(t, config, kubelet)
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for i, one := range scenarios() {
		t.Run(one.name, func(t *testing.T) {
			namespace := fmt.Sprint("scenario-", i)
			var ours [][]string
			synctest.Test(t, func(t *testing.T) { ours = one.playOurs(t, namespace) })
			if t.Failed() {
				return
			}
			t.Parallel()
			one.playReal(t, &side{c: c, kubelet: kubelet, namespace: namespace}, ours)
		})
	}
}

// playOurs plays the scenario in virtual time, and returns the state after each step.
func (o *scenario) playOurs(t *testing.T, namespace string) (states [][]string) {
	server := clienttest.Start(t, clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	kubelet := controllers.NewKubelet(controllers.KubeletOptions{Life: life})
	controllers.Start(t, server.Config(), controllers.Deployments(), controllers.ReplicaSets(), controllers.Jobs(), controllers.EndpointSlices(),
		controllers.ServiceAccounts(), controllers.GarbageCollector(), kubelet)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	s := &side{c: c, kubelet: kubelet, namespace: namespace}
	if err := s.prepare(ctx); err != nil {
		t.Fatal(err)
	}
	for _, step := range o.steps {
		if err := step.do(ctx, s); err != nil {
			t.Fatalf("ours: %s: %v", step.name, err)
		}
		time.Sleep(max(step.rest, usualRest))
		synctest.Wait()
		state, err := s.snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, state)
	}
	return states
}

// playReal plays the scenario at a real cluster, and waits after each step for the state that ours had.
func (o *scenario) playReal(t *testing.T, s *side, ours [][]string) {
	if err := s.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, step := range o.steps {
		if err := step.do(t.Context(), s); err != nil {
			t.Fatalf("real: %s: %v", step.name, err)
		}
		if state, same := s.await(t, ours[i], max(step.rest, usualRest)+patience); !same {
			onlyOurs, onlyReal := diff(ours[i], state)
			t.Fatalf("after %q ours has\n\t%s\nand the real cluster has\n\t%s", step.name, strings.Join(onlyOurs, "\n\t"), strings.Join(onlyReal, "\n\t"))
		}
	}
}

// await waits until the cluster has a state and keeps it for a moment. It returns the last state.
func (s *side) await(t *testing.T, want []string, limit time.Duration) (state []string, same bool) {
	end := time.Now().Add(limit)
	var since time.Time
	tick := time.NewTicker(200 * time.Millisecond) // nothing tells when a cluster has come to rest
	defer tick.Stop()
	for {
		state, err := s.snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		switch same = slices.Equal(state, want); {
		case !same && now.After(end):
			return state, false
		case !same:
			since = time.Time{}
		case since.IsZero():
			since = now
		case now.Sub(since) > steady:
			return state, true
		}
		<-tick.C
	}
}
