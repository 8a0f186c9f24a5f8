package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

var jobs = client.Type[object]{Group: "batch", Version: "v1", Kind: "Job", Resource: "jobs"}

const job = `{"metadata": {"name": "web"}, "spec": {"template": {"spec": {
	"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.invalid/main:1"}]
}}}}`

// What controllers write is written by the test, after the wait has begun.
func TestAWaitEndsWithItsCondition(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	key := meta.Key{Namespace: ns, Name: "web"}
	podsHere, deploymentsHere, jobsHere := client.For(c, pods), client.For(c, deployments), client.For(c, jobs)
	now := time.Now().UTC().Format(time.RFC3339)
	status := func(s map[string]any) patch.Patch { return patch.Merge(map[string]any{"status": s}) }
	condition := func(kind string) []any { return []any{map[string]any{"type": kind, "status": "True"}} }

	for _, test := range []struct {
		name  string
		r     client.Resource[object]
		cond  client.Condition
		cause func() error
	}{
		{"created", podsHere, client.UntilCreated(), func() error {
			obj := parse(t, pod)
			obj.SetNamespace(ns)
			_, err := podsHere.Create(t.Context(), obj)
			return err
		}},
		{"a pod that is ready", podsHere, client.UntilPodReady(), func() error {
			_, err := podsHere.Status().Patch(t.Context(), key, status(map[string]any{"phase": "Running", "conditions": condition("Ready")}))
			return err
		}},
		{"deleted", podsHere, client.UntilDeleted(""), func() error {
			return podsHere.Delete(t.Context(), key, client.DeleteOptions{GracePeriod: client.NoGracePeriod})
		}},
		{"an available deployment", deploymentsHere, client.UntilTrue("Available"), func() error {
			obj := parse(t, deployment)
			obj.SetNamespace(ns)
			made, err := deploymentsHere.Create(t.Context(), obj)
			if err != nil {
				return err
			}
			_, err = deploymentsHere.Status().Patch(t.Context(), key, status(map[string]any{
				"observedGeneration": made.GetGeneration(), "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
				"conditions": condition("Available"),
			}))
			return err
		}},
		{"a complete job", jobsHere, client.UntilComplete(), func() error {
			obj := parse(t, job)
			obj.SetNamespace(ns)
			if _, err := jobsHere.Create(t.Context(), obj); err != nil {
				return err
			}
			done := append(condition("SuccessCriteriaMet"), condition("Complete")...)
			_, err := jobsHere.Status().Patch(t.Context(), key, status(map[string]any{
				"startTime": now, "completionTime": now, "succeeded": 1, "conditions": done, "uncountedTerminatedPods": map[string]any{},
			}))
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var wait sync.WaitGroup
			defer wait.Wait()
			wait.Go(func() {
				if err := test.cause(); err != nil {
					t.Error(err)
					cancel()
				}
			})
			if _, err := client.WaitFor(ctx, test.r, key, test.cond); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAWaitSaysWhatItHasSeenLast(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, pods)
	made := create(t, r, ns, pod)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err := client.WaitFor(ctx, r, meta.KeyOf(made), client.UntilPodReady())
	failed := (*client.WaitError)(nil)
	if !errors.As(err, &failed) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error is %v, want a *client.WaitError about the deadline", err)
	}
	for _, want := range []string{"phase Pending", fmt.Sprintf("(resource version %q)", made.GetResourceVersion())} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s in it", err, want)
		}
	}
}
