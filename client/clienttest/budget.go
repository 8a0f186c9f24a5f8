package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/ownership"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// A PodDisruptionBudget says in its status how many of its pods may be evicted. A controller, which does not run here,
// counts them, so a test writes the status.

// budget has the fields of a PodDisruptionBudget that an eviction reads.
type budget struct {
	Metadata meta.ObjectMeta `json:"metadata"`
	Spec     struct {
		Selector  *meta.LabelSelector `json:"selector"`
		Unhealthy string              `json:"unhealthyPodEvictionPolicy"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64                `json:"observedGeneration"`
		Allowed            int64                `json:"disruptionsAllowed"`
		Current            int64                `json:"currentHealthy"`
		Desired            int64                `json:"desiredHealthy"`
		Disrupted          map[string]meta.Time `json:"disruptedPods"`
		Conditions         []condition          `json:"conditions"`
	} `json:"status"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// maxDisrupted is the maximum number of pods in status.disruptedPods.
const maxDisrupted = 2000

// spend takes the eviction of a pod from the budget that the pod belongs to, if there is one. spared is the budget if
// the pod needs none of it, because the pod is not ready.
func (c *call) spend(tx store.Tx, pod *object.Revision, dryRun bool) (spared *budget, _ error) {
	if ends(pod.Draft()) {
		return nil, nil
	}
	budgets := c.registry.named(meta.GVR{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"})
	var of []*object.Revision
	for v := range tx.Objects(budgets.objects, pod.Key.Namespace) {
		selector, err := contentOf[budget](v.Draft()).Spec.Selector.Selector()
		if err == nil && selector.Matches(pod.Labels) {
			of = append(of, v)
		}
	}
	switch len(of) {
	case 0:
		return nil, nil
	case 1:
		return c.spendFrom(tx, budgets, of[0], pod, dryRun)
	}
	return nil, status.Failure(http.StatusInternalServerError, "", "This pod has more than one PodDisruptionBudget, which the eviction "+
		"subresource does not support.")
}

// ends reports whether a pod is being deleted, has ended or does not run yet: no budget protects such a pod.
func ends(d *object.Draft) bool {
	phase := jsontree.Lookup(d.Content, "status.phase")
	return d.Meta.DeletionTimestamp != nil || slices.Contains([]string{"Succeeded", "Failed", "Pending"}, phase)
}

// spendFrom takes the eviction of a pod from a budget. A pod that is not ready needs none of it if the budget's policy
// says so, or if enough other pods are healthy.
func (c *call) spendFrom(tx store.Tx, budgets *resource, cur, pod *object.Revision, dryRun bool) (spared *budget, _ error) {
	d := cur.Draft()
	b := contentOf[budget](d)
	b.Metadata = d.Meta
	healthy := b.Status.Current >= b.Status.Desired && b.Status.Desired > 0
	if !isReady(pod.Draft()) && (b.Spec.Unhealthy == "AlwaysAllow" || healthy) {
		return &b, nil
	}
	if err := b.refusal(); err != nil || dryRun {
		return nil, err
	}
	is := d.Member("status")
	is["disruptionsAllowed"] = json.Number(fmt.Sprint(b.Status.Allowed - 1))
	disrupted, _ := jsontree.Clone(is["disruptedPods"]).(jsontree.Object)
	if disrupted == nil {
		disrupted = jsontree.Object{}
	}
	disrupted[pod.Key.Name] = timeText(timestamp())
	is["disruptedPods"], d.Content["status"] = disrupted, is
	if b.Status.Allowed == 1 {
		setStatusCondition(d, jsontree.Object{
			"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
			"observedGeneration": json.Number(fmt.Sprint(b.Status.ObservedGeneration)), "lastTransitionTime": timeText(timestamp()),
		})
	}
	if all, _ := ownership.Decode(d.Meta.ManagedFields); len(all) > 0 {
		by := ownership.Write{
			APIVersion: d.APIVersion, Subresource: "status", Shape: budgets.fields(), Part: writable(budgets, "status"), Now: timestamp(),
		}
		d.Meta.ManagedFields = by.Updated(cur.Draft().Value(), d.Value(), all, "kube-apiserver").Encode()
	}
	tx.Put(budgets.objects, cur, d)
	return nil, nil
}

// refusal returns why a budget allows no eviction now; nil if it allows one.
func (b *budget) refusal() error {
	name := b.Metadata.Name
	refuse := func(e *status.Error, format string, args ...any) error {
		if e.Status.Details == nil {
			e.Status.Details = &meta.StatusDetails{}
		}
		e.Status.Details.Causes = []meta.StatusCause{{Reason: "DisruptionBudget", Message: fmt.Sprintf(format, args...)}}
		return e
	}
	forbidden := func(why string) *status.Error {
		return status.Failure(http.StatusForbidden, "Forbidden", "poddisruptionbudget.policy %q is forbidden: %s", name, why).
			With(meta.StatusDetails{Name: name, Group: "policy", Kind: "poddisruptionbudget"})
	}
	tooMany := status.Failure(http.StatusTooManyRequests, "TooManyRequests", violates)
	switch {
	case b.Status.ObservedGeneration < b.Metadata.Generation:
		return b.unknown()
	case b.Status.Allowed < 0:
		return refuse(forbidden("pdb disruptions allowed is negative"),
			"The disruption budget %s does not allow evicting pods currently: pdb disruptions allowed is negative", name)
	case len(b.Status.Disrupted) > maxDisrupted:
		return refuse(forbidden("DisruptedPods map too big - too many evictions not confirmed by PDB controller"),
			"The disruption budget %s does not allow evicting pods currently: too many pending evictions not confirmed by PDB controller", name)
	case b.Status.Allowed > 0:
		return nil
	}
	at := slices.IndexFunc(b.Status.Conditions, func(c condition) bool {
		return c.Type == "DisruptionAllowed" && c.Status == "False" && c.Message != ""
	})
	switch {
	case at >= 0 && b.Status.Conditions[at].Reason == "SyncFailed":
		return refuse(tooMany, "The disruption budget %s does not allow evicting pods currently because it failed sync: %s", name, b.Status.Conditions[at].Message)
	case b.Status.Current <= b.Status.Desired:
		return refuse(tooMany, "The disruption budget %s needs %d healthy pods and has %d currently", name, b.Status.Desired, b.Status.Current)
	case at >= 0:
		return refuse(tooMany, "The disruption budget %s does not allow evicting pods currently (%s): %s", name,
			b.Status.Conditions[at].Reason, b.Status.Conditions[at].Message)
	}
	return refuse(tooMany, "The disruption budget %s does not allow evicting pods currently", name)
}

const violates = "Cannot evict pod as it would violate the pod's disruption budget."

// unknown is the error for an eviction while the server does not know what the budget allows.
func (b *budget) unknown() error {
	return status.Failure(http.StatusTooManyRequests, "TooManyRequests", violates).With(meta.StatusDetails{
		RetryAfterSeconds: 10, Causes: []meta.StatusCause{{
			Reason: "DisruptionBudget", Message: fmt.Sprintf("The disruption budget %s is still being processed by the server.", b.Metadata.Name),
		}},
	})
}

// isReady reports whether a pod has the condition Ready.
func isReady(d *object.Draft) bool {
	list, _ := d.Member("status")["conditions"].([]any)
	return slices.ContainsFunc(list, func(v any) bool {
		c, _ := v.(jsontree.Object)
		return c["type"] == "Ready" && c["status"] == "True"
	})
}

// setStatusCondition sets a condition in the status of an object.
func setStatusCondition(d *object.Draft, next jsontree.Object) {
	is := d.Member("status")
	list, _ := is["conditions"].([]any)
	list = slices.Clone(list)
	i := slices.IndexFunc(list, func(v any) bool { c, _ := v.(jsontree.Object); return c["type"] == next["type"] })
	if i < 0 {
		list = append(list, next)
	} else {
		if was, _ := list[i].(jsontree.Object); was["status"] == next["status"] {
			next["lastTransitionTime"] = was["lastTransitionTime"]
		}
		list[i] = next
	}
	is["conditions"], d.Content["status"] = list, is
}
