package e2e

import (
	"errors"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// A real server's 404 of a version leads to the next one, and its 404 of an object does not.
func TestARealServerIsAskedInTheNextVersion(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	scalers := client.For(c, client.Type[*autoscalingv2.HorizontalPodAutoscaler]{
		Group: "autoscaling", Version: "v9", Fallback: client.Versions("v8", "v2"), Kind: "HorizontalPodAutoscaler", Resource: "horizontalpodautoscalers",
	})
	want := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: ns}}
	want.Spec.MaxReplicas, want.Spec.ScaleTargetRef = 2, autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "a", APIVersion: "apps/v1"}
	made, did, err := scalers.Ensure(t.Context(), want, client.EnsureOptions{})
	if err != nil || !did.New || made.APIVersion != "autoscaling/v2" || scalers.Served().Version != "v2" {
		t.Fatal(made, did, err)
	}
	if _, err := scalers.Get(t.Context(), meta.Key{Namespace: ns, Name: "none"}); !errors.Is(err, apierrors.NotFound) || scalers.Served().Version != "v2" {
		t.Error(err)
	}
	for event, err := range scalers.In(ns).Watch(t.Context(), client.WatchOptions{}) {
		if err != nil || event.Object.Name != "a" {
			t.Error(event, err)
		}
		break
	}
}

func TestARealServerKnowsTheFieldsOfItsKinds(t *testing.T) {
	t.Parallel()
	catalog := discovery.New(open(t, adminConfig()), discovery.Options{})
	pod, deployment := meta.GVK{Version: "v1", Kind: "Pod"}, meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}
	for path, want := range map[string]bool{
		"spec.nodeName": true, "spec.containers.resizePolicy.resourceName": true, "spec.containers.resources.limits.cpu": true, "metadata.labels.any": true,
		"spec.nope": false, "spec.containers.nope": false, "metadata.nope": false, "spec.nodeSelector.any": true,
	} {
		if got, err := catalog.HasField(t.Context(), pod, strings.Split(path, ".")...); err != nil || got != want {
			t.Errorf("%s of a pod: %v, %v", path, got, err)
		}
		under := append([]string{"spec", "template"}, strings.Split(path, ".")...)
		if got, err := catalog.HasField(t.Context(), deployment, under...); err != nil || got != want {
			t.Errorf("%s of a deployment's pods: %v, %v", path, got, err)
		}
	}
}

// A server takes each reason that SetCondition takes, and refuses the others. The kind is one that checks conditions.
func TestTheReasonsOfConditionsAreThoseOfARealServer(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	budgets := client.For(c, client.Type[object]{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets"})
	made := must(budgets.Create(t.Context(), parse(t, `{"metadata":{"name":"a","namespace":"`+ns+`"},"spec":{"minAvailable":1}}`)))(t)
	for _, reason := range []string{"A", "Foo:Bar", "A,B", "a_", "not ready", "1st", "_a", "a-b", "A:", "A,", "é"} {
		_, err := budgets.Status().Modify(t.Context(), meta.KeyOf(made), func(live object) error {
			return meta.SetNested(live, []any{map[string]any{
				"type": "DisruptionAllowed", "status": "True", "reason": reason, "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z",
			}}, "status", "conditions")
		})
		if refused := errors.Is(err, apierrors.Invalid); refused != (meta.ValidReason(reason) != nil) || err != nil && !refused {
			t.Errorf("%q: the server says %v, and ValidReason %v", reason, err, meta.ValidReason(reason))
		}
	}
}
