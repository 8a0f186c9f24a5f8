package conformance

import (
	"errors"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// A deploymentSpec has everything of a deployment except its status. A deploymentStatus has the part that the status
// subresource writes.
type (
	deploymentSpec struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            map[string]any `json:"spec"`
	}
	deploymentStatus struct {
		meta.ObjectMeta `json:"metadata"`
		Status          map[string]any `json:"status,omitempty"`
	}
)

// The resource decides which parts of a write a server takes. An update is refused if it would remove fields that the
// type does not name, and a change that the server leaves out is an error.
func testProjection(t *testing.T, s suite) {
	ns := s.namespace(t)
	made := newConfigMap(ns, "a", map[string]string{"l": "1"})
	made.BinaryData = map[string][]byte{"unseen": {1}}
	made = must[*ConfigMap](t)(s.configMaps.Create(t.Context(), made))
	key := meta.KeyOf(made)
	views := client.For(s.client, ConfigMapViews)
	loses := func(err error, members string) {
		t.Helper()
		usage := (*client.UsageError)(nil)
		if !errors.As(err, &usage) || !strings.Contains(usage.Error(), " has no field for "+members+", which") {
			t.Errorf("error is %v, want that it would lose %s", err, members)
		}
	}
	view := must[*ConfigMapNames](t)(views.Get(t.Context(), key))
	view.Data["k"] = "changed"
	_, err := views.Update(t.Context(), view)
	loses(err, "/binaryData, /metadata/labels")
	same := must[*ConfigMap](t)(s.configMaps.Get(t.Context(), key))
	equal(t, "version after an update that was refused", same.ResourceVersion, made.ResourceVersion)
	same.Labels, same.BinaryData = nil, nil
	bare := must[*ConfigMap](t)(s.configMaps.Update(t.Context(), same))
	view.ResourceVersion = bare.ResourceVersion
	equal(t, "data of an object that has no more than the view", must[*ConfigMapNames](t)(views.Update(t.Context(), view)).Data["k"], "changed")

	d := newDeployment(ns, "a")
	d.Annotations = map[string]string{"a": "1"}
	must[*Deployment](t)(s.deployments.Create(t.Context(), d))
	key = meta.KeyOf(d)
	whole := client.Type[*deploymentSpec]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	specs, statuses := client.For(s.client, whole), client.For(s.client, client.Type[*deploymentStatus](whole))
	must[*deploymentStatus](t)(statuses.Status().Modify(t.Context(), key, func(d *deploymentStatus) error {
		d.Status = map[string]any{"observedGeneration": 1, "replicas": 2}
		return nil
	}))
	spec := must[*deploymentSpec](t)(specs.Get(t.Context(), key))
	spec.Spec["replicas"] = 3
	must[*deploymentSpec](t)(specs.Update(t.Context(), spec))
	status := must[*deploymentStatus](t)(statuses.Get(t.Context(), key))
	status.Status["replicas"] = 4
	must[*deploymentStatus](t)(statuses.Status().Update(t.Context(), status))
	got := must[*Deployment](t)(s.deployments.Get(t.Context(), key))
	equal(t, "replicas after an update of all but the status", got.Spec.Replicas, 3)
	equal(t, "replicas of the status after an update of it", got.Status.Replicas, 4)
	_, err = statuses.Update(t.Context(), must[*deploymentStatus](t)(statuses.Get(t.Context(), key)))
	loses(err, "/spec")

	_, err = s.deployments.Modify(t.Context(), key, func(d *Deployment) error {
		d.Spec.Replicas, d.Status.Replicas = 5, 6
		return nil
	})
	leftOut(t, err, "status")
	_, err = s.deployments.Status().Modify(t.Context(), key, func(d *Deployment) error {
		d.Spec.Replicas, d.Status.Replicas = 7, 8
		return nil
	})
	leftOut(t, err, "spec")
	got = must[*Deployment](t)(s.deployments.Get(t.Context(), key))
	equal(t, "replicas", got.Spec.Replicas, 5)
	equal(t, "replicas of the status", got.Status.Replicas, 8)
}

// leftOut fails the test unless err says that the server has left out this part of a change.
func leftOut(t *testing.T, err error, part string) {
	t.Helper()
	usage := (*client.UsageError)(nil)
	if !errors.As(err, &usage) || !strings.HasPrefix(usage.Error(), "server ignored the change of "+part+", which") {
		t.Errorf("error is %v, want that the server ignored the change of %s", err, part)
	}
}
