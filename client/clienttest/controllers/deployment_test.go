package controllers_test

import (
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/controllers"
)

const web = `{"metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
	"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}}}`

func TestADeploymentIsRolledOut(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("deployments", web)
		d := w.get("deployments", "web")
		t.Log(at(d, "status"))
		for _, p := range w.list("pods") {
			t.Log(p.GetName(), at(p, "status"))
		}
		for _, p := range w.list("replicasets") {
			t.Log(p.GetName(), at(p, "status"))
		}
		w.want(d, map[string]string{"status.availableReplicas": "3", "status.updatedReplicas": "3"})
	}, controllers.Deployments(), controllers.ReplicaSets(), controllers.NewKubelet(controllers.KubeletOptions{}))
}
