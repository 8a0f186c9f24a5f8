package controllers_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/controllers"
)

// web returns a Deployment or a ReplicaSet with the name web.
func web(more string) string {
	return `{"metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
		"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "good"}]}}` + more + `}}`
}

// byImage lets pods with the image "bad" never become ready.
func byImage(c controllers.Container) controllers.Life {
	if c.Image == "bad" {
		return controllers.Life{Ready: -1}
	}
	return controllers.Life{}
}

func workloads() []controllers.Controller {
	return []controllers.Controller{
		controllers.Deployments(), controllers.ReplicaSets(), controllers.Jobs(), controllers.EndpointSlices(), controllers.GarbageCollector(),
		controllers.NewKubelet(controllers.KubeletOptions{Life: byImage}),
	}
}

func image(name string) any {
	return []any{map[string]any{"name": "main", "image": name}}
}

func TestADeploymentIsRolledOut(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("deployments", web(""))
		w.want(w.get("deployments", "web"), map[string]string{
			"status.replicas": "3", "status.updatedReplicas": "3", "status.availableReplicas": "3", "status.observedGeneration": "1",
			"status.unavailableReplicas": "",
		})
		w.modify("deployments", "web", image("better"), "spec", "template", "spec", "containers")
		d := w.get("deployments", "web")
		w.want(d, map[string]string{"status.updatedReplicas": "3", "status.replicas": "3"})
		if got := d.GetAnnotations()["deployment.kubernetes.io/revision"]; got != "2" {
			t.Errorf("the revision is %q", got)
		}
		if got, want := conditions(d), "Available=True/MinimumReplicasAvailable Progressing=True/NewReplicaSetAvailable"; got != want {
			t.Errorf("the conditions are %s", got)
		}
		sets := w.list("replicasets")
		if len(sets) != 2 || at(sets[0], "spec.replicas") == at(sets[1], "spec.replicas") {
			t.Errorf("the sets are %v", sets)
		}
		for _, p := range w.list("pods") {
			if got := at(p, "spec.containers"); !strings.Contains(got, "better") {
				t.Errorf("a pod has %s", got)
			}
		}
	}, workloads()...)
}

func TestARolloutThatGetsStuckExceedsItsDeadlineInVirtualTime(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("deployments", web(""))
		w.modify("deployments", "web", image("bad"), "spec", "template", "spec", "containers")
		d := w.get("deployments", "web")
		// A surge of 25 % is one pod, and no pod may be missing.
		w.want(d, map[string]string{"status.updatedReplicas": "1", "status.replicas": "4", "status.availableReplicas": "3", "status.unavailableReplicas": "1"})
		time.Sleep(11 * time.Minute) // the deadline is ten
		if got := conditions(w.get("deployments", "web")); !strings.Contains(got, "Progressing=False/ProgressDeadlineExceeded") {
			t.Errorf("the conditions are %s", got)
		}
		w.modify("deployments", "web", image("good"), "spec", "template", "spec", "containers")
		d = w.get("deployments", "web")
		w.want(d, map[string]string{"status.updatedReplicas": "3", "status.replicas": "3"})
		if got := conditions(d); !strings.Contains(got, "Progressing=True/NewReplicaSetAvailable") {
			t.Errorf("the conditions are %s", got)
		}
	}, workloads()...)
}

func TestTheOldPodsOfRecreateEndBeforeNewOnesBegin(t *testing.T) {
	lingers := func(controllers.Container) controllers.Life { return controllers.Life{Stop: 10 * time.Second} }
	live(t, func(w *cluster) {
		w.create("deployments", web(`, "strategy": {"type": "Recreate"}`))
		w.modify("deployments", "web", image("better"), "spec", "template", "spec", "containers")
		time.Sleep(5 * time.Second)
		if n := len(w.list("replicasets")); n != 1 {
			t.Errorf("%d sets while old pods end", n)
		}
		time.Sleep(6 * time.Second)
		w.want(w.get("deployments", "web"), map[string]string{"status.updatedReplicas": "3", "status.availableReplicas": "3"})
	}, controllers.Deployments(), controllers.ReplicaSets(), controllers.NewKubelet(controllers.KubeletOptions{Life: lingers}))
}

func TestAPausedDeploymentIsNotRolledOut(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("deployments", web(`, "paused": true`))
		if sets, got := w.list("replicasets"), conditions(w.get("deployments", "web")); len(sets) != 0 || !strings.Contains(got, "Progressing=Unknown/DeploymentPaused") {
			t.Errorf("%d sets, and the conditions %s", len(sets), got)
		}
		w.modify("deployments", "web", false, "spec", "paused")
		w.want(w.get("deployments", "web"), map[string]string{"status.availableReplicas": "3"})
	}, workloads()...)
}

func TestAReplicaSetAdoptsAndReleasesPods(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("pods", `{"metadata": {"name": "mine", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "good"}]}}`)
		w.create("replicasets", web(""))
		if pods := w.list("pods"); len(pods) != 3 || len(pods[0].GetOwnerReferences()) != 1 {
			t.Fatalf("the pods are %v", pods)
		}
		w.modify("pods", "mine", "other", "metadata", "labels", "app")
		if pods := w.list("pods"); len(pods) != 4 || len(pods[0].GetOwnerReferences()) != 0 {
			t.Errorf("the pods are %v", pods)
		}
		w.want(w.get("replicasets", "web"), map[string]string{"status.replicas": "3", "status.fullyLabeledReplicas": "3", "status.readyReplicas": "3"})
	}, workloads()...)
}

func TestAReplicaSetIsAvailableAfterItsPodsHaveBeenReadyForSomeTime(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("replicasets", web(`, "minReadySeconds": 60`))
		w.want(w.get("replicasets", "web"), map[string]string{"status.readyReplicas": "3", "status.availableReplicas": ""})
		time.Sleep(time.Minute)
		w.want(w.get("replicasets", "web"), map[string]string{"status.availableReplicas": "3"})
	}, workloads()...)
}

func TestAReplicaSetThatCannotCreateSaysWhy(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("resourcequotas", `{"metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}}`)
		w.create("deployments", web(""))
		synctest.Wait()
		if got := conditions(w.get("deployments", "web")); !strings.Contains(got, "ReplicaFailure=True/FailedCreate") {
			t.Errorf("the conditions are %s", got)
		}
		if err := w.of("resourcequotas").Delete(w.t.Context(), key("few"), noOptions); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour) // for the retries
		d := w.get("deployments", "web")
		if got := conditions(d); strings.Contains(got, "ReplicaFailure") {
			t.Errorf("the conditions are %s", got)
		}
		w.want(d, map[string]string{"status.availableReplicas": "3"})
	}, workloads()...)
}

func TestWorkloadsAtRestSendNothing(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("deployments", web(""))
		w.create("services", `{"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}`)
		w.create("jobs", `{"metadata": {"name": "work"}, "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "good"}]}}}}`)
		time.Sleep(time.Minute)
		synctest.Wait()
		before := w.server.Requests()
		time.Sleep(time.Hour)
		synctest.Wait()
		for call, n := range w.server.Requests() {
			if call.Verb != "watch" && call.Resource != "" && n != before[call] { // but for the discovery of the garbage collector
				t.Errorf("%d further requests to %s %s while nothing happened", n-before[call], call.Verb, call.Resource)
			}
		}
	}, workloads()...)
}
