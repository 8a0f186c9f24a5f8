package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

var budgets = client.Type[object]{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets"}

// runPod makes a pod that runs and is ready, as the kubelet would say.
func runPod(t *testing.T, c *client.Client, ns, ip string) object {
	t.Helper()
	r := client.For(c, pods)
	made := create(t, r, ns, pod)
	status := map[string]any{
		"phase":      "Running",
		"conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
	}
	if ip != "" {
		status["podIP"], status["podIPs"] = ip, []any{map[string]any{"ip": ip}}
	}
	return must(r.Status().Patch(t.Context(), meta.KeyOf(made), patch.Merge(map[string]any{"status": status})))(t)
}

// The status of a budget is written by the test, as the controller manager would. behaviour 25
func TestAnEvictionRespectsTheBudget(t *testing.T) {
	t.Parallel()
	var attempts int
	cfg := adminConfig()
	cfg.Hooks.Request = func(_ context.Context, r client.RequestInfo) {
		if r.Subresource == "eviction" {
			attempts++
		}
	}
	_, ns := admin(t)
	c := open(t, cfg)
	running := client.For(c, pods)
	key := meta.KeyOf(runPod(t, c, ns, ""))
	budget := create(t, client.For(c, budgets), ns, `{"metadata": {"name": "web"}, "spec": {
		"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}
	}}`)
	allow := func(n int) {
		t.Helper()
		must(client.For(c, budgets).Status().Patch(t.Context(), meta.KeyOf(budget), patch.Merge(map[string]any{"status": map[string]any{
			"observedGeneration": budget.GetGeneration(), "disruptionsAllowed": n,
			"currentHealthy": 1 + n, "desiredHealthy": 1, "expectedPods": 1 + n,
		}})))(t)
	}
	allow(0)
	start := time.Now()
	err := client.Evict(t.Context(), running, key, client.DeleteOptions{})
	wantReason(t, err, apierrors.TooManyRequests)
	if cause, found := apierrors.Cause(err, apierrors.CauseDisruptionBudget); !found {
		t.Errorf("error is %v, want one whose cause is the budget, got %+v", err, cause)
	}
	if attempts != 1 || time.Since(start) > 5*time.Second {
		t.Errorf("%d attempts in %v, want that what the budget refuses is not tried again", attempts, time.Since(start))
	}
	must(running.Get(t.Context(), key))(t)

	allow(1)
	wantReason(t, client.Evict(t.Context(), running, key, client.DeleteOptions{UID: "11111111-1111-1111-1111-111111111111"}), apierrors.Conflict)
	wantReason(t, client.Evict(t.Context(), running, key, client.DeleteOptions{}), apierrors.TooManyRequests) // that has used it up
	allow(1)
	if err := client.Evict(t.Context(), running, key, client.DeleteOptions{GracePeriod: client.NoGracePeriod}); err != nil {
		t.Fatal(err)
	}
	must(client.WaitFor(t.Context(), running, key, client.UntilDeleted("")))(t)
	disrupted := nested[int64](t, must(client.For(c, budgets).Get(t.Context(), meta.KeyOf(budget)))(t), "status", "disruptionsAllowed")
	equal(t, "disruptions that are allowed afterwards", disrupted, 0)
	wantReason(t, client.Evict(t.Context(), running, key, client.DeleteOptions{}), apierrors.NotFound)
}
